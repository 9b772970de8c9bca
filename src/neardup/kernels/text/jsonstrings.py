"""Check JSON objects, find member values, and write strings.

``place_values`` checks objects as parsers do, and accepts only objects that all parsers accept.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import Bools, Bytes, ConstBytes, ConstInt64s, Int, Int64s

_QUOTE, _BACKSLASH, _U = 34, 92, 117
_COMMA, _COLON, _MINUS, _POINT, _ZERO = 44, 58, 45, 46, 48
_OPEN, _CLOSE, _OPEN_ARRAY, _CLOSE_ARRAY = 123, 125, 91, 93

# Bytes per step without a branch. The compiler unrolls a loop over fewer than 64 before it makes
# vector code of it, unless the loop writes.
_STRIDE, _LONG_STRIDE = 32, 64


@inlined
def copy_bytes(data: ConstBytes, start: Int, stop: Int, target: Bytes, to: Int) -> None:
    """Copy a range of bytes, faster to compile than slices."""
    # Unsigned, since an index that may be negative keeps the compiler from copying many at a time.
    source, place = np.uint64(start), np.uint64(to)
    for k in range(np.uint64(stop - start)):
        target[place + k] = data[source + k]


@inlined
def is_space(byte: int) -> bool:
    """Return whether a byte is white space in JSON."""
    return byte == 32 or byte == 10 or byte == 13 or byte == 9


@inlined
def _is_special(byte: Int) -> bool:
    """Return whether a byte does not stand for itself in a string.

    All three comparisons although fewer would do: with two the compiler makes no vector code.
    """
    return bool((byte == _QUOTE) | (byte == _BACKSLASH) | (byte < 32))


@inlined
def _next_special(data: ConstBytes, i: Int, stop: Int) -> Int:
    """Find the next special byte, many bytes at a time."""
    while i + _LONG_STRIDE <= stop:
        found = False
        for k in range(_LONG_STRIDE):
            found |= _is_special(data[np.uint64(i + k)])
        if found:
            break
        i += _LONG_STRIDE
    while i < stop and not _is_special(data[i]):
        i += 1
    return i


@inlined
def _hex_value(data: ConstBytes, i: Int) -> Int:
    value = np.int64(0)
    for k in range(i, i + 4):
        byte = np.int64(data[k])
        # Letters of either case are 9 above their last four bits.
        value = value * 16 + (byte & 15) + (9 if byte > 57 else 0)
    return value


@inlined
def _escape(data: ConstBytes, i: Int, stop: Int) -> tuple[Int, Int]:
    """Return an escape's code point and length."""
    if i + 1 >= stop:
        return np.int64(-1), stop - i
    kind = np.int64(data[i + 1])
    if kind != _U or i + 6 > stop:
        if kind == 98:
            return np.int64(8), 2
        if kind == 102:
            return np.int64(12), 2
        if kind == 110:
            return np.int64(10), 2
        if kind == 114:
            return np.int64(13), 2
        if kind == 116:
            return np.int64(9), 2
        return kind, 2
    high = _hex_value(data, i + 2)
    pairs = high >> 10 == 0x36 and i + 12 <= stop
    if pairs and data[i + 6] == _BACKSLASH and data[i + 7] == _U:
        low = _hex_value(data, i + 8)
        if low >> 10 == 0x37:
            return 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF), 12
    return high, 6


# Kinds of values of an object's member: strings without and with escapes, whole numbers, others.
MISSING, NULL, PLAIN, ESCAPED, INTEGER, NUMBER, OTHER = 0, 1, 2, 3, 4, 5, 7
_KIND_BITS = 3

# Most levels of nested objects and arrays, one bit of a word per level.
_MOST_LEVELS = 64


@inlined
def _is_digit(byte: Int) -> bool:
    return bool(48 <= byte <= 57)


@inlined
def _is_hex(data: ConstBytes, i: Int) -> bool:
    are_all = True
    for k in range(i, i + 4):
        letter = data[k] | 32
        are_all &= _is_digit(data[k]) or 97 <= letter <= 102
    return are_all


@helper
def _checked_string(data: ConstBytes, i: Int, last: Int) -> Int:
    """Return the end and kind of a string, or -1.

    The kind is in the lowest bits; the end is the position of the quote. A string with half of a
    surrogate pair gives -1, because not all parsers accept it.
    """
    kind = np.int64(PLAIN)
    while True:
        i = _next_special(data, i, last)
        if i >= last:
            return np.int64(-1)
        if data[i] == _QUOTE:
            return ((i + 1) << _KIND_BITS) | kind
        if data[i] != _BACKSLASH or i + 2 > last:
            return np.int64(-1)
        kind = max(kind, np.int64(ESCAPED))
        escaped = data[i + 1]
        if escaped == _U:
            if i + 6 > last or not _is_hex(data, i + 2):
                return np.int64(-1)
            high = _hex_value(data, i + 2) >> 10
            i += 6
            if high == 0x36:
                if i + 6 > last or data[i] != _BACKSLASH or data[i + 1] != _U:
                    return np.int64(-1)
                if not _is_hex(data, i + 2) or _hex_value(data, i + 2) >> 10 != 0x37:
                    return np.int64(-1)
                i += 6
            elif high == 0x37:
                return np.int64(-1)
            continue
        # Or one of b, f, n, r, t, /, the quote and the backslash.
        if escaped not in (98, 102, 110, 114, 116, 47, _QUOTE, _BACKSLASH):
            return np.int64(-1)
        i += 2


