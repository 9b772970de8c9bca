"""Documents that meet under rare elements decide as those that meet under keys, bit by bit."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.matching import survivors
from neardup.matching.buckets import list_full_keys, list_prefixes
from neardup.matching.measures import CandidateSets, make_measure, measure_sets
from neardup.matching.survivors import choose_survivors, join_components, rank_documents
from neardup.tables import IndexKeepers
from tests.arrays import make_sets, make_weighted_sets
from tests.oracles import components as components_oracle
from tests.oracles import survivors as oracle
from tests.oracles.measures import MEASURES, WEIGHTED, rank_of_sets, sets_reach, value
from tests.removals import as_values as all_values
from tests.removals import keepers_of
from tests.strategies import thresholds

measures = st.sampled_from(MEASURES)
# Always, from the first comparison in vain on, or when there were some.
patience = st.sampled_from([-1, 0, 0.1, 0.5])
capacities = st.none() | st.integers(0, 60)


def as_values(removals):
    """Everything but the number of compared pairs, which are fewer by elements."""
    return {**all_values(removals), "n_compared": None}


@st.composite
def filled_forms(draw):
    """Sets of a form or two that are filled in differently, with keys of which many share one."""
    forms = draw(st.lists(st.integers(1, 14), min_size=1, max_size=2))
    n = draw(st.integers(1, 24))
    n_values = draw(st.integers(1, 6))
    sets = []
    for _ in range(n):
        form = draw(st.integers(0, len(forms) - 1))
        filled = draw(st.sets(st.integers(0, n_values), max_size=5))
        missing = draw(st.sets(st.integers(0, forms[form] - 1), max_size=2))
        own = {100 * form + element for element in range(forms[form])}
        chosen = (own - {100 * form + each for each in missing}) | {50 + each for each in filled}
        sets.append(chosen or {7})
    n_bands = draw(st.integers(1, 3))
    key = st.integers(0, draw(st.sampled_from([0, 1, n])))
    keys = draw(st.lists(st.lists(key, min_size=n_bands, max_size=n_bands), min_size=n, max_size=n))
    return sets, np.array(keys, np.uint64), draw(st.integers(0, n // 3))


def share_a_key(keys):
    return lambda d, other: bool((keys[d] == keys[other]).any())


def documents_of(sets, keys, n_fixed=0, capacity=None, *, are_in_memory=True):
    """Return documents whose sets are in memory, or else are read within the capacity."""
    return CandidateSets(
        list_full_keys(keys),
        np.array([len(x) for x in sets]),
        lambda documents: make_sets([sets[d] for d in documents]),
        n_fixed,
        capacity,
        are_in_memory=are_in_memory,
    )


def by_elements(function, documents, *arguments, after, **options):
    """Run a stage that has so much patience, in small steps; reports have to ascend."""
    reports: list[int] = []
    with patch.object(survivors, "PATIENCE", after), patch.object(survivors, "STEP", 3):
        removals = function(documents, *arguments, progress=reports.append, **options)
    assert reports == sorted({*reports})
    assert reports[-1] == len(documents)
    return removals


@given(filled_forms(), measures, thresholds, patience, capacities, st.booleans())
def test_choose_survivors__by_elements_as_by_keys(
    drawn, measure, threshold, after, capacity, are_in_memory
):
    sets, keys, n_fixed = drawn
    chosen = make_measure(measure, threshold)
    documents = documents_of(*drawn, capacity, are_in_memory=are_in_memory)
    removals = by_elements(choose_survivors, documents, chosen, after=after)
    assert as_values(removals) == as_values(choose_survivors(documents_of(*drawn), chosen))
    assert keepers_of(removals, len(sets)) == oracle.choose(
        sets, measure, threshold, n_fixed=n_fixed, are_candidates=share_a_key(keys)
    )


@given(filled_forms(), measures, thresholds, patience, st.data())
def test_choose_survivors__by_elements_what_goes_for_an_earlier_one(
    drawn, measure, threshold, after, data
):
    sets, keys, _ = drawn
    numbers = st.integers(0, len(sets) - 1)
    known = data.draw(st.dictionaries(numbers, st.sampled_from(sets)))
    known = {d: x for d, x in known.items() if x & sets[d]}
    earlier = IndexKeepers(
        np.array([9 if d in known else -1 for d in range(len(sets))]),
        np.array([len(known.get(d, set()) & sets[d]) for d in range(len(sets))]),
        np.array([len(known.get(d, ())) for d in range(len(sets))]),
        np.array(
            [
                value(measure, rank_of_sets(measure, sets[d], known[d])) if d in known else -1
                for d in range(len(sets))
            ]
        ),
        np.zeros(len(sets), np.bool_),
    )
    documents, chosen = documents_of(sets, keys), make_measure(measure, threshold)
    found = by_elements(choose_survivors, documents, chosen, index_keepers=earlier, after=after)
    assert as_values(found) == as_values(choose_survivors(documents, chosen, index_keepers=earlier))
    expected = oracle.choose(
        sets, measure, threshold, are_candidates=share_a_key(keys), earlier=known
    )
    assert keepers_of(found, len(sets)) == [max(keeper, -1) for keeper in expected]


@given(filled_forms(), measures, thresholds, patience)
def test_choose_survivors__by_elements_where_keys_are_prefixes(drawn, measure, threshold, after):
    """As in the exact method, where documents look under some of their keys only."""
    sets, _, n_fixed = drawn
    table, chosen = make_sets(sets), make_measure(measure, threshold)
    documents = CandidateSets.of_sets(list_prefixes(table, chosen), table, n_fixed)
    found = by_elements(choose_survivors, documents, chosen, after=after)
    assert as_values(found) == as_values(choose_survivors(documents, chosen))
    assert keepers_of(found, len(sets)) == oracle.choose(sets, measure, threshold, n_fixed=n_fixed)


@given(filled_forms(), measures, thresholds, patience, capacities, st.booleans())
def test_join_components__by_elements_as_oracle(
    drawn, measure, threshold, after, capacity, are_in_memory
):
    sets, keys, n_fixed = drawn
    chosen = make_measure(measure, threshold)
    documents = documents_of(*drawn, capacity, are_in_memory=are_in_memory)
    before = choose_survivors(documents, chosen)
    found = by_elements(join_components, documents, chosen, before, after=after)
    assert keepers_of(found, len(sets)) == components_oracle.choose(
        sets, measure, threshold, n_fixed=n_fixed, are_candidates=share_a_key(keys)
    )
    by_keys = join_components(documents_of(*drawn), chosen, before)
    assert as_values(found) == as_values(by_keys)


@given(filled_forms(), measures, thresholds)
def test_rank_documents__similar_sets_meet_in_a_short_and_a_long_prefix(drawn, measure, threshold):
    sets, _, _ = drawn
    documents = np.arange(len(sets))
    ranking = rank_documents(
        measure_sets(make_sets(sets)), documents, make_measure(measure, threshold)
    )
    ranked = ranking.sets
    assert (np.minimum(ranked.short, ranked.long) == ranked.short).all()
    assert (ranked.long <= ranked.lengths).all()
    assert ranking.n_places == ranked.long.sum()
    prefixes = [
        [{*ranked.tokens[start : start + n].tolist()} for n in (short, long)]
        for start, short, long in zip(ranked.starts, ranked.short, ranked.long, strict=True)
    ]
    for d, x in enumerate(sets):
        for other in range(d):
            if not sets_reach(measure, x, sets[other], threshold):
                continue
            (short, long), (other_short, other_long) = prefixes[d], prefixes[other]
            assert short & other_long or long & other_short


def test_choose_survivors__a_form_filled_in_differently_is_left_to_rare_elements():
    """The switch comes by itself, and no pair is looked at behind it."""
    n = 3 * survivors.STEP
    sets = [{*range(30), *range(1000 + 9 * d, 1009 + 9 * d)} for d in range(n)]
    documents, measure = documents_of(sets, ones(n)), make_measure("jaccard", Fraction("0.8"))
    with patch.object(survivors.survivor_kernels, "choose_by_prefixes") as never:
        never.side_effect = RuntimeError
        with pytest.raises(RuntimeError):
            choose_survivors(documents, measure)
    removals = choose_survivors(documents, measure)
    assert not len(removals.documents)
    assert removals.n_compared < n * (n - 1) // 2
    assert removals.n_verified == 0


def ones(n, n_bands=1):
    return np.ones((n, n_bands), np.uint64)


def test_choose_survivors__near_copies_are_never_ranked():
    n = 200
    sets = [{*range(30), 1000 + d} for d in range(n)]
    with (
        patch.object(survivors, "PATIENCE", 0),
        patch.object(survivors, "STEP", 8),
        patch.object(survivors, "rank_documents", side_effect=AssertionError),
    ):
        measure = make_measure("jaccard", Fraction("0.8"))
        removals = choose_survivors(documents_of(sets, ones(n, 2)), measure)
    assert keepers_of(removals, n) == [-1, *[0] * (n - 1)]


def test_choose_survivors__weighted_sets_go_by_keys():
    sets = [{1: 1, 2: 2 + d} for d in range(20)]
    chosen = make_measure(WEIGHTED, Fraction("0.99"))
    documents = CandidateSets.of_sets(list_full_keys(ones(20)), make_weighted_sets(sets))
    with patch.object(survivors, "PATIENCE", -1):
        removals = choose_survivors(documents, chosen)
    assert keepers_of(removals, 20) == oracle.choose(sets, WEIGHTED, Fraction("0.99"))


@pytest.mark.parametrize("order", [1, -1])
def test_join_components__by_elements_in_either_direction(order):
    sets = [{1, 2, 60}, {*range(3, 30), 1, 2, 60}, {40, 41}][::order]
    documents, measure = documents_of(sets, ones(3)), make_measure("containment", Fraction(1))
    before = choose_survivors(documents, measure)
    removals = by_elements(join_components, documents, measure, before, after=-1)
    assert sorted(keepers_of(removals, 3)) == [-1, -1, 0 if order == 1 else 1]
