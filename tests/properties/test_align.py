"""Alignment: passages that are planted are found, with their ends; its parts do what they say."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidInputError
from neardup.options.kinds import exact_fraction
from neardup.passages.aligner import (
    certain_length,
    make_alignment_plan,
    one_per_stretch,
    window_length,
)
from neardup.passages.search_plan import make_search_plan
from neardup.passages.windows import make_passage_scheme
from tests.calls import grouped
from tests.each import each_of
from tests.examples import examples
from tests.oracles import alignment as oracle
from tests.oracles.shingles import shingle_tuples

MIN_TOKENS = 20


def words_of(rng, n, kind):
    """Make words that no other text has."""
    return [f"{kind}{rng.randrange(10**9)}" for _ in range(n)]


def jaccard(first, second, ngram=1):
    """Similarity of two passages as multisets, whatever the tf of the index."""
    first, second = (Counter(shingle_tuples(words, ngram)) for words in (first, second))
    return (first & second).total() / (first | second).total()


def align_words(query, document, **options):
    """Align two lists of words; places are numbers of words."""

    def places(words):
        ends = np.cumsum([len(word) + 1 for word in words])
        return {
            int(end) - len(w) - 1: i for i, (end, w) in enumerate(zip(ends, words, strict=True))
        }

    table = neardup.align([" ".join(query)], [" ".join(document)], **grouped(**options)).passages
    of_query, of_document = places(query), places(document)

    def stop(of_text, end, n):
        return of_text.get(end + 1, n)

    return [
        (
            of_query[row["query_start"]],
            stop(of_query, row["query_end"], len(query)),
            of_document[row["doc_start"]],
            stop(of_document, row["doc_end"], len(document)),
            row["similarity"],
        )
        for row in table.to_pylist()
    ]


def planted(rng, n_passages, *, edited):
    """Make two texts with the same passages in another order; gives their places too.

    In an edited passage, words are exchanged, left out and put in, but not near its ends.
    """
    passages = [words_of(rng, rng.randrange(60, 120), "s") for _ in range(n_passages)]
    copies = []
    for passage in passages:
        copy = list(passage)
        if edited:
            for place in range(len(copy) - 12, 12, -15):
                change = rng.randrange(3)
                copy[place : place + (change != 1)] = words_of(rng, change != 2, "e")
            middle = len(copy) // 2
            copy[middle:middle] = words_of(rng, rng.randrange(1, 20), "i")
        copies.append(copy)
    order = rng.sample(range(n_passages), n_passages)
    query, document = words_of(rng, 30, "q"), words_of(rng, 40, "d")
    places = {}
    for number in range(n_passages):
        places[number] = [len(query), len(query) + len(passages[number])]
        query += passages[number] + words_of(rng, 200, "q")
    for number in order:
        places[number] += [len(document), len(document) + len(copies[number])]
        document += copies[number] + words_of(rng, 200, "d")
    return query, document, [tuple(places[number]) for number in range(n_passages)]


@examples(15)
@given(seed=st.integers(0, 2**32), n_passages=st.integers(1, 5), edited=st.booleans())
def test_align__planted_passages_with_their_ends(seed, n_passages, edited):
    rng = random.Random(seed)
    query, document, places = planted(rng, n_passages, edited=edited)
    found = align_words(query, document, min_tokens=MIN_TOKENS, threshold="0.5")
    assert [row[:4] for row in found] == places
    for a, b, c, d, similarity in found:
        assert similarity == pytest.approx(jaccard(query[a:b], document[c:d]))
        assert (similarity == 1) == (not edited)


@examples(15)
@given(
    seed=st.integers(0, 2**32),
    threshold=st.sampled_from(["0.2", "0.4", "0.7", "0.9", "1"]),
    ngram=st.integers(1, 3),
)
def test_align__similarity_is_true_and_reached(seed, threshold, ngram):
    rng = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(60)]
    document = [vocabulary[min(int(rng.expovariate(0.06)), 59)] for _ in range(300)]
    query = list(document)
    for place in rng.sample(range(len(query)), 60):
        query[place] = rng.choice(vocabulary)
    query = query[150:] + query[:150]
    found = align_words(query, document, min_tokens=9, threshold=threshold, ngram=ngram)
    for a, b, c, d, similarity in found:
        assert max(b - a, d - c) >= 9
        assert similarity == pytest.approx(jaccard(query[a:b], document[c:d], ngram))
        assert similarity >= float(threshold)


@examples(15)
@given(seed=st.integers(0, 2**32), before=st.integers(0, 40), after=st.integers(0, 40))
def test_align__certain_length_is_found_whole(seed, before, after):
    rng = random.Random(seed)
    scheme = make_passage_scheme(min_tokens=window_length(MIN_TOKENS))
    one = exact_fraction("threshold", "1")
    plan = make_alignment_plan(make_search_plan(scheme, one, one), MIN_TOKENS)
    assert certain_length(plan) <= MIN_TOKENS
    shared = words_of(rng, certain_length(plan), "s")
    query = words_of(rng, before, "q") + shared + words_of(rng, after, "q")
    document = words_of(rng, 25, "d") + shared + words_of(rng, 25, "d")
    found = align_words(query, document, min_tokens=certain_length(plan), threshold="1")
    assert found == [(before, before + len(shared), 25, 25 + len(shared), 1.0)]


@pytest.mark.slow
def test_align__chain_that_falls_into_a_thousand_passages():
    # All hits are near enough for one chain, no two of them similar enough for one passage.
    rng = random.Random(1)
    n_passages, n_shared, n_between = 1100, MIN_TOKENS, 22
    query, document = [], []
    for _ in range(n_passages):
        shared = words_of(rng, n_shared, "s")
        query += shared + words_of(rng, n_between, "q")
        document += shared + words_of(rng, n_between, "d")
    found = align_words(query, document, min_tokens=MIN_TOKENS, threshold="0.8")
    starts = range(0, len(query), n_shared + n_between)
    assert [row[:4] for row in found] == [(i, i + n_shared, i, i + n_shared) for i in starts]


def test_align__gap():
    """Parts of a passage that are further apart than the gap are told one by one."""
    rng = random.Random(3)
    first, second, between = (
        words_of(rng, n, kind) for n, kind in ((60, "e"), (60, "e"), (40, "q"))
    )
    query = [*words_of(rng, 20, "q"), *first, *between, *second]
    document = [*words_of(rng, 20, "d"), *first, *second]
    apart = [(20, 80, 20, 80), (120, 180, 80, 140)]
    for preset, expected in ((None, [(20, 180, 20, 140)]), ("quotations", apart)):
        found = align_words(query, document, min_tokens=20, threshold="0.5", preset=preset)
        assert [row[:4] for row in found] == expected, preset


@st.composite
def shared_collections(draw):
    """Draw documents of new words and of passages that several documents have, or one twice."""
    seed = draw(st.integers(0, 2**32))
    rng = random.Random(seed)
    shared = [words_of(rng, draw(st.integers(20, 40)), "p") for _ in range(2)]
    documents = []
    for _ in range(draw(st.integers(1, 4))):
        text = []
        for part in draw(st.lists(st.sampled_from("01n"), max_size=4)):
            text += words_of(rng, rng.randrange(1, 15), "n")
            text += [] if part == "n" else shared[int(part)]
        documents.append(" ".join(text))
    return documents


def rows_of(result):
    names = ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end", "similarity")
    return [tuple(row[name] for name in names) for row in result.passages.to_pylist()]


@pytest.mark.parametrize("max_documents", [None, 2])
@given(documents=shared_collections())
@examples(30)
def test_align__one_collection_as_with_itself(max_documents, documents):
    options = {"min_tokens": MIN_TOKENS, "max_documents": max_documents}
    found = rows_of(neardup.align(documents, **grouped(**options)))
    both = rows_of(neardup.align(documents, documents, **grouped(**options)))
    assert found == [row for row in both if int(row[0]) < int(row[3])]


@given(documents=shared_collections())
@examples(30)
def test_align__within(documents):
    found = rows_of(neardup.align(documents, within=True, min_tokens=MIN_TOKENS))
    apart = rows_of(neardup.align(documents, min_tokens=MIN_TOKENS))
    assert [row for row in found if row[0] != row[3]] == apart
    for query, start, stop, document, doc_start, doc_stop, similarity in found:
        passages = documents[int(query)][start:stop], documents[int(document)][doc_start:doc_stop]
        assert similarity == jaccard(*(passage.split() for passage in passages)) >= 0.5
        assert query < document or stop <= doc_start


def test_align__what_a_document_has_three_times():
    rng = random.Random(5)
    passage = words_of(rng, 40, "p")
    texts = [passage] * 3
    document = " ".join(word for text in texts for word in [*text, *words_of(rng, 20, "n")])
    found = rows_of(neardup.align([document], within=True, threshold="0.9", min_tokens=MIN_TOKENS))
    length = len(" ".join(passage))
    starts = [m for m in range(len(document)) if document.startswith(passage[0], m)]
    assert [(row[1], row[4]) for row in found] == [
        (starts[0], starts[1]),
        (starts[0], starts[2]),
        (starts[1], starts[2]),
    ]
    assert all(row[2] - row[1] == row[5] - row[4] == length for row in found)


def test_align__one_collection_does_not_loop():
    # Periodic text is like itself at any distance; its passages still do not overlap.
    document = " ".join(["over", "and", "over", "again"] * 60)
    found = rows_of(neardup.align([document], within=True, min_tokens=MIN_TOKENS))
    assert found
    assert all(row[2] <= row[4] for row in found)


@given(
    texts=st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=40).map(" ".join), max_size=4),
    options=st.fixed_dictionaries(
        {},
        optional={
            "ngram": st.just(2),
            "idf": st.just("smooth"),
            "within": st.just(True),
            "tokenizer": st.just("characters"),
        },
    ),
)
def test_align__in_memory_as_in_a_folder(texts, options):
    rows = [{"id": 7 * number, "text": text} for number, text in enumerate(texts)]

    def find(others):
        found = neardup.align(rows, others, **grouped(min_tokens=5, with_text=True, **options))
        del found.summary["seconds"]
        return found.table, found.summary

    for others in (rows[::-1], None):
        if others is not None and "within" in options:
            continue
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("neardup.engine.opening._SHORT", -1)
            expected = find(others)
        assert find(others) == expected


@each_of("short", [-1, 1 << 18])
def test_align__refuses_repeated_ids(monkeypatch, short):
    monkeypatch.setattr("neardup.engine.opening._SHORT", short)
    rows = [{"id": id_, "text": "a b c d e f"} for id_ in (3, 5, 3)]
    with pytest.raises(InvalidInputError, match=r"\b3\b.*data, row 1"):
        neardup.align(["a b c d e"], rows, min_tokens=5)


passage_rows = st.builds(
    lambda document, start, size, shared, others: (
        *(document, start, start + size, 0, 1, shared, shared + others),
    ),
    *(st.integers(0, 1), st.integers(0, 12), st.integers(1, 8)),
    *(st.integers(1, 20), st.integers(0, 20)),
)


@given(rows=st.lists(passage_rows, min_size=1, max_size=8), threshold=st.sampled_from([1, 2]))
# Exactly half; and within one that is itself left out.
@example([(0, 0, 4, 0, 1, 9, 9), (0, 2, 6, 0, 1, 8, 8)], 2)
@example([(0, 0, 4, 0, 1, 9, 9), (0, 2, 6, 0, 1, 8, 8), (0, 4, 8, 0, 1, 7, 7)], 2)
def test_one_per_stretch__oracle(rows, threshold):
    found = np.array(rows, np.int64)
    are_left = one_per_stretch(found, Fraction(threshold, 4))
    expected = oracle.one_per_stretch(rows, Fraction(threshold, 4))
    assert sorted(map(tuple, found[are_left].tolist())) == sorted(expected)


def test_align__one_place_per_stretch_for_rewording():
    """Of two copies in a document the more similar one; both without the preset."""
    rng = random.Random(3)
    words, between = words_of(rng, 80, "w"), words_of(rng, 200, "x")
    changed = [word if i % 8 else f"y{i}" for i, word in enumerate(words)]
    document = [*changed, *between, *words]
    options = {"threshold": "0.4", "min_tokens": 50}
    assert align_words(words, document, preset="rewording") == [(0, 80, 280, 360, 1.0)]
    assert len(align_words(words, document, **options)) == 2
    # Two places of a query with one source are two stretches.
    assert len(align_words(document, words, preset="rewording")) == 2
