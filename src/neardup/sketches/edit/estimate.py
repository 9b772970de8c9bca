"""Edit distances of texts, estimated from their signatures."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup.sketches.edit.signature import EditScheme
from neardup.sketches.intervals import QUANTILE_95
from neardup.tables import (
    Bools,
    EditEstimates,
    EditSignatures,
    Floats,
    Int64s,
    Texts,
    Uint32s,
    offsets_of,
)

Objects = npt.NDArray[np.object_]

# Signatures with fewer symbols are useless for estimates.
LEAST_SYMBOLS = 20

# A symbol is a code point while signatures are compared; surrogates are left out.
_FIRST_SURROGATE, _N_SURROGATES, _CODE_POINTS = 0xD800, 0x800, 0x110000 - 0x800

# Lengths and ratios of lengths at which unrelated signatures are compared, and how many pairs.
_LENGTHS = tuple(1 << k for k in range(4, 13))
_RATIOS = np.linspace(0, 1, 17)
_N_UNRELATED = 100


def edit_estimates(
    signatures: EditSignatures, scheme: EditScheme, left: Int64s, right: Int64s
) -> EditEstimates:
    """Estimate edit distances of texts by scaling distances of their signatures.

    Parameters
    ----------
    signatures
        n signatures.
    scheme
        The scheme that made the signatures.
    left, right
        Pairs of their numbers (n_pairs).

    Returns
    -------
    Estimates in the order of the pairs. A distance is the distance of the signatures times the
    characters per symbol, divided by the edited share of unrelated signatures. Blocks that were
    inserted, deleted or replaced are estimated up to three tenths too large, isolated edits by up
    to twice the neighbourhood, which the 95 % interval allows for. Distances and intervals are
    never below the difference of the lengths, nor above the longer length.

    Notes
    -----
    Significances compare with signatures of random symbols as long, simulated with fixed seeds; the
    standard deviation is taken as one symbol at least. Fewer than 1 in 100 pairs of up to 4,096
    random symbols exceed 3; for longer signatures means are extrapolated, and 5 is a safer bound.
    Only closer pairs are significant, never distant ones. Phrases that all texts share, such as
    notices, count as a relation.

    References
    ----------
    Coates (2011), A fast metric of document similarity, sections 3 to 5.
    """
    sizes, lengths = np.diff(signatures.offsets), signatures.lengths
    shorter = np.minimum(lengths[left], lengths[right]).astype(np.float64)
    longer = np.maximum(lengths[left], lengths[right]).astype(np.float64)
    is_usable: Bools = np.minimum(sizes[left], sizes[right]) >= LEAST_SYMBOLS
    low, high = longer - shorter, longer.copy()
    distances, significances = np.full((2, len(left)), np.nan)
    rows = np.flatnonzero(is_usable)
    left, right, shorter, longer = left[rows], right[rows], shorter[rows], longer[rows]
    edits = signature_distances(signatures, left, right)
    unrelated, deviations = unrelated_distances(sizes[left], sizes[right], scheme.letters)
    significances[rows] = (unrelated - edits) / deviations

    symbols = edits / (unrelated / np.maximum(sizes[left], sizes[right]))
    windows = shorter + longer - 2.0 * (scheme.neighbourhood - 1)
    spacing = windows / (sizes[left] + sizes[right]).astype(np.float64)
    z = QUANTILE_95
    margin = z * np.sqrt(symbols + z * z / 4)
    least = spacing * (symbols + z * z / 2 - margin) / (2 * scheme.neighbourhood)
    most = spacing * (symbols + z * z / 2 + margin)
    distances[rows], low[rows], high[rows] = (
        np.clip(each, longer - shorter, longer) for each in (spacing * symbols, least, most)
    )
    # To a thousandth, as sums of floats are not nearer.
    return EditEstimates(
        np.round(distances, 3), np.floor(low), np.ceil(high), significances, is_usable
    )


def signature_distances(signatures: EditSignatures, left: Int64s, right: Int64s) -> Int64s:
    """Count the edits between the signatures of pairs of texts.

    Parameters
    ----------
    signatures
        n signatures of one scheme.
    left, right
        Pairs of their numbers (n_pairs).

    Returns
    -------
    Insertions, deletions and substitutions of symbols (n_pairs). Symbols are compared by 20 bits:
    two different symbols are equal by chance once in 1,112,064 times, never with fewer letters.
    """
    strings = as_strings(signatures)
    return _levenshtein(strings[left], strings[right])


def exact_distances(texts: Texts, left: Int64s, right: Int64s) -> Int64s:
    """Count the edits between pairs of texts too short for signatures.

    Parameters
    ----------
    texts
        n texts.
    left, right
        Pairs of their numbers (n_pairs).

    Returns
    -------
    Insertions, deletions and substitutions of characters (n_pairs).

    Notes
    -----
    Time per pair is a 64th of the product of the lengths.
    """
    strings: Objects = np.empty(len(texts), np.object_)
    for number in np.unique(np.concatenate([left, right])).tolist():
        start, stop = texts.offsets[number], texts.offsets[number + 1]
        strings[number] = texts.data[start:stop].tobytes().decode()
    return _levenshtein(strings[left], strings[right])


def unrelated_distances(left: Int64s, right: Int64s, letters: int) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the distance of unrelated signatures.

    Parameters
    ----------
    left, right
        Symbols of the signatures of each pair (n_pairs).
    letters
        Different symbols, all as frequent.

    Returns
    -------
    Means, of the longer signature at most, and standard deviations of one symbol or more, both
    (n_pairs).

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
    return np.minimum(means, np.maximum(left, right)), np.maximum(deviations, 1.0)


def as_strings(signatures: EditSignatures) -> Objects:
    """Return signatures as strings of one character per symbol, fastest in RapidFuzz."""
    codes: Uint32s = signatures.symbols % np.uint32(_CODE_POINTS)
    codes[codes >= _FIRST_SURROGATE] += np.uint32(_N_SURROGATES)
    text = codes.astype("<u4").tobytes().decode("utf-32-le")
    strings: Objects = np.empty(len(signatures), np.object_)
    offsets = signatures.offsets.tolist()
    strings[:] = [text[start:stop] for start, stop in pairwise(offsets)]
    return strings


def _levenshtein(left: Objects, right: Objects) -> Int64s:
    distances: Int64s = process.cpdist(left, right, scorer=Levenshtein.distance, dtype=np.int64)
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
    shares = _levenshtein(strings[0::2], strings[1::2]).reshape(len(_RATIOS), -1) / length
    return shares.mean(axis=1), np.maximum(shares.std(axis=1, ddof=1), 0.01 / length)
