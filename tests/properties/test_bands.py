from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.errors import InvalidParameterError
from neardup.matching.buckets import Banding, check_banding, choose_banding
from tests.each import each_of
from tests.oracles import curve

hundredths = st.integers(1, 99).map(lambda n: Fraction(n, 100))
budgets = st.sampled_from([1, 2, 16, 64, 100, 128, 256])
# How far floating-point arithmetic may be off where the exact recall lies on the border.
ROUNDING = Fraction(1, 10**12)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Turn an endless search into a failure; the longest that should happen takes 0.2 s."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def choose_or_none(least_jaccard, recall, num_perm):
    with time_limit(5):
        try:
            return choose_banding(least_jaccard, recall, num_perm)
        except InvalidParameterError:
            return None


@given(hundredths, hundredths, budgets)
@example(Fraction(4, 5), Fraction(99, 100), 128)
def test_choose_banding__meets_the_recall_within_the_budget(least_jaccard, recall, num_perm):
    banding = choose_or_none(least_jaccard, recall, num_perm)
    if banding is None:
        assert curve.least_bands(least_jaccard, 1, recall + ROUNDING, num_perm) is None
        return
    assert banding.num_perm == banding.bands * banding.rows <= num_perm
    reached = curve.candidate_probability(least_jaccard, banding.bands, banding.rows)
    assert reached >= recall - ROUNDING


@given(hundredths, hundredths, budgets)
def test_choose_banding__least_bands_for_its_rows(least_jaccard, recall, num_perm):
    banding = choose_or_none(least_jaccard, recall, num_perm)
    if banding is not None and banding.bands > 1:
        fewer = curve.candidate_probability(least_jaccard, banding.bands - 1, banding.rows)
        assert fewer < recall + ROUNDING


@each_of("rows", [1, 2, 3])
@each_of("tenths", range(1, 10))
def test_choose_banding__recall_that_some_bands_reach_exactly(rows, tenths):
    """Rounding must not cost a band where the recall is reached without a remainder."""
    least_jaccard = Fraction(tenths, 10)
    for bands in range(1, 4):
        recall = curve.candidate_probability(least_jaccard, bands, rows)
        if recall.denominator <= 10**9:
            # A budget that has room for so many bands of these rows and not for one more.
            banding = choose_banding(least_jaccard, recall, bands * rows)
            area, limit = (b.area_below(tenths / 10) for b in (banding, Banding(bands, rows)))
            assert area <= limit * (1 + 1e-9)


