"""Where a text lies inside a longer one, found from their signatures."""

from __future__ import annotations

import numpy as np
from rapidfuzz.distance import LCSseq

from neardup.errors import InvalidParameterError
from neardup.sketches.edit.distances import as_strings
from neardup.sketches.edit.signature import LEAST_ALIGNED_LETTERS, EditScheme
from neardup.tables import EditPlaces, EditSignatures, Int64s


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
