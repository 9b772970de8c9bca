"""Chunks of keep order decide as one run does, whatever fits into memory."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.matching.buckets import list_full_keys
from neardup.matching.measures import CandidateSets, make_measure
from neardup.matching.survivors import choose_survivors, join_components
from neardup.tables import IndexKeepers
from tests.arrays import make_sets, make_weighted_sets
from tests.each import each_of
from tests.oracles import components as components_oracle
from tests.oracles import survivors as oracle
from tests.oracles.measures import MEASURES, WEIGHTED, rank_of_sets, value
from tests.removals import as_values, keepers_of
from tests.strategies import thresholds

elements = st.integers(0, 15)


@st.composite
def alike(draw, sets, changes, change):
    """Documents of which many are alike, with keys, and how many of them are fixed."""
    base = draw(st.lists(sets, min_size=1, max_size=4))
    drawn = draw(st.lists(st.tuples(st.sampled_from(base), changes), min_size=1, max_size=20))
    documents = [change(x, changed) for x, changed in drawn]
    n, n_bands = len(documents), draw(st.integers(1, 4))
    key = st.integers(0, draw(st.integers(0, n))).map(lambda k: k * 0x0C00000000000001)
    keys = draw(st.lists(st.lists(key, min_size=n_bands, max_size=n_bands), min_size=n, max_size=n))
    return documents, np.array(keys, np.uint64), draw(st.integers(0, n // 2))


plain = alike(
    st.sets(elements, min_size=1), st.sets(elements, max_size=2), lambda x, change: x ^ change or x
)
weights = st.dictionaries(elements, st.integers(1, 2**20), max_size=8)
weighted = alike(
    weights,
    st.dictionaries(elements, st.integers(1, 2**20), max_size=1),
    lambda x, change: x | change,
)
capacities = st.integers(0, 60) | st.integers(0, 400)


class Reader:
    """Reads sets and remembers what was read."""

    def __init__(self, sets, make):
        self.sets, self.make = sets, make
        self.reads: list[list[int]] = []

    def __call__(self, documents):
        self.reads.append(documents.tolist())
        assert all(a < b for a, b in pairwise(self.reads[-1]))
        return self.make([self.sets[d] for d in self.reads[-1]])


def check(drawn, make, measure, threshold, capacity, sizes, known=None):
    """Hold chunks to one run, bit by bit, and to the definition; return what was read."""
    sets, keys, n_fixed = drawn
    earlier = None if known is None else earlier_of(sets, known, measure)
    reader, reports = Reader(sets, make), []
    exact, lists = make_measure(measure, threshold), list_full_keys(keys)
    sizes = np.array(sizes, np.int64)
    chunks = choose_survivors(
        CandidateSets(lists, sizes, reader, n_fixed, capacity),
        exact,
        index_keepers=earlier,
        progress=reports.append,
    )
    whole = choose_survivors(
        CandidateSets.of_sets(lists, make(sets), n_fixed), exact, index_keepers=earlier
    )
    assert as_values(chunks) == as_values(whole)
    expected = oracle.choose(
        sets,
        measure,
        threshold,
        n_fixed=n_fixed,
        are_candidates=share_a_key(keys),
        earlier=known,
    )
    # The oracle has -2 for a document that goes for its earlier keeper, which is none of these.
    assert keepers_of(chunks, len(sets)) == [max(keeper, -1) for keeper in expected]
    assert reports == sorted({*reports})
    assert reports[-1] == len(sets)
    return chunks, reader.reads


def earlier_of(sets, known, measure):
    """Lay down what some of the documents are known to go for, which are sets themselves."""
    n = len(sets)
    numbers, overlaps, sizes = (np.full(n, -1, np.int64) for _ in range(3))
    similarities = np.full(n, -1.0)
    for d, x in known.items():
        is_plain = isinstance(x, set)
        numbers[d] = 10 * d
        sizes[d] = len(x) if is_plain else sum(x.values())
        overlaps[d] = (
            len(x & sets[d])
            if is_plain
            else sum(min(x[e], sets[d][e]) for e in x.keys() & sets[d].keys())
        )
        similarities[d] = value(measure, rank_of_sets(measure, sets[d], x))
    nothing = np.zeros(n, np.bool_)
    return IndexKeepers(numbers, overlaps, sizes, similarities, nothing)


def share_a_key(keys):
    return lambda d, other: bool((keys[d] == keys[other]).any())


def check_components(drawn, make, measure, threshold, capacity, sizes):
    """Hold components in chunks to those of one run and to the definition."""
    sets, keys, n_fixed = drawn
    reader, reports = Reader(sets, make), []
    exact, lists = make_measure(measure, threshold), list_full_keys(keys)
    in_memory = CandidateSets.of_sets(lists, make(sets), n_fixed)
    before = choose_survivors(in_memory, exact)
    documents = CandidateSets(lists, np.array(sizes, np.int64), reader, n_fixed, capacity)
    chunks = join_components(documents, exact, before, progress=reports.append)
    assert as_values(chunks) == as_values(join_components(in_memory, exact, before))
    assert (chunks.n_compared, chunks.n_verified) == (before.n_compared, before.n_verified)
    assert keepers_of(chunks, len(sets)) == components_oracle.choose(
        sets, measure, threshold, n_fixed=n_fixed, are_candidates=share_a_key(keys)
    )
    assert reports == sorted({*reports})
    assert reports[-1] == len(sets)
    return sum(map(len, reader.reads))


@given(plain, st.sampled_from(MEASURES), thresholds, capacities)
def test_choose_in_chunks__as_one_run(drawn, measure, threshold, capacity):
    sizes = [len(x) for x in drawn[0]]
    removals, reads = check(drawn, make_sets, measure, threshold, capacity, sizes)
    for documents in reads if sum(sizes) > capacity else ():
        assert len(documents) == 1 or sum(sizes[d] for d in documents) <= capacity // 5
    n_reads = np.bincount([d for documents in reads for d in documents], minlength=len(sizes))
    assert (n_reads[removals.documents] == 1).all()


@given(weighted, thresholds, capacities)
def test_choose_in_chunks__weighted_as_one_run(drawn, threshold, capacity):
    sizes = [len(x) for x in drawn[0]]
    check(drawn, make_weighted_sets, WEIGHTED, threshold, capacity, sizes)


@given(plain, st.sampled_from(MEASURES), thresholds, capacities, st.data())
def test_choose_in_chunks__sizes_need_not_be_right(drawn, measure, threshold, capacity, data):
    n = len(drawn[0])
    sizes = data.draw(st.lists(st.integers(0, 40), min_size=n, max_size=n))
    check(drawn, make_sets, measure, threshold, capacity, sizes)


@given(plain, st.sampled_from(MEASURES), thresholds, capacities, st.data())
def test_choose_in_chunks__what_goes_for_an_earlier_one(drawn, measure, threshold, capacity, data):
    sets, keys, _ = drawn
    numbers = st.integers(0, len(sets) - 1)
    known = data.draw(st.dictionaries(numbers, st.sets(elements, min_size=1)))
    known = {d: x for d, x in known.items() if x & sets[d]}
    sizes = [len(x) for x in sets]
    check((sets, keys, 0), make_sets, measure, threshold, capacity, sizes, known)


@given(weighted, thresholds, capacities, st.data())
def test_choose_in_chunks__what_goes_for_an_earlier_one_by_weight(drawn, threshold, capacity, data):
    sets, keys, _ = drawn
    known = data.draw(st.dictionaries(st.integers(0, len(sets) - 1), weights))
    known = {d: x for d, x in known.items() if x.keys() & sets[d].keys()}
    sizes = [len(x) for x in sets]
    check((sets, keys, 0), make_weighted_sets, WEIGHTED, threshold, capacity, sizes, known)


@given(plain, st.sampled_from(MEASURES), thresholds, capacities)
def test_join_in_chunks__as_one_run(drawn, measure, threshold, capacity):
    check_components(drawn, make_sets, measure, threshold, capacity, [len(x) for x in drawn[0]])


@given(weighted, thresholds, capacities)
def test_join_in_chunks__weighted_as_one_run(drawn, threshold, capacity):
    check_components(
        drawn, make_weighted_sets, WEIGHTED, threshold, capacity, [len(x) for x in drawn[0]]
    )


def many(measure):
    """Random documents in long buckets, of which every slice and chunk has some similar ones."""
    generator = np.random.default_rng(1)
    sets = [{*generator.integers(0, 9, 6).tolist()} for _ in range(70)]
    if measure == WEIGHTED:
        sets = [{x: 1 + x % 3 for x in chosen} for chosen in sets]
    keys = generator.integers(0, 3, (70, 2), np.uint64)
    make = make_weighted_sets if measure == WEIGHTED else make_sets
    return (sets, keys, 9), make, [len(x) for x in sets]


@pytest.mark.slow
@each_of("measure", [*MEASURES, WEIGHTED])
def test_choose_in_chunks__at_every_capacity(measure):
    drawn, make, sizes = many(measure)
    n_reads = []
    for capacity in (0, 20, 60, 150, 400, 1000):
        _, reads = check(drawn, make, measure, Fraction("0.6"), capacity, sizes)
        n_reads.append(sum(map(len, reads)))
    assert n_reads[0] > 4 * n_reads[-1]
    assert n_reads[-1] == 70


@pytest.mark.slow
@each_of("measure", [*MEASURES, WEIGHTED])
def test_join_in_chunks__at_every_capacity(measure):
    drawn, make, sizes = many(measure)
    for capacity in (0, 20, 60, 150, 400, 1000):
        n_reads = check_components(drawn, make, measure, Fraction("0.7"), capacity, sizes)
    # Once for comparing, and at most once for scoring.
    assert n_reads <= 2 * 70
