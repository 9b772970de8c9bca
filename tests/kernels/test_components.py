from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from neardup.kernels.arrays import sealed
from neardup.kernels.bucket import components
from neardup.kernels.join.overlap import Comparisons, DocumentKeys, Threshold
from neardup.matching.buckets import list_keys
from neardup.matching.measures import measure_sets
from tests.arrays import CODES, make_buckets, make_sets, random_labels
from tests.each import each_of
from tests.oracles import components as oracle


def join(sets, bands, threshold):
    """Run the kernel; give the first of each one's component, and counts."""
    lists = list_keys(make_buckets(bands))
    n = len(sets)
    parents = np.arange(n)
    owners = np.repeat(np.arange(n, dtype=np.int32), np.diff(lists.starts))
    heads = np.full(len(lists.sizes), -1, np.int64)
    links = np.full((3, len(lists.keys)), -1, np.int64)
    groups = sealed(components.ComponentGroups(owners, heads, *links))
    comparisons = Comparisons(np.full(n, -1, np.int32), np.zeros(2, np.int64))
    components.join_components(
        *(0, n, sealed(DocumentKeys(lists.starts, lists.keys)), measure_sets(make_sets(sets))),
        Threshold(CODES["jaccard"], threshold.numerator, threshold.denominator),
        *(groups, parents, comparisons, True),
    )
    roots = []
    for d in range(n):
        root = d
        while parents[root] != root:
            assert parents[root] < root
            root = int(parents[root])
        roots.append(root)
    return roots, comparisons.counts.tolist()


@each_of("seed", range(8))
def test_join_components__groups_melt_in_any_order(seed):
    """Chains whose links come in random order, so that groups of a bucket grow together."""
    generator = random.Random(seed)
    sets = [{chain * 100 + i, chain * 100 + i + 1} for chain in range(4) for i in range(8)]
    generator.shuffle(sets)
    n = len(sets)
    bands = [[0] * n, *random_labels(generator, n, 2)]
    roots, counts = join(sets, bands, Fraction(1, 3))
    assert roots == oracle.firsts(sets, "jaccard", Fraction(1, 3))
    assert len(set(roots)) == 4
    assert counts[1] == n - 4
