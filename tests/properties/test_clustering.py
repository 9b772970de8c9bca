from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.matching import rare_elements, survivors
from neardup.matching import survivors as components
from neardup.matching.buckets import list_keys
from neardup.matching.measures import Jaccard, make_measure
from tests.arrays import make_buckets, make_sets
from tests.oracles import components as components_oracle
from tests.oracles import survivors as survivors_oracle
from tests.oracles.measures import MEASURES, rank_of_sets, sets_reach, value
from tests.strategies import thresholds

measures = st.sampled_from(MEASURES)


@st.composite
def set_lists(draw):
    """Sets of which many are alike."""
    base = draw(st.lists(st.sets(st.integers(0, 15), min_size=1), min_size=1, max_size=5))
    changes = st.tuples(st.sampled_from(base), st.sets(st.integers(0, 15), max_size=2))
    sets = [x ^ change or x for x, change in draw(st.lists(changes, min_size=1, max_size=14))]
    n = len(sets)
    labels = st.lists(st.integers(0, draw(st.integers(0, n))), min_size=n, max_size=n)
    return sets, draw(st.lists(labels, min_size=1, max_size=4)), draw(st.integers(0, n // 2))


def share_a_bucket(bands):
    return lambda d, other: any(labels[d] == labels[other] for labels in bands)


def run(stage, sets, bands, measure, threshold, n_fixed=0):
    return stage(
        list_keys(make_buckets(bands)),
        make_sets(sets),
        make_measure(measure, threshold),
        n_fixed=n_fixed,
    )


@given(set_lists(), measures, thresholds)
def test_choose_survivors__as_oracle(drawn, measure, threshold):
    sets, bands, n_fixed = drawn
    removals = run(survivors.choose_survivors, sets, bands, measure, threshold, n_fixed)
    assert removals.keepers.tolist() == survivors_oracle.choose(
        sets, measure, threshold, n_fixed=n_fixed, are_candidates=share_a_bucket(bands)
    )


@given(set_lists(), measures, thresholds)
def test_choose_survivors__every_removal_is_verified(drawn, measure, threshold):
    sets, bands, n_fixed = drawn
    removals = run(survivors.choose_survivors, sets, bands, measure, threshold, n_fixed)
    for d, keeper in enumerate(removals.keepers.tolist()):
        if keeper < 0:
            assert np.isnan(removals.similarities[d])
        else:
            assert removals.keepers[keeper] == -1
            assert sets_reach(measure, sets[d], sets[keeper], threshold)
            exact = value(measure, rank_of_sets(measure, sets[d], sets[keeper]))
            assert removals.similarities[d] == pytest.approx(exact, rel=4 * 2.0**-53, abs=0)
    gone = int((removals.keepers >= 0).sum())
    assert gone <= removals.n_verified <= removals.n_compared


@given(set_lists(), measures, thresholds)
def test_choose_survivors__what_stays_is_not_similar(drawn, measure, threshold):
    """With all documents in one bucket nothing is missed."""
    sets, _, n_fixed = drawn
    removals = run(survivors.choose_survivors, sets, [[0] * len(sets)], measure, threshold, n_fixed)
    stays = np.flatnonzero(removals.keepers < 0).tolist()
    for d in stays:
        for other in stays:
            if other < d and d >= n_fixed:
                assert not sets_reach(measure, sets[d], sets[other], threshold)


@given(set_lists(), measures, thresholds)
def test_join_components__as_oracle(drawn, measure, threshold):
    sets, bands, n_fixed = drawn
    removals = run(components.join_components, sets, bands, measure, threshold, n_fixed)
    expected = components_oracle.choose(
        sets, measure, threshold, n_fixed=n_fixed, are_candidates=share_a_bucket(bands)
    )
    assert removals.keepers.tolist() == expected
    for d, keeper in enumerate(expected):
        if keeper < 0:
            assert np.isnan(removals.similarities[d])
        else:
            exact = value(measure, rank_of_sets(measure, sets[d], sets[keeper]))
            assert removals.similarities[d] == pytest.approx(exact, rel=4 * 2.0**-53, abs=0)


@given(set_lists(), measures, thresholds)
def test_join_components__removes_what_survivors_remove_and_more(drawn, measure, threshold):
    sets, bands, n_fixed = drawn
    chosen = run(survivors.choose_survivors, sets, bands, measure, threshold, n_fixed)
    joined = run(components.join_components, sets, bands, measure, threshold, n_fixed)
    assert ((chosen.keepers >= 0) <= (joined.keepers >= 0)).all()


@pytest.mark.parametrize("stage", [survivors.choose_survivors, components.join_components])
def test_clustering__steps_change_nothing_and_report_progress(stage, monkeypatch):
    generator = np.random.default_rng(1)
    sets = [set(generator.integers(0, 9, 6).tolist()) for _ in range(60)]
    bands = generator.integers(0, 12, (3, 60)).tolist()
    whole = run(stage, sets, bands, "jaccard", Fraction(1))
    reports: list[int] = []
    monkeypatch.setattr(rare_elements, "STEP", 7)
    parts = stage(
        list_keys(make_buckets(bands)),
        make_sets(sets),
        Jaccard(Fraction(1)),
        progress=reports.append,
    )
    assert parts.keepers.tolist() == whole.keepers.tolist()
    assert (parts.n_compared, parts.n_verified) == (whole.n_compared, whole.n_verified)
    assert reports == [*range(7, 60, 7), 60]


@pytest.mark.parametrize("stage", [survivors.choose_survivors, components.join_components])
def test_clustering__nothing(stage):
    removals = run(stage, [], [[]], "jaccard", Fraction(1))
    assert len(removals.keepers) == len(removals.similarities) == 0
