"""What every measure promises, against its definition in fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.matching.buckets import list_keys
from neardup.matching.measures import MEASURE_NAMES, MEASURES, CandidateSets, overlaps_at_threshold
from neardup.matching.survivors import choose_survivors
from neardup.options.choices import DocumentMeasure, PairMeasure
from neardup.options.kinds import Choice
from tests.arrays import (
    make_buckets,
    make_sets,
    make_weighted_sets,
    random_sets,
    random_weighted_sets,
)
from tests.oracles import measures as oracle

every_measure = pytest.mark.parametrize("name", MEASURES)
every_join_measure = pytest.mark.parametrize("name", oracle.JOIN_MEASURES)

STEP = Fraction(1, 10**9)


def random_pairs(name, n=60):
    """Pairs of sets that are often alike, or of weighted sets; none is empty."""
    generator = random.Random(f"pairs {name}")
    is_weighted = MEASURES[name].is_weighted
    for _ in range(n):
        two = (
            random_weighted_sets(generator, 2, 8, 5)
            if is_weighted
            else random_sets(generator, 2, 8)
        )
        if all(two):
            yield two


def columns(x, y):
    """Overlap and sizes as measures take them."""
    of_pair = oracle.common(x, y), oracle.size(x), oracle.size(y)
    return tuple(np.array([n], np.int64) for n in of_pair)


def is_reached(measure, x, y):
    """Whether x, which would go, and y reach the threshold, as jobs find it out."""
    if measure.is_weighted:
        lists, sets = list_keys(make_buckets([[0, 0]])), make_weighted_sets([y, x])
        return choose_survivors(CandidateSets.of_sets(lists, sets), measure).documents.tolist() == [
            1
        ]
    left, right = np.array([1]), np.array([0])
    return int(overlaps_at_threshold(make_sets([y, x]), left, right, measure)[0]) >= 0


def value_of(name, x, y):
    """The exact value of a pair where it is a threshold that can be typed, else None."""
    rank = oracle.rank_of_sets(name, x, y)
    if name == "cosine":
        numerator, denominator = (round(n**0.5) for n in rank.as_integer_ratio())
        value = Fraction(numerator, denominator)
        return value if value * value == rank and value else None
    return rank or None


@every_measure
def test_registry(name):
    """Registered once under the name that users type, with a code of its own, and an oracle."""
    measure = MEASURES[name]
    assert measure.name == name
    assert [m.code for m in MEASURES.values()].count(measure.code) == 1
    assert set(MEASURES) == {*oracle.JOIN_MEASURES, oracle.WEIGHTED}
    assert (name in oracle.JOIN_MEASURES) == (not measure.is_weighted)
    assert (name in MEASURE_NAMES) == (not measure.is_count)


def test_registry__what_options_spell_out():
    """In the same order, so that choices are listed alike everywhere."""
    assert Choice(DocumentMeasure).values == MEASURE_NAMES
    assert Choice(PairMeasure).values == (*MEASURES, "edit")


@every_measure
def test_fractions__rank_as_defined(name):
    measure = MEASURES[name].lowest()
    for x, y in random_pairs(name):
        above, below = measure.fractions(*columns(x, y))
        assert Fraction(int(above[0]), int(below[0])) == oracle.rank_of_sets(name, x, y)


@every_measure
def test_similarities__as_defined(name):
    measure = MEASURES[name].lowest()
    for x, y in random_pairs(name):
        expected = oracle.value(name, oracle.rank_of_sets(name, x, y))
        found = measure.similarities(*columns(x, y))[0]
        assert found == pytest.approx(expected, rel=4 * 2.0**-53, abs=0)


@every_measure
def test_threshold__exact_ties(name):
    """A pair reaches its own value, and nothing above it, by however little."""
    n_ties = 0
    for x, y in random_pairs(name):
        value = value_of(name, x, y)
        if value is None:
            continue
        n_ties += 1
        assert is_reached(MEASURES[name](value), x, y)
        above = value + (1 if MEASURES[name].is_count else STEP)
        assert not is_reached(MEASURES[name](above), x, y)
    assert n_ties > 5


@every_measure
def test_threshold__as_defined(name):
    """Of pairs in either direction, at thresholds that have nothing to do with them."""
    generator = random.Random(f"thresholds {name}")
    is_count = MEASURES[name].is_count
    for x, y in random_pairs(name):
        t = Fraction(generator.randint(1, 8), 1 if is_count else 8)
        for one, other in ((x, y), (y, x)):
            expected = oracle.sets_reach(name, one, other, t)
            assert is_reached(MEASURES[name](t), one, other) == expected


@every_measure
def test_is_directed__whether_sides_matter(name):
    values = [
        (oracle.rank_of_sets(name, x, y), oracle.rank_of_sets(name, y, x))
        for x, y in random_pairs(name)
    ]
    assert any(one != other for one, other in values) == MEASURES[name].is_directed


@every_measure
def test_sided_names__by_direction(name):
    sided = (f"{name}-a-in-b", f"{name}-b-in-a")
    expected = sided if MEASURES[name].is_directed else (name,)
    assert MEASURES[name].sided_names() == expected


@every_measure
def test_least_jaccard__no_pair_at_the_threshold_has_less(name):
    """Nor is any promised where MinHash bands have nothing to go by."""
    measure, n_bounded = MEASURES[name], 0
    for x, y in random_pairs(name, 200):
        value = value_of(name, x, y)
        ratio = measure.size_ratio
        if value is None or (ratio and max(len(x), len(y)) > ratio * min(len(x), len(y))):
            continue
        least = measure(value).least_jaccard
        assert (least > 0) == measure.has_bands
        jaccard = oracle.WEIGHTED if measure.is_weighted else "jaccard"
        assert oracle.rank_of_sets(jaccard, x, y) >= least
        n_bounded += 1
    assert n_bounded > 5


@every_measure
def test_parse__exact_decimal_or_count(name):
    measure = MEASURES[name]
    accepted = (
        {"3": 3, 2: 2}
        if measure.is_count
        else {"0.54": Fraction(27, 50), 1: 1, 0.1: Fraction(1, 10)}
    )
    for typed, expected in accepted.items():
        assert measure.parse(typed) == measure(Fraction(expected))
    refused = (0, "0.5", 2**31) if measure.is_count else (0, "1.5", 80)
    for typed in (*refused, "x", "nan", None):
        with pytest.raises(InvalidParameterError, match="threshold"):
            measure.parse(typed)


@every_measure
def test_lowest__reached_by_whatever_shares_something(name):
    measure = MEASURES[name].lowest()
    for x, y in random_pairs(name):
        assert is_reached(measure, x, y) == (oracle.common(x, y) > 0)


@every_measure
def test_twins__what_reaches_the_threshold_with_itself(name):
    sets = [x for pair in random_pairs(name) for x in pair]
    sizes = np.array([oracle.size(x) for x in sets], np.int64)
    for t in (1, 3) if MEASURES[name].is_count else (Fraction(1, 2), 1):
        expected = [k for k, x in enumerate(sets) if oracle.sets_reach(name, x, x, Fraction(t))]
        assert MEASURES[name](Fraction(t)).twins(sizes).tolist() == expected


@every_join_measure
def test_prefixes__the_first_of_a_pair_finds_the_second(name):
    """However tokens are ordered, it looks under one that the other is found under."""
    generator = random.Random(f"prefixes {name}")
    n_met = 0
    for x, y in random_pairs(name, 150):
        t = Fraction(generator.randint(1, 8), 1 if MEASURES[name].is_count else 8)
        measure = MEASURES[name](t)
        order = generator.sample(sorted(x | y), len(x | y))
        for one, other in ((x, y), (y, x)):
            if not oracle.sets_reach(name, one, other, t):
                continue
            looks, found = measure.prefixes(np.array([len(one), len(other)], np.int64))
            looking = sorted(one, key=order.index)[: looks[0]]
            assert {*looking} & {*sorted(other, key=order.index)[: found[1]]}
            n_met += 1
    assert n_met > 20