@inlined
def _digits_stop(data: ConstBytes, i: Int) -> Int:
    """Return the end of digits, or -1 without digits."""
    start = i
    while _is_digit(data[i]):
        i += 1
    return i if i > start else np.int64(-1)


@inlined
def _checked_number(data: ConstBytes, i: Int) -> Int:
    """Return the end and kind of a number, or -1."""
    kind = np.int64(INTEGER)
    if data[i] == _MINUS:
        i += 1
    i = i + 1 if data[i] == _ZERO else _digits_stop(data, i)
    if i >= 0 and data[i] == _POINT:
        kind = np.int64(NUMBER)
        i = _digits_stop(data, i + 1)
    if i >= 0 and (data[i] | 32) == 101:
        kind = np.int64(NUMBER)
        start = i + 1 + np.int64(data[i + 1] == _MINUS or data[i + 1] == 43)
        i = _digits_stop(data, start)
        # Not all parsers take numbers that are out of range.
        if i > start + 2:
            return np.int64(-1)
    return (i << _KIND_BITS) | kind if i >= 0 else np.int64(-1)


@inlined
def _checked_scalar(data: ConstBytes, i: Int, last: Int) -> Int:
    """Return the end and kind of a scalar, or -1."""
    byte = data[i]
    if byte == _QUOTE:
        return _checked_string(data, i + 1, last)
    if byte != 110 and byte != 116 and byte != 102:
        return _checked_number(data, i)
    if i + 4 > last:
        return np.int64(-1)
    word = (
        np.int64(data[i]) << 24
        | np.int64(data[i + 1]) << 16
        | np.int64(data[i + 2]) << 8
        | np.int64(data[i + 3])
    )
    if word == 0x6E756C6C:
        return ((i + 4) << _KIND_BITS) | NULL
    if word == 0x74727565:
        return ((i + 4) << _KIND_BITS) | OTHER
    if word == 0x66616C73 and i + 5 <= last and data[i + 4] == 101:
        return ((i + 5) << _KIND_BITS) | OTHER
    return np.int64(-1)


@inlined
def _behind_spaces(data: ConstBytes, i: Int) -> Int:
    """Return the end of white space from byte i on."""
    while is_space(data[i]):
        i += 1
    return i


@inlined
def _number_of_name(
    data: ConstBytes, i: Int, stop: Int, names: ConstBytes, offsets: ConstInt64s
) -> Int:
    """Return the number of a string's name, or -1."""
    for n in range(offsets.shape[0] - 1):
        name = offsets[n]
        is_equal = stop - i == offsets[n + 1] - name
        k = np.int64(0)
        while is_equal and k < stop - i:
            is_equal = data[i + k] == names[name + k]
            k += 1
        if is_equal:
            return n
    return np.int64(-1)


@inlined
def _place_row(
    data: ConstBytes,
    i: Int,
    last: Int,
    names: ConstBytes,
    name_offsets: ConstInt64s,
    row: Int,
    n_rows: Int,
    kinds: Bytes,
    starts: Int64s,
    stops: Int64s,
) -> bool:
    """Locate an object's values and return whether it is valid.

    Its last byte is a closing brace, which stops every loop without a check for the end of the row.
    """
    depth = np.int64(0)
    # A bit for each level: whether it is an object. The lowest is that of the innermost.
    objects = np.uint64(0)
    name = np.int64(-1)
    # Where the object or array begins that is the value of a member.
    begun = i
    while True:
        # A value begins here.
        expects_key = False
        if data[i] == _OPEN or data[i] == _OPEN_ARRAY:
            if depth == _MOST_LEVELS:
                return False
            is_object = data[i] == _OPEN
            if depth == 1:
                begun = i
            depth += 1
            objects = (objects << np.uint64(1)) | np.uint64(is_object)
            i = _behind_spaces(data, i + 1)
            if data[i] != (_CLOSE if is_object else _CLOSE_ARRAY):
                if not is_object:
                    continue
                expects_key = True
        else:
            found = _checked_scalar(data, i, last)
            if found < 0:
                return False
            if depth == 1 and name >= 0:
                kinds[name * n_rows + row] = found & OTHER
                starts[name * n_rows + row] = i
                stops[name * n_rows + row] = found >> _KIND_BITS
            i = found >> _KIND_BITS
        # A value ends here, or an object or array that is empty.
        while not expects_key:
            i = _behind_spaces(data, i)
            is_object = objects & np.uint64(1) != 0
            if data[i] == _COMMA:
                i = _behind_spaces(data, i + 1)
                expects_key = is_object
                break
            if data[i] != (_CLOSE if is_object else _CLOSE_ARRAY):
                return False
            depth -= 1
            if i == last or depth == 0:
                return bool(i == last and depth == 0)
            objects >>= np.uint64(1)
            i += 1
            if depth == 1 and name >= 0:
                kinds[name * n_rows + row] = OTHER
                starts[name * n_rows + row] = begun
                stops[name * n_rows + row] = i
        if expects_key:
            if data[i] != _QUOTE:
                return False
            found = _checked_string(data, i + 1, last)
            if found < 0:
                return False
            stop = (found >> _KIND_BITS) - 1
            if depth == 1:
                if found & OTHER != PLAIN:
                    return False
                name = np.int64(_number_of_name(data, i + 1, stop, names, name_offsets))
                if name >= 0 and kinds[name * n_rows + row] != MISSING:
                    return False
            i = _behind_spaces(data, stop + 1)
            if data[i] != _COLON:
                return False
            i = _behind_spaces(data, i + 1)


