from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.stages.by_pairs import SimilarPairs, choose_from_pairs, join_from_pairs
from tests.oracles import pair_choice
from tests.removals import keepers_of

SCORES = [0.5, 0.6, 0.75, 0.8, 1.0]


@st.composite
def pairs_of_documents(draw):
    """Pairs of few documents with few similarities, so that ties are common; some come twice."""
    n = draw(st.integers(1, 9))
    is_directed = draw(st.booleans())
    document = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(document, document, st.sampled_from(SCORES)), max_size=30))
    # A pair has one similarity, in either direction if it has none of its own.
    known: dict = {}
    pairs = [
        (a, b, known.setdefault((a, b) if is_directed else frozenset((a, b)), score))
        for a, b, score in pairs
    ]
    return n, pairs, is_directed


def as_arrays(pairs):
    columns = list(zip(*pairs, strict=True)) or [(), (), ()]
    left, right = (np.array(column, np.int32) for column in columns[:2])
    return SimilarPairs(left, right, np.array(columns[2], np.float64))


@pytest.mark.parametrize("rule", ["choose", "join"])
@given(pairs_of_documents(), st.sampled_from([0.5, 0.7, 0.8, 1.0]))
# Of equally similar ones the earliest, wherever it stands.
@example((4, [(3, 2, 0.8), (3, 0, 0.8), (3, 1, 0.8)], False), 0.5)
def test_from_pairs__as_oracle(rule, drawn, threshold):
    n, pairs, is_directed = drawn
    work, oracle = {
        "choose": (choose_from_pairs, pair_choice.choose),
        "join": (join_from_pairs, pair_choice.join),
    }[rule]
    found = work(as_arrays(pairs), n, threshold, are_directed=is_directed)
    expected = oracle(pairs, n, threshold, is_directed=is_directed)
    assert keepers_of(found, n) == [keeper for keeper, _ in expected]
    similarities = [None if math.isnan(each) else each for each in found.similarities.tolist()]
    assert similarities == [score for keeper, score in expected if keeper >= 0]
    assert found.n_compared == len(pairs)
    assert found.n_verified == sum(score >= threshold for *_, score in pairs)
