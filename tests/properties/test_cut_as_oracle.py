"""Passages that go, by alignment or word by word, and units that do, against brute force."""

from __future__ import annotations

import re
from contextlib import ExitStack
from fractions import Fraction
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.passages.aligner import window_length
from tests.calls import grouped
from tests.cutting import collections, cut, cut_similar, dense_case, make_text, without
from tests.each import each_of
from tests.examples import examples
from tests.oracles import alignment, repeats, search
from tests.oracles import cut as oracle
from tests.repeats import spread
from tests.spilling import spilling

thresholds = st.sampled_from(["0.5", "0.7", "0.8", "1"])
least = st.sampled_from([4, 6, 9])
keeps = st.sampled_from(["first", "longest", "shortest", "max:rank"])
# All, one text at a time, and a few.
MEMORIES = [None, 1, 6_000, 10_000]


def plan_of(min_tokens, threshold, num_perm=16):
    """How brute force finds what two token lists share."""
    least = Fraction(threshold)
    hits = least_hits(num_perm, least, Fraction(99, 100)) if num_perm else 0
    return alignment.Plan(min_tokens, window_length(min_tokens), least, num_perm, hits)


def rows_by_oracle(documents, others, plan, min_documents, most_back=20):
    """What goes of documents; others are numbered behind them."""
    n_others = None if others is None else len(others)
    texts = [tuple(map(spread, text)) for text in [*(others or []), *documents]]
    removals = oracle.Cutter(texts, plan, n_others, most_back).cut(min_documents or 0)
    shift = n_others or 0
    rows = [each.row() for each in removals]
    return sorted(
        (row[0] - shift, *row[1:3], (row[3] - shift) % len(texts), *row[4:]) for row in rows
    )


def least_hits(num_perm, similarity, recall):
    """How many of so many min-hashes a window at the threshold has with a probability."""
    numbers = range(num_perm, 0, -1)
    return next(n for n in numbers if search.probability_of_hits(num_perm, n, similarity) >= recall)


def ranked(texts):
    """A table of texts with a column by which the last of them comes first."""
    return pa.table({"text": pa.array(texts, "string"), "rank": range(len(texts))})


def order_of(texts, keep):
    signs = {"first": lambda _: 0, "longest": lambda i: -len(texts[i]), "max:rank": lambda i: -i}
    return sorted(range(len(texts)), key=signs.get(keep, lambda i: len(texts[i])))


@given(
    collections() | collections(n_words=4),
    least,
    thresholds,
    st.sampled_from([None, None, 2, 3]),
    st.none() | collections(max_documents=2),
    st.sampled_from([1, 2, 20]),
    st.sampled_from([0, 16]),
    st.sampled_from(MEMORIES),
    st.sampled_from([1, 20, 40, 1000]),
)
@examples(60)
def test_similar_passages__as_oracle(
    documents, min_tokens, threshold, min_documents, others, most_back, num_perm, memory, block
):
    if others is not None:
        # Those of one collection go for those of the other.
        others = [*others, *documents[:1]]
    with patch("neardup.passages.cutting._MOST_PUT_BACK", most_back):
        rows = cut_similar(
            documents, min_tokens, threshold, others, min_documents, num_perm, memory, block
        )
    plan = plan_of(min_tokens, threshold, num_perm)
    assert rows == rows_by_oracle(documents, others, plan, min_documents, most_back)


@pytest.mark.slow
@each_of("seed", [2, 6, 7, 13, 29, 37, 194])
@each_of("memory", MEMORIES)
def test_similar_passages__of_few_words(seed, memory):
    """Texts of which much is like much else."""
    documents, others, min_tokens, threshold, min_documents = dense_case(seed)
    rows = cut_similar(
        documents, min_tokens, threshold, others, min_documents, memory=memory, block=30
    )
    plan = plan_of(min_tokens, threshold)
    assert rows == rows_by_oracle(documents, others, plan, min_documents)


