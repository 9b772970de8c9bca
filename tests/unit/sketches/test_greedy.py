from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from neardup.sketches import greedy
from neardup.sketches.greedy import cluster_greedily
from neardup.sketches.samples import ModuloScheme, SmallestScheme
from neardup.tables import SetSketches
from tests.arrays import ragged
from tests.unit.sketches.samples import sketch


@pytest.mark.parametrize("scheme", [SmallestScheme(), ModuloScheme(), ModuloScheme(4)])
def test_cluster_greedily__copies_and_near_copies(scheme):
    generator = np.random.default_rng(1)
    base = generator.integers(0, 2**64, (3, 2000), np.uint64).tolist()
    near = [x[:1960] + generator.integers(0, 2**64, 40, np.uint64).tolist() for x in base]
    lists = [base[0], base[1], near[0], near[1], base[0], [], base[2], near[2], []]
    found = cluster_greedily(sketch(lists, scheme), scheme, "0.8")
    assert found.clusters.tolist() == [0, 1, 0, 1, 0, 2, 3, 3, 4]
    assert found.representatives.tolist() == [0, 1, 5, 6, 8]


def test_cluster_greedily__the_order_decides():
    scheme = SmallestScheme()
    sets = [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]
    found = cluster_greedily(sketch(sets, scheme), scheme, 0.6)
    assert found.clusters.tolist() == [0, 0, 1]
    middle_first = cluster_greedily(sketch([sets[1], sets[0], sets[2]], scheme), scheme, 0.6)
    assert middle_first.clusters.tolist() == [0, 0, 0]


def test_cluster_greedily__with_some_that_are_like_no_other():
    scheme = SmallestScheme()
    one, two = list(range(30)), list(range(100, 130))
    sets = [[900], one, [901, 902], two, one[:29], [], two[:28], [903, *one], [904]]
    found = cluster_greedily(sketch(sets, scheme), scheme, 0.8)
    assert found.clusters.tolist() == [0, 1, 2, 3, 1, 4, 3, 1, 5]


def test_cluster_greedily__few_samples_join_nothing(monkeypatch):
    scheme = ModuloScheme(64)
    sketches = sketch([range(640)] * 2, scheme)
    n = int(sketches.offsets[1])
    assert 1 < n < 20
    assert cluster_greedily(sketches, scheme, 1).clusters.tolist() == [0, 1]
    for least, expected in ((n, [0, 0]), (n + 1, [0, 1])):
        monkeypatch.setattr(greedy, "LEAST_SAMPLES", least)
        assert cluster_greedily(sketches, scheme, 1).clusters.tolist() == expected


def test_cluster_greedily__sketches_of_unlike_moduli():
    """The shorter text has many values that the longer one cannot have."""
    scheme = ModuloScheme()
    sketches = sketch([range(190), range(210)], scheme)
    assert sketches.moduli.tolist() == [1, 2]
    for order in ([0, 1], [1, 0]):
        lists = [[range(190), range(210)][d] for d in order]
        found = cluster_greedily(sketch(lists, scheme), scheme, "0.8")
        assert found.clusters.tolist() == [0, 0]


def cluster(sets, moduli, threshold):
    """Cluster sketches of given values; none says how large its set is."""
    values, offsets = ragged([sorted(elements) for elements in sets])
    sizes = np.full(len(sets), -1, np.int64)
    sketches = SetSketches(values, offsets, sizes, np.array(moduli, np.int64))
    with patch.object(greedy, "LEAST_SAMPLES", 1):
        return cluster_greedily(sketches, ModuloScheme(), threshold).clusters.tolist()


# Beside others of modulus 1, it lets multiples of two and of four be looked at as well.
FOUR = {4000, 4004}


def test_cluster_greedily__found_by_odd_values_behind_rarer_even_ones():
    odd = set(range(101, 113, 2))
    sets = [odd | set(range(0, 12, 2)), odd | set(range(20, 32, 2)), FOUR]
    assert cluster(sets, [1, 1, 4], Fraction(1, 3)) == [0, 0, 1]


def test_cluster_greedily__found_by_multiples_behind_rarer_multiples():
    """Not among the first of the multiples of four, but among the first of all."""
    shared = {200, 204, 208, *range(301, 313, 2)}
    sets = [set(range(0, 20, 4)) | shared, set(range(100, 120, 4)) | shared, FOUR]
    assert cluster(sets, [1, 1, 4], Fraction(9, 20)) == [0, 0, 1]


def test_cluster_greedily__found_at_the_larger_modulus():
    """Behind many values that the other cannot have."""
    fine, coarse = set(range(1, 17, 2)) | set(range(20, 36, 4)), set(range(20, 36, 4))
    assert cluster([fine, coarse], [1, 4], Fraction(3, 4)) == [0, 0]
    assert cluster([coarse, fine], [4, 1], Fraction(3, 4)) == [0, 0]
