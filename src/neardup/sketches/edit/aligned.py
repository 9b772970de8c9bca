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

from neardup.sketches.intervals import wilson_intervals
from neardup.tables import Bools, Floats, Int64s

# What the lengths of texts and signatures say before any of them are compared.


@dataclass(frozen=True)
class KnownLengths:
    """What is known of n pairs beforehand: characters of both texts, and symbols of both together.

    ``first`` is the shorter text.
    """

    neighbourhood: int
    first: Floats
    second: Floats
    symbols: Floats

    @property
    def difference(self) -> Floats:
        """Characters, and windows, that the longer text has more."""
        return self.second - self.first

    @property
    def windows(self) -> Floats:
        """Windows of both texts together."""
        return self.first + self.second - 2.0 * (self.neighbourhood - 1)

    @property
    def spacing(self) -> Floats:
        """Windows for each symbol."""
        return self.windows / self.symbols

    @property
    def isolated(self) -> Floats:
        """Symbols that one edit disturbs in both texts, on average."""
        return 2 * self.neighbourhood / self.spacing

    def bound(self, distances: Floats) -> Floats:
        """Keep distances between the difference of the lengths and the longer one."""
        return np.clip(distances, self.difference, self.second)


# Where two signatures differ: the runs of symbols that an alignment leaves over.

# One signature in so many has a run by chance that is taken for a block.
_CHANCE_RUNS = 100
_ROUNDS = 5


@dataclass(frozen=True)
class Runs:
    """What alignments of n pairs leave over, added up for each pair.

    ``left`` and ``right`` are symbols left over in either text, ``matched`` those that are not;
    runs lie between matched symbols. ``n_long`` runs with ``of_long`` symbols of both texts are
    too long for scattered edits, the ``n_short`` others with ``of_short`` are not. ``crossing`` is
    the lesser of what long runs insert and delete beyond what they replace, corrected for chance.
    ``lesser`` and ``greater`` are both for all runs of two symbols or more, uncorrected.
    """

    left: Floats
    right: Floats
    matched: Floats
    n_long: Floats
    of_long: Floats
    n_short: Floats
    of_short: Floats
    crossing: Floats
    lesser: Floats
    greater: Floats


def split_runs(blocks: Int64s, size: Floats) -> Runs:
    """Add up the runs between the symbols that aligned pairs of signatures share.

    ``blocks`` are those of ``common_blocks``; ``size`` (n_pairs) is the mean number of symbols that
    an isolated edit leaves over, seen or not.
    """
    n = len(size)
    pairs, first_starts, second_starts, sizes = blocks.T
    is_same = np.append([False], pairs[1:] == pairs[:-1])[: len(pairs)]
    inserted, deleted = (
        starts - np.where(is_same, np.roll(starts + sizes, 1), 0)
        for starts in (second_starts, first_starts)
    )
    totals = (inserted + deleted).astype(np.float64)
    matched = _add_up(pairs, sizes, n)
    is_long = _find_long_runs(pairs, totals, matched, size)
    is_short = (totals > 0) & ~is_long
    # Both counts are Poisson: the square of their difference is too large by their sum.
    surplus = (inserted - deleted).astype(np.float64)
    excess = np.sign(surplus) * np.sqrt(np.maximum(surplus**2 - totals, 0))
    crossing, _ = _both_ways(pairs, excess * is_long, n)
    lesser, greater = _both_ways(pairs, surplus * (totals > 1), n)
    return Runs(
        _add_up(pairs, deleted, n),
        _add_up(pairs, inserted, n),
        matched,
        _add_up(pairs, is_long, n),
        _add_up(pairs, is_long * totals, n),
        _add_up(pairs, is_short, n),
        _add_up(pairs, is_short * totals, n),
        crossing,
        lesser,
        greater,
    )


def spreads(runs: Runs) -> Floats:
    """Compare the number of runs with that of as many symbols left over in random places."""
    left_over, n_runs = runs.left + runs.right, runs.n_long + runs.n_short
    expected = left_over * (runs.matched + 1) / np.maximum(left_over + runs.matched, 1)
    is_known = expected > 1
    spreads = (n_runs - 1) / np.where(is_known, expected - 1, 1)
    return np.where(is_known, np.clip(spreads, 0, 1), np.nan)


def longest_isolated(size: Floats) -> Floats:
    """Return the most symbols that one isolated edit leaves, but for once in thousands of times.

    They are a Poisson number of mean ``size``. A long run has more.
    """
    longest: Floats = np.floor(size + 3.5 * np.sqrt(size) + 2)
    return longest


def _find_long_runs(pairs: Int64s, totals: Floats, matched: Floats, size: Floats) -> Bools:
    """Tell runs that are longer than any among as many scattered symbols would be by chance."""
    is_long: Bools = np.zeros(len(pairs), np.bool_)
    isolated = longest_isolated(size)
    # Symbols left over come in groups of this mean, where there are any.
    group = size / -np.expm1(-size)
    for _ in range(_ROUNDS):
        scattered = _add_up(pairs, np.where(is_long, 0.0, totals), len(matched))
        share = (scattered + 0.5) / (scattered + matched + 1)
        # Of N groups, N (1 - share) share^r begin runs of r or more.
        chances = _CHANCE_RUNS * np.maximum((scattered + matched) * (1 - share), 1)
        longest = np.maximum(-group * np.log(chances) / np.log(share), isolated)
        is_long = totals > longest[pairs]
    return is_long


