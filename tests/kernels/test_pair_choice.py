from __future__ import annotations

import numpy as np

from neardup.kernels.bucket import survivors
from tests.each import each_of
from tests.oracles.pair_choice import choose


def decide(pairs, n):
    """Each pair the later document first."""
    later, earlier, scores = zip(*pairs, strict=True)
    later = np.array(later, np.int32)
    counts = np.bincount(later, minlength=n)
    ends = (np.cumsum(counts) - counts).astype(np.int64)
    partners, similarities = np.empty(len(pairs), np.int32), np.empty(len(pairs))
    survivors.group_pairs(
        later, np.array(earlier, np.int32), np.array(scores), ends, partners, similarities
    )
    assert ends.tolist() == np.cumsum(counts).tolist()
    keepers, kept = np.full(n, -1, np.int32), np.empty(n)
    survivors.choose_from_pairs(ends, partners, similarities, keepers, kept)
    found = zip(keepers.tolist(), kept.tolist(), strict=True)
    return [(keeper, None if np.isnan(score) else score) for keeper, score in found]


@each_of(
    ("pairs", "keepers"),
    [
        # What has gone takes nobody along.
        ([(1, 0, 0.9), (2, 1, 0.9)], [-1, 0, -1]),
        # The most similar one, wherever it stands in the list.
        ([(2, 0, 0.8), (2, 1, 0.9)], [-1, -1, 1]),
        ([(2, 1, 0.9), (2, 0, 0.8)], [-1, -1, 1]),
        # The earlier on a tie.
        ([(3, 2, 0.8), (3, 0, 0.8), (3, 1, 0.8)], [-1, -1, -1, 0]),
        # The most similar one has gone.
        ([(1, 0, 0.8), (3, 1, 1.0), (3, 2, 0.8)], [-1, 0, -1, 2]),
    ],
)
def test_choose_from_pairs__by_hand(pairs, keepers):
    n = len(keepers)
    found = decide(pairs, n)
    assert [keeper for keeper, _ in found] == keepers
    assert found == choose(pairs, n, 0.5)


def test_choose_from_pairs__none():
    nothing, no_scores = np.empty(0, np.int32), np.empty(0)
    ends = np.zeros(2, np.int64)
    survivors.group_pairs(nothing, nothing, no_scores, ends, nothing, no_scores)
    keepers, kept = np.full(2, 7, np.int32), np.empty(2)
    survivors.choose_from_pairs(ends, nothing, no_scores, keepers, kept)
    assert keepers.tolist() == [-1, -1]
    assert np.isnan(kept).all()


@each_of(
    ("pairs", "stays"),
    [
        ([], []),
        # The first takes both of its documents.
        ([(0, 1), (1, 2), (2, 3)], [True, False, True]),
        ([(1, 2), (0, 1), (2, 3)], [True, False, False]),
        # In either direction.
        ([(0, 1), (1, 0)], [True, False]),
    ],
)
def test_match_in_order__by_hand(pairs, stays):
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    found, is_taken = np.zeros(len(pairs), np.bool_), np.zeros(4, np.bool_)
    survivors.match_in_order(np.arange(len(pairs)), left, right, is_taken, found)
    assert found.tolist() == stays
    taken = {d for pair, stay in zip(pairs, stays, strict=True) if stay for d in pair}
    assert np.flatnonzero(is_taken).tolist() == sorted(taken)
