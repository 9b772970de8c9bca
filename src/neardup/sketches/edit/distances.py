"""Edit distances of many pairs at once: of signatures, of texts, and of unrelated signatures."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup.tables import EditSignatures, Floats, Int64s, Texts, Uint32s

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
    offsets: Int64s = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    symbols = generator.integers(0, n_letters, int(offsets[-1]), np.uint32)
    strings = as_strings(EditSignatures(symbols, offsets, np.zeros(sizes.size, np.int64)))
    shares = levenshtein(strings[0::2], strings[1::2]).reshape(len(_RATIOS), -1) / length
    return shares.mean(axis=1), np.maximum(shares.std(axis=1, ddof=1), 0.01 / length)
