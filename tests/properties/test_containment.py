"""Passages that hold a share of a query's: true shares, smallest places, none missed."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.passages.aligner import window_length
from tests.calls import grouped
from tests.cutting import collections, make_text, no_waiting
from tests.each import each_of
from tests.examples import examples

MOST_TIMES = "neardup.options.passage_options.MOST_TIMES"


def shared_and_own(text, start, stop, other, first, last):
    """Count what a part of a text shares with a part of another one, and the words of both."""
    parts = Counter(text[start:stop].split()), Counter(other[first:last].split())
    return (parts[0] & parts[1]).total(), parts[0].total(), parts[1].total()


@given(
    collections() | collections(n_words=5, longest=60),
    collections(),
    st.sampled_from(["0.3", "0.6", "1"]),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([None, "0.9"]),
)
@examples(60)
def test_align__shares_as_reported(queries, documents, threshold, times, recall):
    queries, documents = ([make_text(each) for each in some] for some in (queries, documents))
    with no_waiting(), patch(MOST_TIMES, times):
        found = neardup.align(
            queries,
            documents,
            measure="containment",
            threshold=threshold,
            recall=recall,
            min_tokens=4,
            text=neardup.TextOptions(idf="unary"),
        )
    rows = found.passages.to_pylist()
    for row in rows:
        query, document = queries[int(row["query_id"])], documents[int(row["doc_id"])]
        places = row["query_start"], row["query_end"], document, row["doc_start"], row["doc_end"]
        shared, own, other = shared_and_own(query, *places)
        assert row["similarity"] == shared / own >= float(threshold)
        assert own >= 4
        assert other <= times * own
    for one in rows:
        for other in rows:
            if one is other or (one["query_id"], one["doc_id"]) != (
                other["query_id"],
                other["doc_id"],
            ):
                continue
            common = min(one["query_end"], other["query_end"]) - max(
                one["query_start"], other["query_start"]
            )
            assert common < one["query_end"] - one["query_start"]
            # What is near each other in the query is one passage where that may be.
            query, document = queries[int(one["query_id"])], documents[int(one["doc_id"])]
            start, stop, first, last = (
                choose(one[name], other[name])
                for choose, name in (
                    (min, "query_start"),
                    (max, "query_end"),
                    (min, "doc_start"),
                    (max, "doc_end"),
                )
            )
            shared, own, longer = shared_and_own(query, start, stop, document, first, last)
            gap = query[one["query_end"] : other["query_start"]]
            is_near = len(gap.split()) <= window_length(4)
            assert not (is_near and shared >= Fraction(threshold) * own and longer <= times * own)


@each_of("seed", range(8))
def test_align__summaries(seed):
    """Sentences of a document, in another text: found, from the first of them to the last."""
    rng = random.Random(seed)
    sentences = [[f"w{rng.randrange(10**6)}" for _ in range(10)] for _ in range(60)]
    picked = sorted(rng.sample(range(10, 50), 6))
    document = " ".join(" ".join(sentence) for sentence in sentences)
    summary = [word for number in picked for word in sentences[number]]
    before, behind = (
        [f"x{rng.randrange(10**6)}" for _ in range(rng.randrange(30, 90))] for _ in range(2)
    )
    query = " ".join([*before, *summary, *behind])
    others = [" ".join(f"y{rng.randrange(10**6)}" for _ in range(200)) for _ in range(5)]
    found = neardup.align([query], [*others, document], measure="containment")
    start, first = len(" ".join(before)) + 1, document.index(sentences[picked[0]][0])
    last = document.index(sentences[picked[-1]][-1]) + len(sentences[picked[-1]][-1])
    assert found.passages.to_pylist() == [
        {
            "query_id": "0",
            "query_start": start,
            "query_end": start + len(" ".join(summary)),
            "doc_id": "5",
            "doc_start": first,
            "doc_end": last,
            "similarity": 1.0,
        }
    ]


def test_align__nearest_of_several_places():
    """The words of a query are twice in a document: the part where they stand together."""
    words = [f"w{i}" for i in range(40)]
    spread = " ".join(f"{word} a{i} b{i}" for i, word in enumerate(words))
    document = f"{spread} {' '.join(f'c{i}' for i in range(50))} {' '.join(words)}"
    (row,) = neardup.align(
        [" ".join(words)], [document], measure="containment"
    ).passages.to_pylist()
    assert document[row["doc_start"] : row["doc_end"]] == " ".join(words)


def test_align__what_is_too_far_apart():
    """Two halves of a query, further apart than they may be; and a word that is too far away."""
    words = [f"w{i}" for i in range(100)]
    first, second = words[:50], words[50:]
    fillers = [f"c{i}" for i in range(700)]
    query, document = " ".join(words), " ".join([*first, *fillers, *second])
    options = {"measure": "containment", "idf": "unary"}
    with patch(MOST_TIMES, 7):
        rows = neardup.align([query], [document], **grouped(**options)).passages.to_pylist()
    assert [document[row["doc_start"] : row["doc_end"]].split() for row in rows] == [first, second]
    with patch(MOST_TIMES, 9):
        [row] = neardup.align([query], [document], **grouped(**options)).passages.to_pylist()
    assert document[row["doc_start"] : row["doc_end"]] == document
    others = [*first, *second[1:]]
    lone = " ".join([*others, *fillers[:20], second[0]])
    with patch(MOST_TIMES, 2):
        [row] = neardup.align([query], [lone], **grouped(**options)).passages.to_pylist()
    assert lone[row["doc_start"] : row["doc_end"]] == " ".join(others)


def test_align__one_collection_finds_both_ways():
    words = [f"w{i}" for i in range(200)]
    long, short = " ".join(words), " ".join(words[20:180:3])
    for texts in ([long, short], [short, long]):
        found = neardup.align(texts, measure="containment").passages.to_pylist()
        assert [(row["query_id"], row["doc_id"]) for row in found] == [
            (str(texts.index(short)), str(texts.index(long)))
        ]


def test_align__what_has_no_effect_with_containment(tmp_path):
    text = " ".join(f"w{i}" for i in range(60))
    index = neardup.PassageIndex.create(tmp_path / "index", min_tokens=20)
    with pytest.raises(neardup.InvalidParameterError, match=r"^within.*containment"):
        neardup.align([text], measure="containment", within=True)
    with pytest.raises(neardup.InvalidParameterError, match="recall"):
        index.search([text], measure="containment", recall="0.9")
