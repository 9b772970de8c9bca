"""Benches on which texts are looked up for trial."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.stages.bench import Timed, _neighbours, _of_all_queries, expect_sum, group


@pytest.mark.parametrize(("n", "n_groups"), [(640, 64), (650, 64), (64, 64), (3, 2)])
def test_group__has_short_and_long_ones_alike(n, n_groups):
    generator = np.random.default_rng(n)
    sizes = (generator.lognormal(5, 0.7, n)).astype(np.int64)
    groups = group(sizes, n_groups)
    counts = np.bincount(groups, minlength=n_groups)
    assert counts.max() - counts.min() <= 1
    n_bytes = np.bincount(groups, sizes, n_groups)
    # Dealt out from the longest on, the first group would have the longer ones throughout.
    dealt = np.bincount(np.arange(n) % n_groups, np.sort(sizes)[::-1], n_groups)
    assert np.std(n_bytes) <= np.std(dealt) * (0.8 if n > 2 * n_groups else 1)
    # Which one has the longest is chance.
    if n > 20:
        firsts = [group(sizes[k:], n_groups)[sizes[k:].argmax()] for k in range(20)]
        assert len(set(firsts)) > 5


class Scripted:
    """A bench on which things take as long as somebody says."""

    def __init__(self, of_group, making=8.0, ready=4.0, again=2.0):
        self.of_group, self.making, self.ready, self.again = of_group, making, ready, again
        self.n = 0

    def look_up(self, groups, *, anew=False):
        seconds = 0.5 + sum(self.of_group[group] for group in groups) + self.again * anew
        seconds += {0: self.making, 2: self.ready}.get(self.n, 0.0)
        self.n += 1
        return seconds, groups

    def share(self, groups):
        return len(groups) / len(self.of_group)


def test_timed__what_is_made_once_is_told_apart():
    timed = Timed(Scripted([1.0] * 10), is_kept=False)
    assert (timed.making, timed.reading, timed.ready, timed.ready_again) == (8, 0.5, 4, 2)
    assert timed.of_all().number == 10
    kept = Timed(Scripted([1.0] * 10), is_kept=True)
    assert (kept.ready, kept.ready_again) == (4, 0)


def test_timed__all_groups_are_no_guess():
    timed = Timed(Scripted([1.0, 5.0, 0.0, 2.0]), is_kept=True)
    looked_up = []
    while more := timed.more(4, 99.0):
        looked_up += more
        timed.look_up(more)
    assert looked_up == [1, 2, 3]
    told = timed.of_all()
    assert told.low == told.number == told.high == 8
    assert timed.found == [range(1), range(1, 2), range(2, 4)]


def test_timed__some_groups_stand_for_all():
    """As many as there is time for; no error is told where they took as long as each other."""
    seconds = np.random.default_rng(1).uniform(0.5, 1.5, 64)
    timed = Timed(Scripted(seconds.tolist()), is_kept=True)
    while more := timed.more(64, 20.0):
        timed.look_up(more)
    assert 14 <= timed.n_groups <= 22
    told = timed.of_all()
    assert told.low <= seconds.sum() <= told.high
    assert told.number == pytest.approx(64, rel=0.15)
    assert not told.is_wide
    # Of those that are left.
    timed.look_up(range(timed.n_groups, 63))
    assert timed.of_all().high < 1.03 * seconds.sum()
    alike = Timed(Scripted([1.0] * 64), is_kept=True)
    alike.look_up(range(1, 3))
    assert alike.of_all().low == alike.of_all().high == 64


def test_timed__of_one_group_little_is_known():
    told = Timed(Scripted([1.0] * 64), is_kept=True).of_all()
    assert (told.number, told.is_wide) == (64, True)
    # What takes no time has no error.
    nothing = Timed(Scripted([0.0] * 64), is_kept=True)
    assert nothing.of_all().high == 0
    assert nothing.more(64, 3.0) == range(1, 2)


def test_timed__other_sums_are_told_as_the_seconds_are():
    timed = Timed(Scripted([1.0, 5.0, 0.0, 2.0]), is_kept=True)
    timed.look_up(range(1, 2))
    assert timed.of_all([3, 7]).number == 20
    assert timed.of_all([5, 5]) == expect_sum([2, 2], [0.1, 0.1]).times(1)
    assert timed.of_all([3, 7]).is_wide
    assert timed.of_all([0, 0]).high == 0


def test_of_all_queries__in_the_ratio_of_those_that_were_asked():
    """Runs that nobody was asked of say nothing; where nothing was found there may be some."""
    counts, runs = np.array([2, 0, 1, 1]), np.array([0, 0, 3, 3])
    told = _of_all_queries(counts, runs, 8)
    assert (told.number, told.low, told.high) == (8, 8, 8)
    other = _of_all_queries(np.array([4, 0, 0, 0]), runs, 8)
    assert other.low < other.number == 8 < other.high
    assert _of_all_queries(counts, runs, 4).high == 4
    assert _of_all_queries(np.zeros(4, np.int64), runs, 4).high == 0
    assert _of_all_queries(np.zeros(4, np.int64), runs, 400).high == 300


def test_neighbours__stand_together():
    sizes = np.random.default_rng(2).integers(1, 99, 500)
    groups = _neighbours(sizes, 64)
    assert sorted(set(groups.tolist())) == list(range(64))
    assert (np.diff(groups) != 0).sum() == 63
    n_bytes = np.bincount(groups, sizes)
    assert n_bytes.max() < 2 * n_bytes.mean()
    assert groups[0] != 0 or groups[-1] != 63
    assert _neighbours(np.zeros(3, np.int64), 2).tolist() == [0, 0, 0]
