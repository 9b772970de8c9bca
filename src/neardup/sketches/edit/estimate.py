"""Edit distances of texts, estimated from their signatures."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import LCSseq, Levenshtein

from neardup.errors import InvalidParameterError
from neardup.sketches.edit.aligned import (
    UNRELATED,
    KnownLengths,
    estimate_aligned,
    split_runs,
    spreads,
)
from neardup.sketches.edit.signature import LEAST_ALIGNED_LETTERS, EditScheme
from neardup.sketches.intervals import normal_quantile
from neardup.tables import (
    Bools,
    EditEstimates,
    EditPlaces,
    EditSignatures,
    Floats,
    Int64s,
    Texts,
    Uint32s,
    offsets_of,
)

# Edit distances of many pairs at once: of signatures, of texts, and of unrelated signatures.

Objects = npt.NDArray[np.object_]

# A symbol is a code point while signatures are compared; surrogates are left out.
_FIRST_SURROGATE, _N_SURROGATES, _CODE_POINTS = 0xD800, 0x800, 0x110000 - 0x800

# From so many pairs on a kernel is worth loading.
MANY_PAIRS = 1000

# Lengths and ratios of lengths at which unrelated signatures are compared, and how many pairs.
_LENGTHS = tuple(1 << k for k in range(4, 13))
_RATIOS = np.linspace(0, 1, 17)
_N_UNRELATED = 100


def signature_distances(
    signatures: EditSignatures,
    left: Int64s,
    right: Int64s,
    *,
    limit: int | None = None,
) -> Int64s:
    """Count the edits between the signatures of pairs of texts.

    Parameters
    ----------
    signatures
        n signatures of one scheme.
    left, right
        Pairs of their numbers (n_pairs).
    limit
        Distances beyond it need not be worked out: they are ``limit`` + 1.

    Returns
    -------
    Insertions, deletions and substitutions of symbols (n_pairs). Symbols are compared by 20 bits:
    two different ones are taken for the same once in 1,112,064 times, never if there are no more
    letters.

    Notes
    -----
    Some 1,500,000 pairs of 135 symbols a second on one core where few symbols are in common; twice
    as many if pairs of one left signature follow each other. Where more than 64 symbols match, in
    texts that are alike or where there are few letters, 200,000; more with a limit.
    """
    if len(left) < MANY_PAIRS:
        strings = as_strings(signatures)
        return levenshtein(strings[left], strings[right], limit)
    from neardup.kernels.edit import symbols as symbol_matches

    distances: Int64s = np.empty(len(left), np.int64)
    symbol_matches.signature_distances(
        as_codes(signatures), signatures.offsets, left, right, distances
    )
    if limit is not None:
        np.minimum(distances, limit + 1, out=distances)
    rest = np.flatnonzero(distances == symbol_matches.UNKNOWN)
    if len(rest):
        strings = as_strings(signatures)
        distances[rest] = levenshtein(strings[left[rest]], strings[right[rest]], limit)
    return distances


def exact_distances(
    texts: Texts, left: Int64s, right: Int64s, *, limit: int | None = None
) -> Int64s:
    """Count the edits between pairs of texts; for those too short for signatures.

    Parameters
    ----------
    texts
        n texts.
    left, right
        Pairs of their numbers (n_pairs).
    limit
        Distances beyond it need not be worked out: they are ``limit`` + 1.

    Returns
    -------
    Insertions, deletions and substitutions of characters (n_pairs).

    Notes
    -----
    Time is the product of the lengths, a 64th of it for a pair.
    """
    strings: Objects = np.empty(len(texts), np.object_)
    for number in np.unique(np.concatenate([left, right])).tolist():
        start, stop = texts.offsets[number], texts.offsets[number + 1]
        strings[number] = texts.data[start:stop].tobytes().decode()
    return levenshtein(strings[left], strings[right], limit)


def unrelated_distances(left: Int64s, right: Int64s, letters: int) -> tuple[Floats, Floats]:
    """Give mean and standard deviation of the distance of unrelated signatures.

    Parameters
    ----------
    left, right
        Symbols of the signatures of each pair (n_pairs).
    letters
        Different symbols, all as frequent.

    Returns
    -------
    Means, and standard deviations of one symbol or more, both (n_pairs).

    Notes
    -----
    From 100 pairs of random signatures, with fixed seeds, for each of 17 ratios of lengths and
    lengths from 16 to 4,096 by powers of two. In between, and beyond, the share of the longer
    length is linear in the length to the power of -2/3, and the logarithm of the deviation in that
    of the length. The first call for a length above 2,048 takes a second or two.
    """
    longer = np.maximum(np.maximum(left, right), _LENGTHS[0]).astype(np.float64)
    ratios = np.minimum(left, right) / longer
    brackets = np.clip(np.searchsorted(_LENGTHS, longer, "right") - 1, 0, len(_LENGTHS) - 2)
    means, deviations = np.empty(len(longer)), np.empty(len(longer))
    for bracket in np.unique(brackets).tolist():
        rows = brackets == bracket
        below, above = _LENGTHS[bracket], _LENGTHS[bracket + 1]
        ends = [_unrelated_shares(letters, length) for length in (below, above)]
        low, high = (np.interp(ratios[rows], _RATIOS, mean) for mean, _ in ends)
        power = longer[rows] ** (-2 / 3)
        weight = (power - below ** (-2 / 3)) / (above ** (-2 / 3) - below ** (-2 / 3))
        means[rows] = longer[rows] * (low + weight * (high - low))
        low, high = (np.interp(ratios[rows], _RATIOS, deviation) for _, deviation in ends)
        weight = np.log2(longer[rows] / below)
        deviations[rows] = longer[rows] * low * (high / low) ** weight
    return means, np.maximum(deviations, 1.0)


def as_strings(signatures: EditSignatures) -> Objects:
    """Give signatures in which each symbol is one character; RapidFuzz compares those fastest."""
    codes = as_codes(signatures)
    codes[codes >= _FIRST_SURROGATE] += np.uint32(_N_SURROGATES)
    text = codes.astype("<u4").tobytes().decode("utf-32-le")
    strings: Objects = np.empty(len(signatures), np.object_)
    offsets = signatures.offsets.tolist()
    strings[:] = [text[start:stop] for start, stop in pairwise(offsets)]
    return strings


def as_codes(signatures: EditSignatures) -> Uint32s:
    """Give the symbols by which signatures are compared."""
    codes: Uint32s = signatures.symbols % np.uint32(_CODE_POINTS)
    return codes


def levenshtein(left: Objects, right: Objects, limit: int | None = None) -> Int64s:
    """Count the edits between strings; ``limit`` + 1 where they are more than ``limit``."""
    distances: Int64s = process.cpdist(
        left,
        right,
        scorer=Levenshtein.distance,
        score_cutoff=limit,
        dtype=np.int64,
    )
    return distances


@lru_cache(maxsize=256)
def _unrelated_shares(letters: int, length: int) -> tuple[Floats, Floats]:
    """Simulate distances of random signatures as shares of ``length``: mean, deviation by ratio.

    Deviations are of a hundredth of a symbol at least.
    """
    generator = np.random.default_rng([letters, length])
    n_letters = min(letters, _CODE_POINTS)
    shorter = np.rint(_RATIOS * length).astype(np.int64)
    sizes = np.stack([np.full(len(_RATIOS), length), shorter], axis=1).repeat(_N_UNRELATED, axis=0)
    offsets = offsets_of(sizes)
    symbols = generator.integers(0, n_letters, int(offsets[-1]), np.uint32)
    strings = as_strings(EditSignatures(symbols, offsets, np.zeros(sizes.size, np.int64)))
    shares = levenshtein(strings[0::2], strings[1::2]).reshape(len(_RATIOS), -1) / length
    return shares.mean(axis=1), np.maximum(shares.std(axis=1, ddof=1), 0.01 / length)


# Alignments of many pairs of signatures at once, as the blocks of symbols that both have.

# Blocks that are found between two looks at how many there are.
_ROOM = 1 << 16


def common_blocks(signatures: EditSignatures, left: Int64s, right: Int64s) -> Int64s:
    """Align pairs of signatures so that as many symbols as possible are in common, in order.

    Parameters
    ----------
    signatures
        n signatures of one scheme.
    left, right
        Pairs of their numbers (n_pairs).

    Returns
    -------
    A row for each block: the pair, where it begins in the left and in the right signature, and how
    many symbols are equal from there on. The pairs are in order, the blocks of a pair too; its last
    one is at both ends, and empty. Of equally good alignments it is that of RapidFuzz.
    """
    if len(left) < MANY_PAIRS:
        return _by_rapidfuzz(signatures, left, right, np.arange(len(left), dtype=np.int64))
    from neardup.kernels.edit import symbols
    from neardup.kernels.edit.symbols import UNKNOWN

    codes = as_codes(signatures)
    n_blocks: Int64s = np.empty(len(left), np.int64)
    parts: list[Int64s] = []
    pair = 0
    while pair < len(left):
        blocks: Int64s = np.empty((_ROOM, 4), np.int64)
        before = pair
        pair = symbols.common_blocks(
            codes, signatures.offsets, left, right, before, blocks, n_blocks
        )
        parts.append(blocks[: np.maximum(n_blocks[before:pair], 0).sum()].copy())
    rest = np.flatnonzero(n_blocks == UNKNOWN)
    parts.append(_by_rapidfuzz(signatures, left, right, rest))
    found = np.concatenate(parts)
    ordered: Int64s = found[np.argsort(found[:, 0], kind="stable")]
    return ordered


def _by_rapidfuzz(signatures: EditSignatures, left: Int64s, right: Int64s, pairs: Int64s) -> Int64s:
    """Align some of the pairs, one after another."""
    rows: list[tuple[int, int, int, int]] = []
    strings = as_strings(signatures) if len(pairs) else np.empty(0, np.object_)
    for pair, first, second in zip(
        pairs.tolist(), left[pairs].tolist(), right[pairs].tolist(), strict=True
    ):
        blocks = LCSseq.editops(strings[first], strings[second]).as_matching_blocks()
        rows.extend((pair, block.a, block.b, block.size) for block in blocks)
    return np.array(rows, np.int64).reshape(-1, 4)


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


# Where a text lies inside a longer one, found from their signatures.


def place_inside(
    signatures: EditSignatures, scheme: EditScheme, inner: Int64s, outer: Int64s
) -> EditPlaces:
    """Find where texts lie inside others, perhaps edited.

    Parameters
    ----------
    signatures
        n signatures; with positions, places are exact where the ends are not edited.
    scheme
        The one they were made by.
    inner, outer
        Pairs of their numbers (n_pairs): the text looked for, the one it may be in.

    Returns
    -------
    Places in the outer texts, and the share of the inner signature's symbols that is there: of an
    unrelated one next to nothing, of a text with a share x of its windows disturbed about 1 - x. A
    place of share 0 is empty. Little can be said of less than 20 symbols.

    The ends are where they would be if nothing was inserted or deleted between them and the first
    and the last symbol found. Without positions a symbol is taken to be where it would be if all
    were equally far apart; in the middle of S symbols that has a standard deviation of
    compression * sqrt(S) / 2, less near the ends.

    Raises
    ------
    InvalidParameterError
        If the scheme has fewer than 65,536 letters.

    Notes
    -----
    Time is the product of the lengths, some 200 million products of symbols a second.
    """
    from neardup.kernels.edit import signature

    if scheme.letters < LEAST_ALIGNED_LETTERS:
        message = (
            f"letters must be at least {LEAST_ALIGNED_LETTERS:,} to find places, got "
            f"{scheme.letters:,}; use more"
        )
        raise InvalidParameterError(message)
    costs, starts, stops = (np.empty(len(inner), np.int64) for _ in range(3))
    signature.place_signatures(
        signatures.symbols, signatures.offsets, inner, outer, costs, starts, stops
    )
    begins, ends = np.zeros_like(starts), np.zeros_like(starts)
    shares = np.zeros(len(inner), np.float64)
    strings, places = as_strings(signatures), _symbol_places(signatures)
    for pair in np.flatnonzero(stops > starts).tolist():
        wanted, holder = inner[pair], outer[pair]
        stretch = strings[holder][starts[pair] : stops[pair]]
        *blocks, _ = LCSseq.editops(strings[wanted], stretch).as_matching_blocks()
        if not blocks:
            continue
        first, last = blocks[0], blocks[-1]
        own, base = signatures.offsets[wanted], signatures.offsets[holder] + starts[pair]
        before = places[own + first.a]
        after = signatures.lengths[wanted] - places[own + last.a + last.size - 1]
        length = signatures.lengths[holder]
        begins[pair] = max(places[base + first.b] - before, 0)
        ends[pair] = min(places[base + last.b + last.size - 1] + after, length)
        shares[pair] = sum(block.size for block in blocks) / len(strings[wanted])
    return EditPlaces(begins, ends, shares)


def _symbol_places(signatures: EditSignatures) -> Int64s:
    """Give the character of each symbol's window, or where it is likely to be."""
    if signatures.positions is not None:
        return signatures.positions
    sizes = np.diff(signatures.offsets)
    numbers = np.arange(len(signatures.symbols)) - np.repeat(signatures.offsets[:-1], sizes)
    spacing = np.repeat(signatures.lengths / (sizes + 1), sizes)
    places: Int64s = np.rint((numbers + 1) * spacing).astype(np.int64)
    return places
