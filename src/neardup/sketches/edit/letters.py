"""Symbols of two letters as bits."""

from __future__ import annotations

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.tables import Bytes, EditSignatures, Int64s, Uint32s


def pack_letters(signatures: EditSignatures) -> tuple[Bytes, Int64s]:
    """Write symbols of two letters as bits, eight to a byte, the first one highest.

    Returns
    -------
    The bytes of all signatures, each from a byte of its own on, and where each begins (n + 1). How
    many symbols a signature has is not in them: keep ``offsets``.

    Raises
    ------
    InvalidParameterError
        If there is a symbol other than 0 and 1.
    """
    if signatures.symbols.max(initial=0) > 1:
        message = (
            f"letters must be 2 to be packed, got symbols up to {signatures.symbols.max()}; "
            "sign the texts with EditScheme(letters=2)"
        )
        raise InvalidParameterError(message)
    sizes = np.diff(signatures.offsets)
    starts = _byte_starts(sizes)
    bits: Bytes = np.zeros(int(starts[-1]) * 8, np.uint8)
    bits[_bit_places(starts, signatures.offsets)] = signatures.symbols
    return np.packbits(bits), starts


def unpack_letters(packed: Bytes, offsets: Int64s) -> Uint32s:
    """Give the symbols that ``pack_letters`` wrote.

    Parameters
    ----------
    packed
        Its bytes.
    offsets
        Those of the signatures (n + 1), in symbols.

    Raises
    ------
    InvalidParameterError
        If there are more or fewer bytes than the signatures take.
    """
    starts = _byte_starts(np.diff(offsets))
    if len(packed) != starts[-1]:
        message = f"packed must have the {starts[-1]} bytes of its signatures, got {len(packed)}"
        raise InvalidParameterError(message)
    symbols: Uint32s = np.unpackbits(packed)[_bit_places(starts, offsets)].astype(np.uint32)
    return symbols


def _byte_starts(sizes: Int64s) -> Int64s:
    starts: Int64s = np.concatenate([[0], np.cumsum(-(-sizes // 8))]).astype(np.int64)
    return starts


def _bit_places(starts: Int64s, offsets: Int64s) -> Int64s:
    """Tell for each symbol the number of its bit."""
    shifts = 8 * starts[:-1] - (offsets[:-1] - offsets[0])
    places: Int64s = np.arange(offsets[-1] - offsets[0]) + np.repeat(shifts, np.diff(offsets))
    return places
