"""Find rows of JSON arrays and of delimited text, fields in rows, and characters in UTF-8."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel, trailing_zeros
from neardup.kernels.text.folding import load_eight
from neardup.kernels.types import Bytes, ConstBytes, ConstInt64s, Int, Int64s

_ONES, _1, _3 = np.uint64(0x0101010101010101), np.uint64(1), np.uint64(3)
_LOW7, _HIGH = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)

# Bytes that are looked at together; with fewer the compiler makes no vector code.
_LONG_STRIDE = 128


@kernel
def find_byte(data: ConstBytes, byte: int, start: int, places: Int64s) -> tuple[int, int]:
    """Find positions of a byte from ``start`` on, as many as fit.

    Returns the number of positions, and the byte to continue at, which is the end of the data if
    all of it was searched. There is room for 128 at least.
    """
    n, room = data.shape[0], places.shape[0]
    i, count = np.int64(start), np.int64(0)
    wanted, pattern = np.uint8(byte), _ONES * np.uint64(byte)
    while i + _LONG_STRIDE <= n and count + _LONG_STRIDE <= room:
        found = False
        for k in range(_LONG_STRIDE):
            found |= data[np.uint64(i + k)] == wanted
        if found:
            for k in range(0, _LONG_STRIDE, 8):
                word = load_eight(data, np.uint64(i + k)) ^ pattern
                # The top bit of every byte that is zero, exactly.
                zeros = ~(((word & _LOW7) + _LOW7) | word) & _HIGH
                while zeros != 0:
                    places[count] = i + k + np.int64(np.uint64(trailing_zeros(zeros)) >> _3)
                    count += 1
                    zeros &= zeros - _1
        i += _LONG_STRIDE
    while i < n and i + _LONG_STRIDE > n and count < room:
        if data[i] == wanted:
            places[count] = i
            count += 1
        i += 1
    return int(count), int(i)


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
    """Copy a range of bytes, because slice assignment makes Numba compile an error text too."""
    # Unsigned, since an index that may be negative keeps the compiler from copying many at a time.
    source, place = np.uint64(start), np.uint64(to)
    for k in range(np.uint64(stop - start)):
        target[place + k] = data[source + k]


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


# States of the JSON array kernel.
OPENING, VALUE_OR_END, COMMA_OR_END, VALUE, NOTHING = 0, 1, 2, 3, 4


@inlined
def is_space(byte: int) -> bool:
    """Return whether a byte is white space in JSON."""
    return byte == 32 or byte == 10 or byte == 13 or byte == 9


@kernel
def cut_array(
    data: ConstBytes,
    state: int,
    is_final: int,
    starts: Int64s,
    ends: Int64s,
) -> tuple[int, int, int, int]:
    """Find the elements of a JSON array in a piece of its file.

    Only brackets, strings and commas are checked; a parser must validate the elements. ``state`` is
    the state at byte 0; ``is_final`` marks the last piece. ``starts`` and ``ends`` take one entry
    per element: at most the number of commas plus one.

    Returns the number of complete elements, the bytes consumed, the new state, and the position of
    an invalid byte, or -1.
    """
    n = data.shape[0]
    count = 0
    i = 0
    while i < n:
        byte = data[i]
        if is_space(byte):
            i += 1
            continue
        if state == OPENING:
            if byte != 91:
                return count, i, state, i
            state = VALUE_OR_END
            i += 1
            continue
        if state == NOTHING:
            return count, i, state, i
        if state == COMMA_OR_END:
            if byte == 44:
                state = VALUE
            elif byte == 93:
                state = NOTHING
            else:
                return count, i, state, i
            i += 1
            continue
        if byte == 93 and state == VALUE_OR_END:
            state = NOTHING
            i += 1
            continue
        if byte == 44 or byte == 93 or byte == 125:
            return count, i, state, i
        # An element: brackets and strings end by themselves, anything else before , ] or space.
        depth = 0
        in_string = False
        is_complete = False
        j = i
        while j < n:
            byte = data[j]
            if in_string:
                if byte == 92:
                    j += 2
                    continue
                if byte == 34:
                    in_string = False
                    if depth == 0:
                        j += 1
                        is_complete = True
                        break
            elif byte == 34:
                in_string = True
            elif byte == 123 or byte == 91:
                depth += 1
            elif byte == 125 or byte == 93:
                if depth == 0:
                    is_complete = True
                    break
                depth -= 1
                if depth == 0:
                    j += 1
                    is_complete = True
                    break
            elif depth == 0 and (byte == 44 or is_space(byte)):
                is_complete = True
                break
            j += 1
        if not is_complete:
            if not (is_final != 0 and depth == 0 and not in_string):
                break
            j = n
        starts[count] = i
        ends[count] = j
        count += 1
        state = COMMA_OR_END
        i = j
    return count, i, state, -1