def _both_ways(pairs: Int64s, values: Floats, n: int) -> tuple[Floats, Floats]:
    """Add up positive and negative values of each pair; give the lesser and the greater sum."""
    up = _add_up(pairs, np.maximum(values, 0), n)
    down = _add_up(pairs, np.maximum(-values, 0), n)
    return np.minimum(up, down), np.maximum(up, down)


def _add_up(pairs: Int64s, values: Int64s | Floats | Bools, n: int) -> Floats:
    return np.bincount(pairs, values, n).astype(np.float64)


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
    difference, spacing = known.difference, known.spacing
    for _ in range(_HALVINGS):
        middle = np.maximum((low + high) / 2, 1e-9)
        longer = middle + difference
        score = left / middle + right / longer - 2 / spacing
        information = (1 / middle + 1 / longer) / spacing
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


# The least edit distance that may be estimated for texts of which little is in common.
#
# Of W windows of two texts D are disturbed; n is the neighbourhood. An estimate (``aligned.py``)
# counts those in long runs ``UNRELATED`` / 2 each at least, but for 2 (n - 1) windows a run that
# reach into it from outside; the rest as much, or as edits in random places, of which h(y) = 1 - (1
# - y)^(1/n) for each character disturb a share y of the windows. So an estimate is at least W / 2
# times a mean of ``UNRELATED`` times the share that is not outside, and of h(y), in which the
# shares of windows add up to x = D / W. It is not below the largest convex function g that is
# nowhere above h and, at 1, not above the former: h up to where a line from there touches it, and
# then the line.

# Distance of unrelated texts as a share of their length: what English has.
UNRELATED = 0.78


def least_distances(known: KnownLengths, common: Floats, first: Floats) -> Floats:
    """Return the least distances that may be estimated, aligned, for n pairs.

    Parameters
    ----------
    known
        Lengths and numbers of symbols.
    common
        Symbols that both have in common, wherever they are, at most.
    first
        Symbols of the shorter text.
    """
    left, right = first - common, known.symbols - first - common
    disturbed = 2 * disturbed_windows(left, right, known, 0.0) + known.difference
    end = UNRELATED * _counted(known.neighbourhood, known.spacing)
    shares = np.minimum(disturbed / known.windows, 1.0)
    least = known.windows / 2 * _floor(shares, end, known.neighbourhood)
    return np.maximum(least, known.difference)


def least_common(threshold: float, shortest: int, spacing: float, neighbourhood: int) -> float:
    """Return the least Dice similarity of signatures of texts whose estimate is a similarity.

    Parameters
    ----------
    threshold
        The similarity, or a higher one.
    shortest
        Least characters of a text.
    spacing
        Least windows for each symbol of a text.
    neighbourhood
        Characters in a window.

    Returns
    -------
    A share; 0 or less if nothing is known.
    """
    edge = 2 * (neighbourhood - 1) / shortest
    # The longer text as a share of all windows, and what it has more.
    longer = 1 / max(1 + threshold - edge, 1e-9)
    difference = (1 - threshold) * longer
    allowed = 2 * (1 - threshold) * longer
    n = neighbourhood
    ends = UNRELATED * _counted(n, np.array([spacing]))
    end, start, value = (float(numbers[0]) for numbers in (ends, *_touching(ends, n)))
    if allowed < value:
        disturbed = 1 - (1 - allowed) ** n
    elif allowed < end:
        disturbed = start + (1 - start) * (allowed - value) / (end - value)
    else:
        disturbed = 1.0
    # Symbols may be less frequent in what the longer text has more.
    return 1 - disturbed - difference


def most_similar_without_symbols(threshold: float, shortest: int, neighbourhood: int) -> float:
    """Return how similar texts without a symbol in common may be estimated to be at most.

    Their lengths are a <= b with a >= threshold * b; ``shortest`` is the least length. All symbols
    are left over, in one run: of windows that are disturbed there are 2 a - (b - a) - 2 (n - 1) or
    more beside the difference of the lengths, which counts wholly.
    """
    half = UNRELATED / 2
    # Linear in a / b, so that it is greatest at one end.
    highest = half + max((1 - 3 * half) * threshold, 1 - 3 * half)
    return highest + 4 * half * (neighbourhood - 1) / shortest


def _counted(neighbourhood: int, spacing: Floats) -> Floats:
    """Return the least share of the windows of long runs that are not outside of their blocks.

    A long run has more symbols than an isolated edit leaves over, and for each of them at least
    half a ``spacing`` of windows is disturbed.
    """
    least_symbols = longest_isolated(2 * neighbourhood / spacing) + 1
    return np.maximum(1 - 4 * (neighbourhood - 1) / (spacing * least_symbols), 0)


def _touching(end: Floats, n: int) -> tuple[Floats, Floats]:
    """Return where the line from (1, ``end``) touches h, and h there; 0 and 0 if nowhere."""
    # With z = (1 - x)^(1/n) the slopes are equal at z / n = z - (1 - end).
    z = np.minimum((1 - end) * n / max(n - 1, 1e-9), 1.0)
    return 1 - z**n, 1 - z


def _floor(shares: Floats, end: Floats, n: int) -> Floats:
    """Return g of shares of disturbed windows."""
    start, value = _touching(end, n)
    line = value + (shares - start) / np.maximum(1 - start, 1e-300) * (end - value)
    floor: Floats = np.where(shares < start, 1 - (1 - shares) ** (1 / n), line)
    return floor
