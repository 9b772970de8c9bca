"""What is estimated of denied documents: by filters alone, and hardly ever wrong."""

from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.documents import lookup as denied
from neardup.matching.buckets import make_filters
from neardup.matching.measures import make_measure
from neardup.tables import ShingleLists
from tests.oracles.turned import chance_of_few

PARITY_MEASURES = [("jaccard", "0.8"), ("cosine", "0.9"), ("dice", "0.85")]


def filters_of(*sets):
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    values = np.concatenate([np.array(sorted(each), np.uint64) for each in sets])
    return make_filters(ShingleLists(values, offsets), make_measure("jaccard", "0.8"))


def drawn(generator, size, n_common, other):
    """Give two sets of random hashes with so many in common."""
    values = [generator.getrandbits(64) for _ in range(size + other - n_common)]
    return values[:size], values[size - n_common :]


@pytest.mark.parametrize(("n_bits", "n_elements"), [(64, 4), (64, 13), (128, 20), (256, 33)])
def test_chance__is_never_above_its_bound(n_bits, n_elements):
    """Also where more elements differ than those that are counted on."""
    mean = n_elements * (n_elements - 1) / (2 * n_bits)
    for most in range(n_elements % 2, n_elements + 1, 2):
        bound = denied._chance((n_elements - most) // 2, mean)
        for more in (0, 2, 10, 60):
            assert float(chance_of_few(n_bits, n_elements + more, most)) <= bound * (1 + 1e-9)
    assert denied._chance(n_elements // 2, mean) < 0.05


@pytest.mark.parametrize(("name", "threshold"), PARITY_MEASURES)
def test_estimates__of_pairs_below_the_threshold(name, threshold):
    """None of those just below it is taken for one, and what is well above is, about as it is."""
    measure, generator = make_measure(name, threshold), random.Random(5)
    code, p, q = measure.in_kernels
    for size in (200, 300, 700):
        required = denied.required_overlap(code, size, size, p, q)
        below = [drawn(generator, size, required - 1, size) for _ in range(60)]
        above = [drawn(generator, size, (9 * size + required) // 10, size) for _ in range(20)]
        for pairs, is_found in ((below, False), (above, True)):
            left = np.arange(0, 2 * len(pairs), 2)
            filters = filters_of(*(each for pair in pairs for each in pair))
            found = denied.estimate_pairs(filters, left, left + 1, measure)
            assert (~np.isnan(found)).all() == is_found
            assert np.isnan(found).all() != is_found
            if is_found:
                overlaps = np.array([len({*a} & {*b}) for a, b in pairs])
                sizes = np.full(len(pairs), size)
                exact = measure.similarities(overlaps, sizes, sizes)
                assert np.abs(found / exact - 1).max() < 0.03


def test_estimates__of_few_shingles_are_doubtful():
    """Ten of eleven alike: a pair below the threshold would look so too often."""
    generator = random.Random(3)
    a, b = drawn(generator, 11, 10, 11)
    found = denied.estimate_pairs(
        filters_of(a, b), np.array([0]), np.array([1]), make_measure("jaccard", "0.8")
    )
    assert np.isnan(found).all()
