"""Edit distances estimated from where aligned signatures differ.

An edit of one character disturbs up to n windows of ``neighbourhood`` n in either text; a block of
b changed characters disturbs b + n - 1. Undisturbed windows keep their symbols, so with one symbol
for c windows the symbols that an alignment leaves over count the disturbed windows, times 1/c. How
many characters were changed depends on how many separate changes there were: D windows are
D - n + 1 characters of one block, or D / n isolated edits. The runs of symbols left over tell one
from the other: an isolated edit leaves one symbol, if any, and blocks leave long runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.sketches.edit.lengths import KnownLengths
from neardup.sketches.edit.runs import Runs
from neardup.sketches.intervals import wilson_intervals
from neardup.tables import Bools, Floats

# Shares of the shorter text's symbols in common, and runs of symbols left over: below the first of
# both what differs counts as replaced, from the second of either on as edited here and there if it
# looks so. With a neighbourhood of 12, 28 % of the symbols remain if a tenth of the characters is
# edited.
_FEW_SHARED, _ENOUGH_SHARED = 0.15, 0.3
_FEW_RUNS, _ENOUGH_RUNS = 8, 16

_HALVINGS = 50


@dataclass(frozen=True)
class _Range:
    """A quantity of n pairs: the least that it may be, what it is likely to be, and the most."""

    least: Floats
    likely: Floats
    most: Floats


def estimate_aligned(
    runs: Runs, known: KnownLengths, is_related: Bools, z: float, unrelated: float
) -> tuple[Floats, Floats, Floats]:
    """Estimate distances from runs of symbols left over.

    Parameters
    ----------
    runs, known
        Of n pairs.
    is_related
        Which pairs have more in common than chance.
    z
        Deviations of a normal distribution to either end of an interval.
    unrelated
        Edits for each character of a replaced block.

    Returns
    -------
    Distances, and the lower and upper ends of intervals that hold them.
    """
    disturbed = _disturbed(runs, known, z)
    in_long = _shares_in_long_runs(runs, z)
    scattered = _scattered_shares(runs, known, is_related, z)
    crossing, more_crossing = _crossing(runs, known, z)
    distances = _compose(
        runs, known, disturbed.likely, in_long.likely, crossing, scattered.likely, unrelated
    )
    low = np.minimum(
        *(
            _compose(
                runs,
                known,
                disturbed.least,
                part,
                0.0 * crossing,
                scattered.most,
                unrelated,
                is_least=True,
            )
            for part in (in_long.least, in_long.most)
        )
    )
    high = np.maximum(
        *(
            _compose(runs, known, disturbed.most, part, more_crossing, scattered.least, 1.0)
            for part in (in_long.least, in_long.most)
        )
    )
    return distances, np.minimum(low, distances), np.maximum(high, distances)


def _disturbed(runs: Runs, known: KnownLengths, z: float) -> _Range:
    """Estimate how many windows of both texts are disturbed."""
    least, likely, most = (
        2 * disturbed_windows(runs.left, runs.right, known, target) + known.difference
        for target in (z, 0.0, -z)
    )
    return _Range(least, likely, most)


def _shares_in_long_runs(runs: Runs, z: float) -> _Range:
    """Estimate which share of the symbols left over is in runs too long for scattered edits."""
    left_over = runs.left + runs.right
    least, most = (
        np.where(runs.n_long > 0, share, 0.0) for share in _wilson(runs.of_long, left_over, z)
    )
    return _Range(least, runs.of_long / np.maximum(left_over, 1), most)


def _scattered_shares(runs: Runs, known: KnownLengths, is_related: Bools, z: float) -> _Range:
    """Estimate which share of what short runs leave over is of isolated edits."""
    # Isolated edits show as (1 - e^-size) / size runs for each symbol that they leave over.
    size = known.isolated
    matched = (runs.matched + 0.5) / (runs.of_short + runs.matched + 1)
    rate = np.where(runs.n_short > 0, runs.n_short / np.maximum(runs.of_short, 1), 1.0)
    low_rate, high_rate = _wilson(
        np.maximum(runs.n_short - 1, 0), np.maximum(runs.of_short - 1, 0), z
    )
    likely = np.clip(size / _run_size(np.minimum(rate / matched, 1)), 0, 1)
    # Symbols in common by chance look like what edits all over left. A few of them, hardly any of
    # the text and in few places, tell nothing of what lies between: it counts as replaced.
    likely[~is_related] = 0
    shared = runs.matched / np.maximum(runs.matched + np.minimum(runs.left, runs.right), 1)
    known_by_share = (shared - _FEW_SHARED) / (_ENOUGH_SHARED - _FEW_SHARED)
    known_by_runs = (runs.n_short - _FEW_RUNS) / (_ENOUGH_RUNS - _FEW_RUNS)
    likely *= np.clip(np.maximum(known_by_share, known_by_runs), 0, 1)
    least = np.clip(size / _run_size(np.minimum(low_rate / matched, 1)), 0, 1)
    # The rest may be in blocks so large that they hardly add runs.
    most = np.clip(high_rate / matched * size / -np.expm1(-size), 0, 1)
    return _Range(least, likely, most)


def _crossing(runs: Runs, known: KnownLengths, z: float) -> tuple[Floats, Floats]:
    """Estimate what was inserted here and deleted there: likely, and at most."""
    crossing = 2 * known.spacing * runs.crossing
    # What one way has more than the lengths tell went the other way somewhere, seen or not.
    most = np.maximum(runs.lesser, runs.greater - known.difference / known.spacing)
    return crossing, 2 * known.spacing * (most + z * np.sqrt(most))


def _compose(
    runs: Runs,
    known: KnownLengths,
    disturbed: Floats,
    in_long: Floats,
    crossing: Floats,
    scattered: Floats,
    unrelated: float,
    *,
    is_least: bool = False,
) -> Floats:
    """Add up edits in long runs and in others.

    ``disturbed`` windows of both texts, of which a share ``in_long`` is in long runs; of the
    others a share ``scattered`` by isolated edits. Beyond what is replaced, the difference of the
    lengths plus ``crossing`` was inserted or deleted. ``is_least`` leaves out edits beside what the
    difference of the lengths may stand for.
    """
    n = known.neighbourhood
    windows = disturbed * in_long
    moved = np.minimum(disturbed, known.difference + crossing)
    moved_in_long = np.minimum(moved, windows)
    # Each block disturbs n - 1 windows in either text that reach into it from outside.
    replaced = np.maximum(windows - 2 * (n - 1) * runs.n_long - moved_in_long, 0)
    blocks = moved_in_long + unrelated * replaced / 2
    rest, moved = disturbed - windows, moved - moved_in_long
    more_blocks = moved + unrelated * (rest - moved) / 2
    # Edits in random places, q for each character, leave a share (1 - q)^n of windows alone.
    room = np.maximum((known.windows - windows) / 2, 1)
    edits = _scattered_edits(rest, room, n)
    if not is_least:
        # They hardly explain a difference of the lengths of twice their number: one block does.
        block = np.clip(known.difference - moved_in_long, 0, rest)
        beside = _scattered_edits(np.maximum(rest - block - 2 * (n - 1), 0), room, n)
        edits = np.where(block > 2 * edits, block + beside, edits)
    return known.bound(blocks + (1 - scattered) * more_blocks + scattered * edits)


def _scattered_edits(disturbed: Floats, room: Floats, neighbourhood: int) -> Floats:
    """Count the edits in random places that disturb so many windows of both texts."""
    alone = 1 - np.minimum(disturbed / 2 / room, 1)
    edits: Floats = room * (1 - alone ** (1 / neighbourhood))
    return edits


def disturbed_windows(left: Floats, right: Floats, known: KnownLengths, target: float) -> Floats:
    """Find how many windows of the shorter text are disturbed.

    The longer one has as many and the known difference. Symbols left over are Poisson in both, so
    that their score at the true number has mean 0 and, divided by its standard deviation, is
    nearly normal; it falls as the number grows. 0 as ``target`` gives the likeliest number, the
    quantiles of the normal distribution its confidence limits (Rao's score interval).
    """
    low, high = np.zeros(len(left)), known.first.copy()
    for _ in range(_HALVINGS):
        middle = np.maximum((low + high) / 2, 1e-9)
        longer = middle + known.difference
        score = left / middle + right / longer - 2 / known.spacing
        information = (1 / middle + 1 / longer) / known.spacing
        is_more = score > target * np.sqrt(information)
        low, high = np.where(is_more, middle, low), np.where(is_more, high, middle)
    return (low + high) / 2


def _run_size(rates: Floats) -> Floats:
    """Symbols that a disturbed place leaves on average, from runs for each symbol left over.

    Places with a Poisson number of symbols, of mean x, show as (1 - e^-x) / x runs a symbol.
    """
    sizes = np.geomspace(1e-3, 1e5, 2000)
    sizes_by_rate: Floats = np.interp(rates, (-np.expm1(-sizes) / sizes)[::-1], sizes[::-1])
    return sizes_by_rate


def _wilson(successes: Floats, trials: Floats, z: float) -> tuple[Floats, Floats]:
    return wilson_intervals(successes / np.maximum(trials, 1e-9), trials, z)
