"""Pairs of records spelled out as pairs of documents, against all pairs of documents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.jobs.pairs.pair_rows import Speller
from neardup.tables import ScoredPairs
from tests.each import each_of
from tests.examples import examples

N_RECORDS = 4

# Records of documents, -1 for a document without one.
documents = st.lists(st.integers(-1, N_RECORDS - 1), max_size=9)


class Scored(NamedTuple):
    own_scores: np.ndarray
    twins: np.ndarray
    is_directed: bool


def as_pairs(scores):
    columns = zip(*((*pair, score) for pair, score in scores.items()), strict=True)
    columns = list(columns) or [(), (), ()]
    return ScoredPairs(*(np.array(column, np.int64) for column in columns))


def rows_of(pairs):
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True))


def spelled(records, n_left, scores, own_scores, twins, *, is_directed):
    """By definition: documents of two records that are a pair, or of one that is its own twin."""

    def score(a, b):
        if a == b:
            return own_scores[a] if a in twins else None
        return scores.get((a, b), None if is_directed else scores.get((b, a)))

    n = len(records)
    return [
        (d, e, score(records[d], records[e]))
        for d in range(n if n_left is None else n_left)
        for e in range(0 if n_left is None else n_left, n)
        if d < e or (n_left is None and is_directed and d != e)
        if min(records[d], records[e]) >= 0 and score(records[d], records[e]) is not None
    ]


@st.composite
def spellers(draw):
    """A speller, pairs of records, and the pairs of documents that they mean."""
    records = draw(documents)
    n_left = draw(st.none() | st.integers(0, len(records)))
    is_directed = draw(st.booleans())
    record = st.integers(0, N_RECORDS - 1)
    keys = st.tuples(record, record).filter(lambda p: p[0] != p[1] if is_directed else p[0] < p[1])
    scores = draw(st.dictionaries(keys, st.integers(1, 99)))
    own_scores = draw(st.lists(st.integers(1, 99), min_size=N_RECORDS, max_size=N_RECORDS))
    twins = sorted(draw(st.sets(record)))
    scored = Scored(np.array(own_scores, np.int64), np.array(twins, np.int64), is_directed)
    speller = Speller.of(scored, np.array(records, np.int64), n_left)
    expected = spelled(records, n_left, scores, own_scores, twins, is_directed=is_directed)
    return speller, as_pairs(scores), expected


@each_of(
    ("n_left", "is_directed", "expected"),
    [
        (None, False, [(0, 1, 7), (0, 2, 9), (0, 3, 7), (1, 2, 7), (2, 3, 7)]),
        (None, True, [(0, 1, 7), (0, 2, 9), (0, 3, 7), (2, 0, 9), (2, 1, 7), (2, 3, 7)]),
        (2, False, [(0, 2, 9), (0, 3, 7), (1, 2, 7)]),
        (2, True, [(0, 2, 9), (0, 3, 7)]),
    ],
)
def test_speller__by_hand(n_left, is_directed, expected):
    """Two records, both in either collection, of which the first is a pair with itself."""
    scored = Scored(np.array([9, 9]), np.array([0]), is_directed)
    speller = Speller.of(scored, np.array([0, 1, 0, 1]), n_left)
    joined = as_pairs({(0, 1): 7})
    crossings = speller.crossings(joined)
    [(pairs, _)] = speller.spell_in_parts(crossings, None)
    assert sorted(rows_of(pairs)) == expected
    assert speller.count(crossings) == len(expected)


@examples(200)
@given(spellers(), st.integers(1, 5))
def test_speller__as_defined(drawn, n_at_once):
    """In the order of the crossings, each pair with its own; no part too large."""
    speller, joined, expected = drawn
    crossings = speller.crossings(joined)
    assert speller.count(crossings) == len(expected)
    found, numbers = [], []
    for pairs, crossing in speller.spell_in_parts(crossings, n_at_once):
        assert len(pairs) == len(crossing) <= n_at_once
        found += rows_of(pairs)
        numbers += crossing.tolist()
    assert sorted(found) == expected
    assert numbers == sorted(numbers)
    assert [score for *_, score in found] == crossings.scores[numbers].tolist()