@given(collections(n_words=6), st.integers(1, 9), st.sampled_from([None, 2, 3]), keeps)
@examples(40)
def test_equal_passages__as_oracle(documents, min_tokens, min_documents, keep):
    texts = [make_text(document) for document in documents]
    options = {"min_tokens": min_tokens, "min_documents": min_documents, "keep": keep}
    found = cut(ranked(texts), **grouped(exact=True, **options)).kept["text"]
    order = order_of(texts, keep)
    gone = repeats.removed_tokens(documents, order, min_tokens, min_documents or 1)
    assert [text.split() for text in found.to_pylist()] == [
        [f"w{token}" for i, token in enumerate(document) if i not in own]
        for document, own in zip(documents, gone, strict=True)
    ]


@given(collections(n_words=6), collections(n_words=6), st.integers(1, 9))
@examples(20)
def test_equal_passages__against_as_oracle(documents, others, min_tokens):
    texts, kept = ([make_text(each) for each in documents] for documents in (documents, others))
    found = cut(texts, against=kept, exact=True, min_tokens=min_tokens).kept["text"]
    every = range(len(others) + len(documents))
    gone = repeats.removed_tokens([*others, *documents], every, min_tokens, n_against=len(others))
    assert [text.split() for text in found.to_pylist()] == [
        [f"w{token}" for i, token in enumerate(document) if i not in own]
        for document, own in zip(documents, gone[len(others) :], strict=True)
    ]


sentences = st.sampled_from(
    ["it is the east and Juliet is the sun", "it is the East and, Juliet is the son", "arise now",
     "what light through yonder window breaks", "but soft what light through yonder window breaks",
     "\u201cwhat light\u201d through yonder WINDOW breaks", "é ü 語 🙂 ß œ", "..."]
)  # fmt: skip
breaks = st.sampled_from(["\n", "\n\n", "\r\n", "\r", "\n \n", "\u2028"])
unit_texts = st.lists(st.tuples(sentences, breaks).map("".join), max_size=6).map("".join)


def words(text):
    return tuple(re.findall(r"[^\W\u3400-\u9fff]+|[\u3400-\u9fff]", text.casefold()))


def rows_of(found):
    """What goes and what stays for it, with the numbers of documents."""
    names = "id", "start", "end", "kept_id", "kept_start", "kept_end"
    return [
        tuple(int(str(row[name]).removeprefix("against/")) for name in names)
        for row in found.removed.to_pylist()
    ]


@given(
    st.lists(unit_texts, min_size=1, max_size=5),
    st.none() | st.lists(unit_texts, max_size=3),
    st.sampled_from(["lines", "paragraphs"]),
    st.integers(1, 9),
    keeps,
    st.sampled_from([None, 2, 3]),
    st.sampled_from([None, 500, 3000, 20_000]),
    st.integers(1, 3),
)
@examples(100)
def test_equal_units__as_oracle_in_any_memory(
    texts, others, unit, min_tokens, keep, min_documents, memory, workers
):
    check_equal_units(texts, others, unit, min_tokens, keep, min_documents, memory, workers)


@given(
    st.lists(unit_texts, min_size=1, max_size=5),
    st.sampled_from(["lines", "paragraphs"]),
    st.integers(1, 6),
    st.sampled_from([None, 2, 3]),
    st.sampled_from([None, 500]),
)
@example(["arise now\n"] * 3, "lines", 1, None, None)
@example(["arise now\nso\narise now", "so"], "lines", 1, 2, None)
@examples(60)
def test_equal_units__none_kept(texts, unit, min_tokens, min_documents, memory):
    """All copies go, each for another one that goes, too; a second cut finds nothing."""
    options = {"unit": unit, "min_tokens": min_tokens, "keep": "none"}
    with ExitStack() as stack:
        if memory is not None:
            stack.enter_context(patch("neardup.jobs.cut.units._UNITS_OF_PART", 3))
            stack.enter_context(spilling(memory))
        found = cut(texts, **grouped(min_documents=min_documents, **options))
        rows, kept = rows_of(found), found.kept["text"].to_pylist()
    copies = {}
    for text, start, stop, end in oracle.list_units(texts, unit, min_tokens, words):
        copies.setdefault(words(texts[text][start:stop]), []).append((text, start, stop, end))
    gone = {
        (text, start, end): [copy[:3] for copy in group if copy[:2] != (text, start)]
        for group in copies.values()
        if len(group) > 1 and len({copy[0] for copy in group}) >= (min_documents or 1)
        for text, start, _, end in group
    }
    assert [row[:3] for row in rows] == sorted(gone)
    assert all(row[3:] in gone[row[:3]] for row in rows)
    removed = [set() for _ in texts]
    for text, start, end, *_ in rows:
        removed[text].update(range(start, end))
    assert kept == list(map(without, texts, removed))
    if min_documents is None:
        assert cut(kept, **grouped(**options)).removed.num_rows == 0
    assert found.report().headline.startswith(f"{len(rows)} span")


