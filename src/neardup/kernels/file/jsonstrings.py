"""Find strings of JSON objects, and characters in them, without parsing what else there is."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.text.folding import decode
from neardup.kernels.types import ConstBytes, ConstInt64s, Int, Int64s

_QUOTE, _BACKSLASH, _U = 34, 92, 117

# Bytes that are looked at at a time, which the compiler does without a branch.
_STRIDE = 32


@inlined
def _string_stop(data: ConstBytes, i: Int, stop: Int) -> Int:
    """Return where the closing quote of the string stands whose first byte is i."""
    while i + _STRIDE <= stop:
        found = np.int64(0)
        for k in range(_STRIDE):
            byte = data[np.uint64(i + k)]
            found += np.int64(byte == _QUOTE) | np.int64(byte == _BACKSLASH)
        if found != 0:
            while data[i] != _QUOTE and data[i] != _BACKSLASH:
                i += 1
            if data[i] == _QUOTE:
                return i
            i += 2
        else:
            i += _STRIDE
    while i < stop and data[i] != _QUOTE:
        i += 2 if data[i] == _BACKSLASH else 1
    return min(i, stop)


@inlined
def _hex_value(data: ConstBytes, i: Int) -> Int:
    """Return the value of the four hexadecimal digits from byte i."""
    value = np.int64(0)
    for k in range(i, i + 4):
        byte = np.int64(data[k])
        # Letters of either case are 9 above their last four bits.
        value = value * 16 + (byte & 15) + (9 if byte > 57 else 0)
    return value


@inlined
def _escape(data: ConstBytes, i: Int, stop: Int) -> tuple[Int, Int]:
    """Return the code point that the escape at byte i stands for, and its length."""
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


@inlined
def _is_name(
    data: ConstBytes, i: Int, stop: Int, names: ConstBytes, name: Int, name_stop: Int
) -> bool:
    """Return whether the string from byte i is a name, however either is escaped."""
    while i < stop and name < name_stop:
        if data[i] != _BACKSLASH:
            if data[i] != names[name]:
                return False
            i += 1
            name += 1
            continue
        code_point, length = _escape(data, i, stop)
        expected, size = np.int64(names[name]), np.int64(1)
        if expected >= 128:
            character, n_bytes = decode(names, name)
            expected, size = np.int64(character), np.int64(n_bytes)
        if code_point != expected:
            return False
        i += length
        name += size
    return bool(i == stop and name == name_stop)


@inlined
def _value_stop(data: ConstBytes, i: Int, stop: Int) -> Int:
    """Return where the value ends that begins at byte i, or the member of the object."""
    depth = 0
    while i < stop:
        byte = data[i]
        if byte == _QUOTE:
            i = _string_stop(data, i + 1, stop)
        elif byte == 123 or byte == 91:
            depth += 1
        elif byte == 125 or byte == 93:
            if depth == 0:
                return i
            depth -= 1
        elif byte == 44 and depth == 0:
            return i
        i += 1
    return stop


@kernel
def find_strings(
    data: ConstBytes,
    row_starts: ConstInt64s,
    row_stops: ConstInt64s,
    names: ConstBytes,
    name_offsets: ConstInt64s,
    starts: Int64s,
    stops: Int64s,
) -> None:
    """Find the strings that some members of JSON objects hold.

    Name n is ``names[name_offsets[n] : name_offsets[n + 1]]``, in UTF-8, all followed by three
    bytes of no account. Of its value in row r, ``starts`` and ``stops`` get the place between the
    quotes, at ``r * number of names + n``: an empty one at 0 if it is no string. Of members of the
    same name the last counts. Rows are objects that a parser takes.
    """
    n_names = name_offsets.shape[0] - 1
    for row in range(row_starts.shape[0]):
        first = row * n_names
        starts[first : first + n_names] = 0
        stops[first : first + n_names] = 0
        i, stop = row_starts[row], row_stops[row]
        while i < stop and data[i] != 123:
            i += 1
        while True:
            while i < stop and data[i] != _QUOTE:
                i += 1
            if i >= stop:
                break
            key, key_stop = i + 1, _string_stop(data, i + 1, stop)
            i = key_stop
            while i < stop and data[i] != 58:
                i += 1
            i += 1
            while i < stop and data[i] <= 32:
                i += 1
            value = value_stop = np.int64(0)
            if i < stop and data[i] == _QUOTE:
                value = np.int64(i + 1)
                value_stop = np.int64(_string_stop(data, value, stop))
                i = value_stop + 1
            else:
                i = np.int64(_value_stop(data, i, stop))
            for n in range(n_names):
                if _is_name(data, key, key_stop, names, name_offsets[n], name_offsets[n + 1]):
                    starts[first + n], stops[first + n] = value, value_stop


@inlined
def _next_character(data: ConstBytes, i: Int, stop: Int) -> Int:
    """Return where the character behind the one at byte i starts."""
    if data[i] == _BACKSLASH:
        _, length = _escape(data, i, stop)
        return i + length
    i += 1
    while i < stop and (data[i] & 0xC0) == 0x80:
        i += 1
    return i


@kernel
def count_characters(
    data: ConstBytes, starts: ConstInt64s, stops: ConstInt64s, counts: Int64s
) -> None:
    """Count the characters of strings, given by their places between the quotes."""
    for s in range(starts.shape[0]):
        i, count = starts[s], np.int64(0)
        while i < stops[s]:
            i = _next_character(data, i, stops[s])
            count += 1
        counts[s] = count


@kernel
def find_characters(
    data: ConstBytes,
    starts: ConstInt64s,
    stops: ConstInt64s,
    characters: ConstInt64s,
    offsets: ConstInt64s,
    places: Int64s,
) -> None:
    """Find the bytes at which characters of strings start, as ``splicing.find_characters`` does."""
    for s in range(starts.shape[0]):
        i, stop = starts[s], stops[s]
        passed = np.int64(0)
        for c in range(offsets[s], offsets[s + 1]):
            while passed + _STRIDE <= characters[c] and i + _STRIDE <= stop:
                begun = escapes = np.int64(0)
                for k in range(_STRIDE):
                    byte = data[np.uint64(i + k)]
                    # All bytes but 10xxxxxx start a character.
                    begun += np.int64((byte & 0xC0) != 0x80)
                    escapes += np.int64(byte == _BACKSLASH)
                if escapes != 0:
                    break
                passed += begun
                i += _STRIDE
            # The last of them may have begun only.
            while i < stop and (data[i] & 0xC0) == 0x80:
                i += 1
            while i < stop and passed < characters[c]:
                i = _next_character(data, i, stop)
                passed += 1
            places[c] = i
