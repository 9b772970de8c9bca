"""Find rows of JSON arrays and of delimited text, fields in rows, and characters in UTF-8.

Bytes are copied with some of them exchanged.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel, trailing_zeros
from neardup.kernels.text.folding import load_eight
from neardup.kernels.types import Bools, Bytes, ConstBytes, ConstInt64s, Int, Int64s

_ONES, _1, _3 = np.uint64(0x0101010101010101), np.uint64(1), np.uint64(3)
_LOW7, _HIGH = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)

# Bytes that are looked at together; with fewer the compiler makes no vector code.
_LONG_STRIDE = 128


@kernel
def find_byte(data: ConstBytes, byte: int, start: int, places: Int64s) -> tuple[int, int]:
    """Find where a byte stands from ``start`` on, as often as there is room for.

    Returns how many places there are, and where to go on, which is the end of the data if all of
    it was looked at. There is room for 128 at least.
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


@kernel
def find_fields(
    data: ConstBytes,
    row_starts: ConstInt64s,
    row_stops: ConstInt64s,
    delimiter: int,
    numbers: ConstInt64s,
    starts: Int64s,
    stops: Int64s,
    is_quoted: Bools,
) -> None:
    r"""Find some fields of rows of CSV or TSV, each a row that ``cut_delimited`` found.

    ``numbers[f]`` is -1 for a field that is not wanted, else its number among those that are, all
    from 0. Of field n of the w that are wanted, row r has its place in ``starts`` and ``stops``, at
    ``r * w + n``, with its quotes and without the end of the row; ``is_quoted`` says whether it
    begins with a quote. Rows have as many fields as ``numbers``.
    """
    n_wanted = np.int64(0)
    for f in range(numbers.shape[0]):
        n_wanted += np.int64(numbers[f] >= 0)
    for row in range(row_starts.shape[0]):
        i, stop = row_starts[row], row_stops[row]
        for f in range(numbers.shape[0]):
            start = i
            in_quotes = i < stop and data[i] == 34
            begins_quoted = in_quotes
            i += np.int64(in_quotes)
            while i < stop:
                byte = data[i]
                if in_quotes:
                    # Of two quotes the second opens again.
                    in_quotes = byte != 34 or (i + 1 < stop and data[i + 1] == 34)
                    i += 1 + np.int64(byte == 34 and in_quotes)
                    continue
                if byte == delimiter or byte == 10 or byte == 13:
                    break
                i += 1
            if numbers[f] >= 0:
                at = row * n_wanted + numbers[f]
                starts[at] = start
                stops[at] = i
                is_quoted[at] = begins_quoted
            i += 1


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


# What the JSON array kernel expects next.
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

    Only brackets, strings and commas are looked at; whether an element is valid is for a parser to
    say. ``state`` is what is expected at byte 0; ``is_final`` tells that no more bytes follow.
    ``starts`` and ``ends`` take one entry an element: at most the number of commas plus one.

    Returns the number of complete elements, the bytes consumed, the new state, and the position of
    a byte that cannot stand where it does (-1 if there is none).
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


# Bytes of a field after which more are looked at at a time.
_SHORT = 16


@helper
def _next_of(data: ConstBytes, i: Int, first: Int, second: Int, third: Int) -> Int:
    """Return where the next of three bytes from i on is, or the data end."""
    n = np.int64(data.shape[0])
    a, b, c = np.uint8(first), np.uint8(second), np.uint8(third)
    of_a, of_b, of_c = _ONES * np.uint64(a), _ONES * np.uint64(b), _ONES * np.uint64(c)
    while i + 64 <= n:
        found = False
        for k in range(64):
            byte = data[np.uint64(i + k)]
            found |= (byte == a) | (byte == b) | (byte == c)
        if found:
            break
        i += 64
    while i + 8 <= n:
        word = load_eight(data, np.uint64(i))
        # The top bit of the first byte that is zero, and of some above it.
        x, y, z = word ^ of_a, word ^ of_b, word ^ of_c
        zeros = (((x - _ONES) & ~x) | ((y - _ONES) & ~y) | ((z - _ONES) & ~z)) & _HIGH
        if zeros != 0:
            return i + np.int64(np.uint64(trailing_zeros(zeros)) >> _3)
        i += 8
    while i < n and data[i] != a and data[i] != b and data[i] != c:
        i += 1
    return i


@kernel
def cut_delimited(
    data: ConstBytes,
    delimiter: int,
    is_final: int,
    starts: Int64s,
    ends: Int64s,
) -> tuple[int, int, bool]:
    r"""Find the rows of CSV or TSV in a piece of a file that starts between two rows.

    A row ends with ``\n``, ``\r\n`` or ``\r`` outside quotes and includes it; an empty line is
    no row. A quote opens only at the start of a field; two quotes inside stand for one.
    ``starts`` and ``ends`` take one entry a row; no row is looked for when they are full.

    Returns the number of complete rows, the bytes consumed, and whether the bytes end inside
    quotes.
    """
    n = data.shape[0]
    room = starts.shape[0]
    count = 0
    # Where the row, and the field, began that i is in.
    start = field = i = np.int64(0)
    at_field_start = True
    in_quotes = False
    while i < n and count < room:
        if in_quotes:
            i = np.int64(_next_of(data, i, 34, 34, 34))
            if i + 1 < n and data[i + 1] == 34:
                i += 2
                continue
            if i == n or (i + 1 == n and is_final == 0):
                break
            in_quotes = False
            i += 1
            continue
        byte = data[i]
        if byte == 34 and at_field_start:
            in_quotes = True
            at_field_start = False
            i += 1
            continue
        if byte == delimiter:
            at_field_start = True
            i += 1
            field = i
            continue
        if byte != 10 and byte != 13:
            at_field_start = False
            i += 1
            if i - field == _SHORT:
                i = np.int64(_next_of(data, i, delimiter, 10, 13))
            continue
        line_end = i
        if byte == 13:
            if i + 1 == n and is_final == 0:
                break
            if i + 1 < n and data[i + 1] == 10:
                i += 1
        i += 1
        if line_end > start:
            starts[count] = start
            ends[count] = i
            count += 1
        start = field = i
        at_field_start = True
    if is_final != 0 and i >= n and start < n and count < room:
        starts[count] = start
        ends[count] = n
        count += 1
        start = np.int64(n)
    return count, int(start), in_quotes