@kernel
def place_values(
    data: ConstBytes,
    row_starts: ConstInt64s,
    row_stops: ConstInt64s,
    names: ConstBytes,
    name_offsets: ConstInt64s,
    kinds: Bytes,
    starts: Int64s,
    stops: Int64s,
    are_objects: Bools,
) -> None:
    """Find some members' values in JSON objects, checking the objects.

    Name n is ``names[name_offsets[n] : name_offsets[n + 1]]``, in UTF-8. For name n
    in row r of R, ``kinds``, ``starts`` and ``stops`` receive the kind and position of the value, a
    string with its quotes, at ``n * R + r``. Positions of missing values have no meaning.

    ``are_objects`` marks the rows that all parsers accept and read alike, except for invalid UTF-8
    in strings. Other objects are not marked: with half of a surrogate pair in a string, an escape
    in the name of a member, two members of one of the names, an exponent of three digits, or very
    deep nesting.
    """
    n_rows = row_starts.shape[0]
    for k in range(kinds.shape[0]):
        kinds[k] = MISSING
    for row in range(n_rows):
        i, last = row_starts[row], row_stops[row] - 1
        while i < last and is_space(data[last]):
            last -= 1
        if i < last and data[last] == _CLOSE:
            begin = _behind_spaces(data, i)
            are_objects[row] = data[begin] == _OPEN and _place_row(
                data, begin, last, names, name_offsets, row, n_rows, kinds, starts, stops
            )
        else:
            are_objects[row] = False


@inlined
def _write_unescaped(data: ConstBytes, i: Int, stop: Int, out: Bytes, to: Int) -> Int:
    """Write a string unescaped and return the output's end."""
    while True:
        # A fixed number of bytes is written, and the surplus is overwritten.
        while i + _STRIDE <= data.shape[0]:
            found = False
            for k in range(_STRIDE):
                byte = data[np.uint64(i + k)]
                out[np.uint64(to + k)] = byte
                found |= _is_special(byte)
            if found:
                break
            i += _STRIDE
            to += _STRIDE
        plain_stop = _next_special(data, i, stop)
        if i + _STRIDE > data.shape[0]:
            copy_bytes(data, i, plain_stop, out, to)
        to += plain_stop - i
        i = plain_stop
        if i == stop:
            return to
        code_point, length = _escape(data, i, stop)
        i += length
        if code_point < 0x80:
            out[to] = code_point
            to += 1
            continue
        n_more = np.int64(1) + np.int64(code_point >= 0x800) + np.int64(code_point >= 0x10000)
        # The first byte has the number of bytes, the others have six bits each.
        out[to] = (0xFF00 >> (n_more + 1) & 0xFF) | code_point >> 6 * n_more
        to += 1
        while n_more > 0:
            n_more -= 1
            out[to] = 0x80 | (code_point >> 6 * n_more & 0x3F)
            to += 1


@kernel
def write_values(
    data: ConstBytes,
    kinds: ConstBytes,
    starts: ConstInt64s,
    stops: ConstInt64s,
    out: Bytes,
    offsets: Int64s,
) -> None:
    """Write unescaped strings, and numbers unchanged, concatenated.

    Values are given as ``place_values`` has found them; ``offsets`` (n + 1) delimits them, and
    other values are empty. ``out`` has room for as many bytes as the values have with their quotes,
    and 32 more.
    """
    to = np.int64(0)
    for v in range(kinds.shape[0]):
        offsets[v] = to
        start, stop = starts[v], stops[v]
        if kinds[v] == PLAIN:
            copy_bytes(data, start + 1, stop - 1, out, to)
            to += stop - start - 2
        elif kinds[v] == ESCAPED:
            to = np.int64(_write_unescaped(data, start + 1, stop - 1, out, to))
        elif kinds[v] == INTEGER or kinds[v] == NUMBER:
            copy_bytes(data, start, stop, out, to)
            to += stop - start
    offsets[kinds.shape[0]] = to
