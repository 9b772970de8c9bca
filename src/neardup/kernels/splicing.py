"""Find characters in UTF-8 by their numbers, and copy bytes with some of them exchanged."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import Bytes, ConstBytes, ConstInt64s, Int, Int64s

# Bytes that are counted at a time, which the compiler does without a branch.
_STRIDE = 32


@kernel
def find_characters(
    data: ConstBytes,
    starts: ConstInt64s,
    stops: ConstInt64s,
    characters: ConstInt64s,
    offsets: ConstInt64s,
    places: Int64s,
) -> None:
    """Find the bytes at which characters of some texts start.

    Text t is ``data[starts[t] : stops[t]]``; it is asked for the characters of these numbers,
    ascending: ``characters[offsets[t] : offsets[t + 1]]``. ``places``, aligned with them, gets
    positions in ``data``: the end of the text for characters that it does not have.
    """
    for text in range(starts.shape[0]):
        i, stop = starts[text], stops[text]
        passed = np.int64(0)
        for c in range(offsets[text], offsets[text + 1]):
            wanted = characters[c] - passed
            # So many bytes start at most as many characters, so none is passed by.
            while wanted >= _STRIDE and i + _STRIDE <= stop:
                begun = np.int64(0)
                for k in range(_STRIDE):
                    # All bytes but 10xxxxxx start a character.
                    begun += np.int64((data[np.uint64(i + k)] & 0xC0) != 0x80)
                wanted -= begun
                i += _STRIDE
            while i < stop:
                begins = (data[i] & 0xC0) != 0x80
                if begins and wanted == 0:
                    break
                wanted -= np.int64(begins)
                i += 1
            places[c] = i
            passed = characters[c] - wanted


@inlined
def copy_bytes(data: ConstBytes, start: Int, stop: Int, target: Bytes, to: Int) -> None:
    """Copy a range of bytes; where slices are assigned Numba compiles the text of an error, too."""
    for i in range(stop - start):
        target[to + i] = data[start + i]


@kernel
def splice(
    data: ConstBytes,
    starts: ConstInt64s,
    stops: ConstInt64s,
    pieces: ConstBytes,
    piece_offsets: ConstInt64s,
    which: ConstInt64s,
    spliced: Bytes,
) -> None:
    """Copy bytes with another piece in the place of each of some ranges.

    Ranges ascend and do not overlap. In the place of range r comes piece ``which[r]``: piece p is
    ``pieces[piece_offsets[p] : piece_offsets[p + 1]]``.
    """
    done = np.int64(0)
    to = np.int64(0)
    for r in range(starts.shape[0]):
        size = starts[r] - done
        copy_bytes(data, done, starts[r], spliced, to)
        to += size
        start, stop = piece_offsets[which[r]], piece_offsets[which[r] + 1]
        copy_bytes(pieces, start, stop, spliced, to)
        to += stop - start
        done = stops[r]
    copy_bytes(data, done, data.shape[0], spliced, to)