# Of few, so that three in a row are often there twice; with what ends lines and sentences.
short_sentences = st.tuples(
    st.sampled_from(["a b", "c", "A", "-"]),
    st.sampled_from([". ", ". ", ".\n", ".\n", "! \r\n", "?) ", "\u3002", "", "\r", ".\t\n\n"]),
).map("".join)
sentence_texts = st.lists(short_sentences, max_size=9).map("".join)


@pytest.mark.slow
@given(
    st.lists(sentence_texts, min_size=1, max_size=4),
    st.none() | st.lists(sentence_texts, max_size=2),
    st.integers(1, 5),
    keeps,
    st.sampled_from([None, None, 2]),
    st.sampled_from([None, 500]),
)
@example(["a b.\r\nc. A.\r\n\r\nc", "c. a b.\r\nc. A.\r\nc"], None, 1, "first", None, None)
@example(["a b.\nc.\nA.\n\nc", "c\na b.\nc.\nA.\n\nc"], None, 1, "first", None, None)
@example(["a b. c. A. c", "c. A. A.\nA. A.\nA. A. A"], None, 3, "first", None, 500)
@example(["a b\nc\rA\r\n", "a b\nc\rA\rA"], None, 1, "longest", 2, None)
@example(["a b.\n-\nc. A. ", "a b. c.\n-\nA. c", "c. A."], ["A. a b. c"], 1, "first", None, None)
@examples(200)
def test_equal_sentences__as_oracle(texts, others, min_tokens, keep, min_documents, memory):
    check_equal_units(texts, others, "sentences", min_tokens, keep, min_documents, memory, 2)


def check_equal_units(texts, others, unit, min_tokens, keep, min_documents, memory, workers):
    """Compare what goes of equal units, and what is left, with brute force."""
    keep = keep if others is None else "first"
    options = {"unit": unit, "min_tokens": min_tokens, "min_documents": min_documents, "keep": keep}
    with ExitStack() as stack:
        if memory is not None:
            # Next to no units are of the documents of a partition.
            stack.enter_context(patch("neardup.jobs.cut.units._UNITS_OF_PART", 3))
            stack.enter_context(spilling(memory))
        found = cut(ranked(texts), **grouped(workers=workers, against=others, **options))
        rows, kept = rows_of(found), found.kept["text"].to_pylist()
    # Numbers in their own collections, those of others first.
    numbers = [*range(len(others or [])), *order_of(texts, keep)]
    every = [*(others or []), *(texts[i] for i in order_of(texts, keep))]
    listed = oracle.list_units(every, unit, min_tokens, words)
    contents = [words(every[text][start:stop]) for text, start, stop, _ in listed]
    n_against = None if others is None else sum(text < len(others) for text, *_ in listed)
    expected = [
        (numbers[text], start, end, numbers[other], *places)
        for text, start, end, other, *places in oracle.unit_rows(
            listed, oracle.equal_keepers(contents, n_against), min_documents or 1
        )
    ]
    assert rows == sorted(expected)
    gone = [set() for _ in texts]
    for text, start, end, *_ in rows:
        gone[text].update(range(start, end))
    assert kept == list(map(without, texts, gone))