@given(hundredths, hundredths, budgets)
def test_choose_banding__no_cheaper_choice_below_the_threshold(least_jaccard, recall, num_perm):
    """Of all choices that reach the recall none lets fewer dissimilar pairs through."""
    banding = choose_or_none(least_jaccard, recall, num_perm)
    if banding is None:
        return
    area = banding.area_below(float(least_jaccard))
    for rows in range(1, num_perm + 1):
        most = min(num_perm // rows, 40)
        bands = curve.least_bands(least_jaccard, rows, recall + ROUNDING, most)
        if bands is not None:
            assert area <= Banding(bands, rows).area_below(float(least_jaccard)) * (1 + 1e-9)


@given(hundredths, st.tuples(hundredths, hundredths), budgets)
def test_choose_banding__monotone_in_the_recall(least_jaccard, recalls, num_perm):
    """Asking for more recall never gives less."""
    low, high = (choose_or_none(least_jaccard, recall, num_perm) for recall in sorted(recalls))
    if high is not None:
        assert low is not None
        similarity = float(least_jaccard)
        assert high.area_below(similarity) >= low.area_below(similarity) * (1 - 1e-9)


@given(hundredths, hundredths)
def test_choose_banding__out_of_reach_names_what_is_needed(least_jaccard, recall):
    if curve.least_bands(least_jaccard, 1, recall, 4) is None:
        with pytest.raises(InvalidParameterError, match=r"num_perm to (\d+)") as caught:
            choose_banding(least_jaccard, recall, 4)
        needed = int(str(caught.value).split("num_perm to ")[1].split()[0])
        assert choose_banding(least_jaccard, recall, needed).num_perm <= needed


@each_of(
    ("least_jaccard", "recall", "num_perm"),
    [("0.3", "0.5", 128), ("0.43", "0.5", 128), ("0.06", "0.99", 256), ("0.832", "0.5", 256)],
)
def test_choose_banding__ends_where_one_band_more_is_less_than_rounding(
    least_jaccard, recall, num_perm
):
    """0.3^112 asks for 10^58 bands; adding one to that changes nothing."""
    assert choose_or_none(Fraction(least_jaccard), Fraction(recall), num_perm) is not None


def test_choose_banding__identity_needs_one_band():
    banding = choose_banding(Fraction(1), Fraction(1), 128)
    assert banding == Banding(1, 128)


@each_of("least", ["0.8", 0.8, Decimal("0.8"), Fraction(4, 5)])
def test_choose_banding__takes_what_thresholds_take(least):
    assert choose_banding(least) == choose_banding(Fraction(4, 5), Fraction(99, 100), 128)
    assert choose_banding(least, least) == choose_banding(Fraction(4, 5), Fraction(4, 5), 128)


@each_of(
    "arguments",
    [(80,), ("high",), (0,), (0.8, 2), (0.8, None), (0.8, 0.9, 0), (0.8, 0.9, 2.5), (True,)],
)
def test_choose_banding__refuses_what_thresholds_refuse(arguments):
    with pytest.raises(InvalidParameterError):
        choose_banding(*arguments)


def test_choose_banding__certainty_is_out_of_reach():
    with pytest.raises(InvalidParameterError, match="less than 1"):
        choose_banding(Fraction(4, 5), Fraction(1), 128)


@each_of(
    ("least_jaccard", "num_perm"),
    [("0.8", 4096), ("0.8", 65536), ("0.001", 128), ("0.000001", 128), ("0.5", 2000)],
)
def test_choose_banding__rows_beyond_the_range_of_floats(least_jaccard, num_perm):
    """0.8^4096 underflows to 0; such rows are no choice, and no accident either."""
    similarity, recall = Fraction(least_jaccard), Fraction(99, 100)
    with time_limit(60):
        check_least_budget(similarity, recall, num_perm)


def check_least_budget(similarity, recall, num_perm):
    needed = math.ceil(math.log1p(-float(recall)) / math.log1p(-float(similarity)))
    if needed > num_perm:
        with pytest.raises(InvalidParameterError, match=f"num_perm to {needed}"):
            choose_banding(similarity, recall, num_perm)
    else:
        assert choose_banding(similarity, recall, num_perm).num_perm <= num_perm


@given(
    st.integers(0, 1000).map(lambda n: Fraction(n, 1000)),
    st.integers(1, 60),
    st.integers(1, 20),
)
def test_candidate_probability__as_oracle(jaccard, bands, rows):
    expected = curve.candidate_probability(jaccard, bands, rows)
    found = Banding(bands, rows).candidate_probability(float(jaccard))
    # Both ends are exact to a relative error, not only to an absolute one.
    assert found == pytest.approx(float(expected), rel=1e-11, abs=0)
    assert 1 - found == pytest.approx(float(1 - expected), rel=1e-3, abs=1e-14)


@each_of(("bands", "rows"), [(0, 1), (1, 0), (-1, 5), (3, 43), (129, 1)])
def test_check_banding__out_of_range(bands, rows):
    with pytest.raises(InvalidParameterError):
        check_banding(bands, rows, 128)


def test_check_banding__the_whole_budget():
    assert check_banding(2, 64, 128) == Banding(2, 64)


@given(st.integers(1, 60), st.integers(1, 40))
@example(1, 1)
@example(20, 5)
def test_steepest__no_slope_beside_it_is_greater(bands, rows):
    steepest = Fraction(Banding(bands, rows).steepest)
    assert 0 <= steepest <= 1
    beside = (steepest + Fraction(step, 1000) for step in (-20, -5, 5, 20))
    slopes = [curve.slope(s, bands, rows) for s in beside if 0 <= s <= 1]
    assert curve.slope(steepest, bands, rows) >= max(slopes) - ROUNDING


@each_of(
    ("bands", "rows", "steepest", "midpoint"),
    [(20, 5, 0.526, 0.509), (16, 8, 0.696, 0.674), (25, 10, 0.717, 0.698), (9, 13, 0.840, 0.819)],
)
def test_steepest__points_that_are_known(bands, rows, steepest, midpoint):
    banding = Banding(bands, rows)
    assert banding.steepest == pytest.approx(steepest, abs=6e-4)
    assert banding.midpoint == pytest.approx(midpoint, abs=6e-4)


@given(st.integers(1, 500), st.integers(1, 40))
def test_midpoint__half_of_the_pairs_are_candidates(bands, rows):
    banding = Banding(bands, rows)
    assert banding.candidate_probability(banding.midpoint) == pytest.approx(0.5)
