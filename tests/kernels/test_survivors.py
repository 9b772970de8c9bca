from __future__ import annotations

from fractions import Fraction

import numpy as np

from neardup.kernels.arrays import sealed
from neardup.kernels.bucket import survivor_kernels
from neardup.kernels.join.overlap import Comparisons, DocumentKeys, Threshold
from neardup.matching.buckets import list_keys
from neardup.matching.measures import measure_sets
from tests.arrays import CODES, make_buckets, make_sets, make_weighted_sets
from tests.each import each_of
from tests.oracles.measures import WEIGHTED, rank_of_sets

# What the kernel is to leave as it is.
NOTED = 0.125


def choose(sets, bands, measure, threshold, *, n_fixed=0, known=None):
    """Run the kernel; give keepers, similarities and counts.

    ``known`` has for some sets overlap and size of one that they go for in any case.
    """
    table = make_weighted_sets(sets) if measure == WEIGHTED else make_sets(sets)
    lists = list_keys(make_buckets(bands))
    n = len(sets)
    starts = np.cumsum(lists.sizes) - lists.sizes
    documents = np.full(lists.sizes.sum(), -9, np.int32)
    members = survivor_kernels.StayingMembers(
        starts, np.zeros(len(lists.sizes), np.int64), documents
    )
    decisions = survivor_kernels.Decisions(
        np.full(n, -1, np.int32),
        np.zeros(n, np.int64),
        np.full(n, -9.0),
        np.zeros(n if known else 0, np.int64),
    )
    for d, (overlap, size) in (known or {}).items():
        decisions.keepers[d], decisions.overlaps[d] = survivor_kernels.KNOWN, overlap
        decisions.similarities[d], decisions.known_sizes[d] = NOTED, size
    decisions = sealed(decisions)
    comparisons = Comparisons(np.full(n, -1, np.int32), np.zeros(2, np.int64))
    survivor_kernels.choose_survivors(
        *(0, n, n_fixed, sealed(DocumentKeys(lists.starts, lists.keys)), lists.n_probed, members),
        measure_sets(table),
        Threshold(CODES[measure], threshold.numerator, threshold.denominator),
        *(decisions, comparisons, True),
    )
    keepers, _, similarities, _ = decisions
    return keepers.tolist(), similarities.tolist(), comparisons.counts.tolist()


@each_of(("first", "second"), [(9, 1), (1, 9), (18, 2), (2, 18)])
def test_choose_survivors__exact_tie_under_cosine(first, second):
    """1 / sqrt(3 * 1) = 3 / sqrt(3 * 9), whose roundings differ: still the earlier one wins."""
    x = {0, 1, 2}
    common = {1: 1, 9: 3, 2: 1, 18: 3}
    padding = iter(range(100, 200))
    fixed = [
        set(range(common[size])) | {next(padding) for _ in range(size - common[size])}
        for size in (first, second)
    ]
    assert rank_of_sets("cosine", x, fixed[0]) == rank_of_sets("cosine", x, fixed[1])
    keepers, _, _ = choose([*fixed, x], [[0] * 3], "cosine", Fraction("0.2"), n_fixed=2)
    assert keepers == [-1, -1, 0]


def test_choose_survivors__weighted_best_by_less_than_floating_point_shows():
    """Similarities that differ by a part in 2^58 are told apart, and equal ones are equal."""
    most = 2**58
    x, tied, also = {1: most, 2: 2, 3: 6}, {1: most, 2: 1, 3: 6}, {1: most, 2: 2, 3: 5}
    assert rank_of_sets(WEIGHTED, x, tied) == rank_of_sets(WEIGHTED, x, also)
    for fixed, best in (([tied, also], 0), ([also, tied], 0), ([tied, x], 1), ([x, also], 0)):
        keepers, similarities, _ = choose(
            [*fixed, x], [[0] * 3], WEIGHTED, Fraction("0.9"), n_fixed=2
        )
        assert keepers == [-1, -1, best]
        assert similarities[2] == 1.0


def test_choose_survivors__known_one_has_the_ties_and_is_no_member():
    x = set(range(10))
    near, far = (9, 9), (8, 9)
    for first, keeper in ((near, survivor_kernels.KNOWN), (far, 0)):
        keepers, _, counts = choose(
            [x - {0}, x, x], [[0] * 3], "jaccard", Fraction("0.8"), known={1: first, 2: first}
        )
        assert keepers == [-1, keeper, keeper]
        assert counts == [2, 2]
