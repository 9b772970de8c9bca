from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidParameterError
from neardup.matching.measures import MEASURES, make_measure, score_pairs
from neardup.options.kinds import exact_fraction
from tests.arrays import make_sets
from tests.each import each_of
from tests.oracles import measures as oracle
from tests.strategies import thresholds

billionths = st.integers(1, 10**9)
small_sets = st.sets(st.integers(0, 30), min_size=1)


@given(billionths)
def test_exact_fraction__is_the_decimal_that_was_typed(n):
    exact = Fraction(n, 10**9)
    typed = f"{Decimal(n).scaleb(-9):f}"
    assert exact_fraction("threshold", typed) == exact
    assert exact_fraction("threshold", float(typed)) == exact
    assert exact_fraction("threshold", np.float64(typed)) == exact
    assert exact_fraction("threshold", Decimal(typed)) == exact
    assert exact_fraction("threshold", exact) == exact


@each_of(
    ("value", "expected"),
    [
        (0.8, Fraction(4, 5)),
        ("0.54", Fraction(27, 50)),
        (0.1 + 0.2, None),  # 0.30000000000000004 has more than nine decimals
        (1, Fraction(1)),
        ("1.000", Fraction(1)),
        ("8e-1", Fraction(4, 5)),
        (Fraction(2, 3), Fraction(2, 3)),
        (np.float32(0.8), Fraction(4, 5)),
        ("1e-9", Fraction(1, 10**9)),
        ("1e-10", None),
        (0, None),
        (-0.5, None),
        (1.0000001, None),
        (80, None),
        ("80 %", None),
        ("", None),
        ("nan", None),
        ("inf", None),
        (float("nan"), None),
        (None, None),
        (True, None),
    ],
    ids=lambda value: f"{type(value).__name__}-{value}",
)
def test_exact_fraction__examples(value, expected):
    if expected is None:
        with pytest.raises(InvalidParameterError, match="threshold"):
            exact_fraction("threshold", value)
    else:
        assert exact_fraction("threshold", value) == expected


@given(small_sets, small_sets, thresholds)
@pytest.mark.parametrize("measure", oracle.MEASURES)
def test_least_jaccard__holds_for_every_pair_that_reaches_the_threshold(measure, x, y, threshold):
    ratio = MEASURES[measure].size_ratio
    bounded = ratio is None or max(len(x), len(y)) <= ratio * min(len(x), len(y))
    if oracle.sets_reach(measure, x, y, threshold) and bounded:
        least = make_measure(measure, threshold).least_jaccard
        assert oracle.rank_of_sets("jaccard", x, y) >= least


@given(st.integers(1, 20))
@pytest.mark.parametrize("measure", oracle.MEASURES)
def test_least_jaccard__is_reached_by_some_pair(measure, n):
    """Sets as far apart in size as they may be: the bound is not lower than it has to be."""
    threshold = Fraction(n, 20)
    sizes = {
        "cosine": (n * n, 400),  # one within the other
        "containment": (400, 800),
        "max-containment": (400, 800),
    }
    x, y = sizes.get(measure, (1600, 1600))
    common = next(o for o in range(x + 1) if oracle.reaches(measure, o, x, y, threshold))
    if measure == "dice":
        # 2 o / (x + y) = t has a whole solution for these sizes, since 20 divides them.
        assert oracle.rank("dice", common, x, y) == threshold
    closest = oracle.rank("jaccard", common, x, y)
    least = make_measure(measure, threshold).least_jaccard
    if measure == "jaccard":
        # At most one element above the threshold.
        assert least <= closest < least + Fraction(2, x)
    else:
        assert closest == least


@given(small_sets, small_sets, small_sets)
def test_jaccard__its_complement_is_a_metric(first, second, third):
    """The way over a third set is no shorter, as Broder states; rounding apart."""
    sets = make_sets([first, second, third])
    left, right = np.array([0, 0, 1, 0]), np.array([1, 2, 2, 0])
    similarities = score_pairs(sets, left, right, make_measure("jaccard", "0.5"))
    one, two, between, own = (1 - similarities).tolist()
    assert own == 0
    assert (one == 0) == (first == second)
    assert one <= two + between + 1e-15
