from __future__ import annotations

import numpy as np
import pytest

from neardup.matching.measures import CandidateSets, SetCache, measure_sets
from neardup.tables import WeightedSets
from tests.arrays import make_sets, make_weighted_sets
from tests.each import each_of

SETS = [{5 * d + i for i in range(1 + d % 4)} for d in range(40)]
WEIGHTED = [{x: x + d for x in chosen} for d, chosen in enumerate(SETS)]


class Library:
    """All sets, and the number of elements that were read each time."""

    def __init__(self, sets, make):
        self.sets, self.make = sets, make
        self.reads: list[int] = []

    def read(self, documents):
        chosen = [self.sets[d] for d in documents]
        self.reads.append(sum(map(len, chosen)))
        return self.make(chosen)


def row(table, d):
    """Give all that a table has of a document."""
    places = slice(table.starts[d], table.starts[d] + table.sizes[d])
    weights = table.weights[places].tolist() if isinstance(table, WeightedSets) else None
    return table.values[places].tolist(), weights


@each_of(("sets", "make"), [(SETS, make_sets), (WEIGHTED, make_weighted_sets)])
@each_of("capacity", [0, 10, 50, 100, 1000])
@each_of("factor", [0, 1, 3])
def test_cache__has_the_chunk_and_the_slice(sets, make, capacity, factor):
    """Whatever the sizes were thought to be."""
    library = Library(sets, make)
    sizes = np.array([factor * len(chosen) for chosen in sets], np.int64)
    cache = SetCache(
        CandidateSets(None, sizes, library.read, capacity=capacity),
        is_weighted=make is make_weighted_sets,
    )
    whole = make(sets)
    expected = measure_sets(whole)
    wanted, others = np.arange(0, 40, 2), np.arange(1, 40, 4)
    chunks = []
    for chunk in cache.chunks(wanted):
        chunks += chunk.tolist()
        slices = []
        for piece in cache.slices(others):
            slices += piece.tolist()
            for d in (*chunk, *piece):
                assert row(cache.table, d) == row(whole, d)
                assert cache.measured.totals[d] == expected.totals[d]
                if make is make_sets:
                    assert cache.measured.parities[d] == expected.parities[d]
        assert slices == others.tolist()
    assert chunks == wanted.tolist()


@pytest.mark.parametrize("capacity", [25, 50, 100])
def test_cache__keeps_within_its_capacity(capacity):
    """What is kept and what is being read, where no document is too large."""
    library = Library(SETS, make_sets)
    cache = SetCache(
        CandidateSets(None, np.array([len(x) for x in SETS]), library.read, capacity=capacity),
        is_weighted=False,
    )
    n_chunks = n_slices = 0
    for _ in cache.chunks(np.arange(20)):
        n_chunks += 1
        n_slices += sum(1 for _ in cache.slices(np.arange(20, 40)))
    n_elements = sum(map(len, SETS[:20]))
    assert len(cache.table.values) + max(library.reads) <= capacity
    # Parts are at most three elements short of being full.
    assert n_chunks <= n_elements / (0.6 * capacity - 3) + 1
    assert n_slices / n_chunks <= n_elements / (0.2 * capacity - 3) + 1
