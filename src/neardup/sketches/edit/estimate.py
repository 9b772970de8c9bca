"""Edit distances of texts, estimated from their signatures.

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

from neardup.errors import InvalidParameterError
from neardup.sketches.edit.distances import as_strings, levenshtein, unrelated_distances
from neardup.sketches.edit.runs import Runs, split_runs, spreads
from neardup.sketches.edit.signature import LEAST_ALIGNED_LETTERS, EditScheme
from neardup.sketches.intervals import normal_quantile, wilson_intervals
from neardup.tables import Bools, EditEstimates, EditSignatures, Floats, Int64s

# Signatures with fewer symbols say nothing of use.
LEAST_SYMBOLS = 20
# Deviations nearer than unrelated signatures from which on texts are taken for related.
SIGNIFICANT = 3.0

# Shares of the shorter text's symbols in common, and runs of symbols left over: below the first of
# both what differs counts as replaced, from the second of either on as edited here and there if it
# looks so. With a neighbourhood of 12, 28 % of the symbols remain if a tenth of the characters is
# edited.
_FEW_SHARED, _ENOUGH_SHARED = 0.15, 0.3
_FEW_RUNS, _ENOUGH_RUNS = 8, 16

_HALVINGS = 50


def edit_estimates(
    signatures: EditSignatures,
    scheme: EditScheme,
    left: Int64s,
    right: Int64s,
    *,
    align: bool = True,
    confidence: float = 0.95,
    unrelated: float = 0.78,
    workers: int = 1,
) -> EditEstimates:
    """Estimate the edit distances of pairs of texts from their signatures.

    Parameters
    ----------
    signatures
        n signatures.
    scheme
        The one they were made by.
    left, right
        Pairs of their numbers (n_pairs).
    align
        Whether to look where the signatures differ, to tell blocks from scattered edits. Else the
        estimate is what the paper has, compression times the distance of the signatures, divided
        by what it is for unrelated ones: right for blocks, and for isolated edits too large by up
        to twice the neighbourhood, which the interval allows for.
    confidence
        How often the distance is to lie in the interval, above 0 and below 1.
    unrelated
        Distance of unrelated texts as a share of their length, above 0 and at most 1, which a
        replaced block counts for. 0.78 is that of English; it is nearer 1 where characters are
        many.
    workers
        Threads for distances.

    Returns
    -------
    Estimates in the order of the pairs. Their distances and intervals are never below the
    difference of the lengths, nor above the longer length.

    Raises
    ------
    InvalidParameterError
        If a share is outside its range, or ``align`` is asked for with fewer than 65,536 letters.

    Notes
    -----
    A block inserted or deleted is known by the lengths. For one replaced the estimate has a
    standard deviation of compression * sqrt(S) / 2, S being the symbols left over in both texts.
    Isolated edits and words replaced cannot be told apart by a few symbols: the ends of an interval
    may differ by the neighbourhood, as a factor, and dozens of isolated edits are estimated two to
    three times too many on average.

    Significances compare with signatures of random symbols as long, simulated with fixed seeds;
    the standard deviation is taken as one symbol at least. Above 3 are fewer than 1 in 100 pairs of
    up to 4,096 random symbols; for longer ones means are extrapolated, and 5 is a safer bound. Only
    nearer pairs are significant, none is for being far apart. Phrases that all texts share, such as
    notices, are a relation to it.

    Some 50,000 pairs of 135 symbols a second on one core, 200,000 without ``align``.

    References
    ----------
    Coates (2011), A fast metric of document similarity, sections 3 to 5.
    """
    _check_share("confidence", confidence, is_one_allowed=False)
    _check_share("unrelated", unrelated, is_one_allowed=True)
    if align and scheme.letters < LEAST_ALIGNED_LETTERS:
        message = (
            f"letters must be at least {LEAST_ALIGNED_LETTERS:,} to align signatures, got "
            f"{scheme.letters:,}; use more, or align=False"
        )
        raise InvalidParameterError(message)
    sizes, lengths = np.diff(signatures.offsets), signatures.lengths
    shorter = np.minimum(lengths[left], lengths[right]).astype(np.float64)
    longer = np.maximum(lengths[left], lengths[right]).astype(np.float64)
    is_usable: Bools = np.minimum(sizes[left], sizes[right]) >= LEAST_SYMBOLS
    low, high = longer - shorter, longer.copy()
    distances, significances, spread = (np.full(len(left), np.nan) for _ in range(3))
    rows = np.flatnonzero(is_usable)
    left, right = left[rows], right[rows]
    strings = as_strings(signatures)
    of_signatures = levenshtein(strings[left], strings[right], None, workers)
    expected, deviations = unrelated_distances(sizes[left], sizes[right], scheme.letters)
    significances[rows] = (expected - of_signatures) / deviations
    is_related = significances[rows] > SIGNIFICANT
    # Sides by length: what the shorter text has is the less, and known the better.
    # Of equal lengths the signatures decide, so that a pair is the same either way round.
    is_turned = lengths[left] > lengths[right]
    is_turned |= (lengths[left] == lengths[right]) & (strings[left] > strings[right])
    first, second = np.where(is_turned, right, left), np.where(is_turned, left, right)
    known = _Lengths(
        scheme.neighbourhood,
        lengths[first].astype(np.float64),
        lengths[second].astype(np.float64),
        (sizes[first] + sizes[second]).astype(np.float64),
    )
    if align:
        runs = split_runs(strings, first, second, known.isolated)
        estimated = _estimate_aligned(
            runs, known, is_related, normal_quantile(confidence), unrelated
        )
        spread[rows] = spreads(runs)
    else:
        shares = expected / np.maximum(sizes[left], sizes[right])
        estimated = _estimate_unaligned(of_signatures / shares, known, normal_quantile(confidence))
    # To a thousandth, which hides that equal signatures come out at 2e-10.
    distances[rows] = np.round(estimated[0], 3)
    low[rows], high[rows] = np.floor(estimated[1]), np.ceil(estimated[2])
    return EditEstimates(distances, low, high, significances, spread, is_usable)


@dataclass(frozen=True)
class _Lengths:
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


def _estimate_aligned(
    runs: Runs, known: _Lengths, is_related: Bools, z: float, unrelated: float
) -> tuple[Floats, Floats, Floats]:
    """Give estimate and interval from runs."""
    least, likely, most = (
        2 * _disturbed_windows(runs.left, runs.right, known, target) + known.difference
        for target in (z, 0.0, -z)
    )
    left_over = runs.left + runs.right
    in_long = runs.of_long / np.maximum(left_over, 1)
    less_in_long, more_in_long = (
        np.where(runs.n_long > 0, share, 0.0) for share in _wilson(runs.of_long, left_over, z)
    )
    # Isolated edits show as (1 - e^-size) / size runs for each symbol that they leave over.
    size = known.isolated
    matched = (runs.matched + 0.5) / (runs.of_short + runs.matched + 1)
    rate = np.where(runs.n_short > 0, runs.n_short / np.maximum(runs.of_short, 1), 1.0)
    low_rate, high_rate = _wilson(
        np.maximum(runs.n_short - 1, 0), np.maximum(runs.of_short - 1, 0), z
    )
    scattered = np.clip(size / _run_size(np.minimum(rate / matched, 1)), 0, 1)
    # Symbols in common by chance look like what edits all over left. A few of them, hardly any of
    # the text and in few places, tell nothing of what lies between: it counts as replaced.
    scattered[~is_related] = 0
    shared = runs.matched / np.maximum(runs.matched + np.minimum(runs.left, runs.right), 1)
    known_by_share = (shared - _FEW_SHARED) / (_ENOUGH_SHARED - _FEW_SHARED)
    known_by_runs = (runs.n_short - _FEW_RUNS) / (_ENOUGH_RUNS - _FEW_RUNS)
    scattered *= np.clip(np.maximum(known_by_share, known_by_runs), 0, 1)
    less_scattered = np.clip(size / _run_size(np.minimum(low_rate / matched, 1)), 0, 1)
    # The rest may be in blocks so large that they hardly add runs.
    more_scattered = np.clip(high_rate / matched * size / -np.expm1(-size), 0, 1)
    crossing = 2 * known.spacing * runs.crossing
    # What one way has more than the lengths tell went the other way somewhere, seen or not.
    more_crossing = np.maximum(runs.lesser, runs.greater - known.difference / known.spacing)
    more_crossing = 2 * known.spacing * (more_crossing + z * np.sqrt(more_crossing))
    distances = _compose(runs, known, likely, in_long, crossing, scattered, unrelated)
    low = np.minimum(
        *(
            _compose(
                runs, known, least, part, 0.0 * crossing, more_scattered, unrelated, is_least=True
            )
            for part in (less_in_long, more_in_long)
        )
    )
    high = np.maximum(
        *(
            _compose(runs, known, most, part, more_crossing, less_scattered, 1.0)
            for part in (less_in_long, more_in_long)
        )
    )
    return distances, np.minimum(low, distances), np.maximum(high, distances)


def _compose(
    runs: Runs,
    known: _Lengths,
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


def _estimate_unaligned(
    symbols: Floats, known: _Lengths, z: float
) -> tuple[Floats, Floats, Floats]:
    """Give estimate and interval from distances of signatures, by unrelated ones corrected."""
    spread = z * np.sqrt(symbols + z * z / 4)
    low = known.spacing * (symbols + z * z / 2 - spread) / (2 * known.neighbourhood)
    high = known.spacing * (symbols + z * z / 2 + spread)
    return (
        known.bound(known.spacing * symbols),
        known.bound(np.maximum(low, 0)),
        known.bound(high),
    )


def _disturbed_windows(left: Floats, right: Floats, known: _Lengths, target: float) -> Floats:
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


def _check_share(name: str, value: float, *, is_one_allowed: bool) -> None:
    if not (0 < value < 1 or (is_one_allowed and value == 1)):
        end = "1]" if is_one_allowed else "1)"
        message = f"{name} must lie in (0, {end}, got {value}"
        raise InvalidParameterError(message)


def _run_size(rates: Floats) -> Floats:
    """Symbols that a disturbed place leaves on average, from runs for each symbol left over.

    Places with a Poisson number of symbols, of mean x, show as (1 - e^-x) / x runs a symbol.
    """
    sizes = np.geomspace(1e-3, 1e5, 2000)
    sizes_by_rate: Floats = np.interp(rates, (-np.expm1(-sizes) / sizes)[::-1], sizes[::-1])
    return sizes_by_rate


def _wilson(successes: Floats, trials: Floats, z: float) -> tuple[Floats, Floats]:
    return wilson_intervals(successes / np.maximum(trials, 1e-9), trials, z)
