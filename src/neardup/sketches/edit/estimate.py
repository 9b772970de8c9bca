"""Edit distances of texts, estimated from their signatures."""

from __future__ import annotations

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.sketches.edit.aligned import estimate_aligned
from neardup.sketches.edit.blocks import common_blocks
from neardup.sketches.edit.distances import (
    as_strings,
    signature_distances,
    unrelated_distances,
)
from neardup.sketches.edit.floor import UNRELATED
from neardup.sketches.edit.lengths import KnownLengths
from neardup.sketches.edit.runs import split_runs, spreads
from neardup.sketches.edit.signature import LEAST_ALIGNED_LETTERS, EditScheme
from neardup.sketches.intervals import normal_quantile
from neardup.tables import Bools, EditEstimates, EditSignatures, Floats, Int64s

# Signatures with fewer symbols say nothing of use.
LEAST_SYMBOLS = 20
# Deviations nearer than unrelated signatures from which on texts are taken for related.
SIGNIFICANT = 3.0


def edit_estimates(
    signatures: EditSignatures,
    scheme: EditScheme,
    left: Int64s,
    right: Int64s,
    *,
    align: bool = True,
    confidence: float = 0.95,
    unrelated: float = UNRELATED,
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

    Some 100,000 pairs of 135 symbols a second on one core, 700,000 without ``align``, where few
    symbols are in common; a quarter of that where most are.

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
    of_signatures = signature_distances(signatures, left, right)
    expected, deviations = expected_distances(sizes[left], sizes[right], scheme.letters)
    significances[rows] = (expected - of_signatures) / deviations
    is_related = significances[rows] > SIGNIFICANT
    # Sides by length: what the shorter text has is the less, and known the better.
    # Of equal lengths the signatures decide, so that a pair is the same either way round.
    is_turned = lengths[left] > lengths[right]
    ties = np.flatnonzero(lengths[left] == lengths[right])
    if len(ties):
        strings = as_strings(signatures)
        is_turned[ties] = strings[left[ties]] > strings[right[ties]]
    first, second = np.where(is_turned, right, left), np.where(is_turned, left, right)
    known = KnownLengths(
        scheme.neighbourhood,
        lengths[first].astype(np.float64),
        lengths[second].astype(np.float64),
        (sizes[first] + sizes[second]).astype(np.float64),
    )
    if align:
        runs = split_runs(common_blocks(signatures, first, second), known.isolated)
        estimated = estimate_aligned(
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


def expected_distances(left: Int64s, right: Int64s, letters: int) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the distance of unrelated signatures.

    As of ``unrelated_distances``; a mean that was extrapolated is not above the longer signature.
    """
    expected, deviations = unrelated_distances(left, right, letters)
    return np.minimum(expected, np.maximum(left, right)), deviations


def _estimate_unaligned(
    symbols: Floats, known: KnownLengths, z: float
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


def _check_share(name: str, value: float, *, is_one_allowed: bool) -> None:
    if not (0 < value < 1 or (is_one_allowed and value == 1)):
        end = "1]" if is_one_allowed else "1)"
        message = f"{name} must lie in (0, {end}, got {value}"
        raise InvalidParameterError(message)
