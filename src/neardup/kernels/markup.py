"""Read tags of HTML: names as numbers, attributes, raw text."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined
from neardup.kernels.types import ConstBytes, ConstInt64s, ConstUint64s, Int, Int64s, Uint64s

SLASH, GREATER, LESS, EQUALS, QUOTE, BANG, DASH = 47, 62, 60, 61, 34, 33, 45
QUESTION = 63

# Odd, with both halves of mixed bits.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_OF_SLOT = np.uint64(0xD6E8FEB86659FD93)
_SMALL = np.uint8(32)
SLOT_BITS = 9
_SHIFT = np.uint64(64 - SLOT_BITS)


def key_of(name: str) -> int:
    """Return the number that stands for a name, in letters of either case."""
    key = 0
    for byte in name.encode():
        key = ((key + (byte | int(_SMALL))) * int(_FACTOR)) & 0xFFFF_FFFF_FFFF_FFFF
    return key


def slot_of(key: int) -> int:
    """Return the slot of a table of names at which the search for one begins."""
    return (key * int(_OF_SLOT) & 0xFFFF_FFFF_FFFF_FFFF) >> (64 - SLOT_BITS)


def combined(key: int, other: int) -> int:
    """Return the number that stands for two names together, those of a property and its value."""
    return (key * int(_FACTOR) + other) & 0xFFFF_FFFF_FFFF_FFFF


def name_table(kinds: dict[int, int]) -> tuple[Uint64s, Int64s]:
    """Return numbers of names and what they are as ``find_name`` looks them up."""
    keys, values = np.zeros(1 << SLOT_BITS, np.uint64), np.zeros(1 << SLOT_BITS, np.int64)
    for key, kind in kinds.items():
        slot = slot_of(key)
        while keys[slot]:
            slot = (slot + 1) % len(keys)
        keys[slot], values[slot] = key, kind
    return keys, values


@inlined
def combined_keys(key: np.uint64, other: np.uint64) -> np.uint64:
    """Return the number of two names together, as ``combined``."""
    return key * _FACTOR + other


@inlined
def key_with(key: np.uint64, byte: np.uint8) -> np.uint64:
    """Return the number of a name with one more byte."""
    return (key + np.uint64(byte | _SMALL)) * _FACTOR


@inlined
def is_space(byte: np.uint8) -> bool:
    """Return whether a byte is white space that a browser collapses."""
    return bool(byte <= 32 and (byte == 32 or byte == 10 or byte == 9 or byte == 13))


@inlined
def key_at(data: ConstBytes, i: Int, stop: Int) -> np.uint64:
    """Return the number of the name between two places, as ``key_of``."""
    key = np.uint64(0)
    for k in range(i, stop):
        key = key_with(key, data[np.uint64(k)])
    return key


@inlined
def name_at(data: ConstBytes, i: Int) -> tuple[np.uint64, Int]:
    """Return the number of the name that begins at byte i of a tag, and where it ends."""
    key = np.uint64(0)
    n = len(data)
    while i < n:
        byte = data[np.uint64(i)]
        if byte <= GREATER and (byte in (GREATER, SLASH) or byte == 12 or is_space(byte)):
            break
        key = key_with(key, byte)
        i += 1
    return key, i


@inlined
def find_name(keys: ConstUint64s, values: ConstInt64s, key: np.uint64) -> Int:
    """Return what a table has for a name; 0 for one that is not in it."""
    slot = np.int64((key * _OF_SLOT) >> _SHIFT)
    while keys[slot] != np.uint64(0):
        if keys[slot] == key:
            return np.int64(values[slot])
        slot = (slot + 1) & (len(keys) - 1)
    return 0


@inlined
def find_byte(data: ConstBytes, i: Int, byte: Int) -> Int:
    """Return the first place of a byte from i on, or the end of the data."""
    n = len(data)
    while i < n and data[np.uint64(i)] != byte:
        i += 1
    return i


@inlined
def next_attribute(data: ConstBytes, i: Int) -> tuple[Int, Int, Int, Int, Int]:
    """Return start and end of the name of the next attribute, those of its value, and the next i.

    Values are quoted, as a serialiser writes them. The start is -1 where the tag ends.
    """
    n = len(data)
    while i < n and (data[i] == 32 or data[i] == SLASH):
        i += 1
    if i >= n or data[i] == GREATER:
        return -1, 0, 0, 0, i
    start = i
    # A parser may leave names that begin with an equals sign.
    i += 1
    while i < n and data[i] != EQUALS and data[i] != GREATER and data[i] != 32:
        i += 1
    stop = i
    if i + 1 >= n or data[i] != EQUALS or data[i + 1] != QUOTE:
        return start, stop, stop, stop, i
    value = i + 2
    i = find_byte(data, value, QUOTE)
    return start, stop, value, i, min(i + 1, n)


@helper
def is_word(data: ConstBytes, i: Int, word: ConstBytes) -> bool:
    """Return whether a word of small letters stands at byte i, in letters of either case."""
    if i + len(word) > len(data):
        return False
    for k in range(len(word)):
        byte = data[i + k]
        if 65 <= byte <= 90:
            byte |= np.uint8(32)
        if byte != word[k]:
            return False
    return True


@helper
def end_of_raw(data: ConstBytes, i: Int, name: Int, stop: Int) -> Int:
    """Return where the end tag stands that ends raw text from i; the name is that of its start."""
    n = len(data)
    while i < n:
        i = find_byte(data, i, LESS)
        if i + 2 + stop - name < n and data[i + 1] == SLASH:
            k = name
            while k < stop and data[i + 2 + k - name] == data[k]:
                k += 1
            if k == stop and data[i + 2 + stop - name] == GREATER:
                return i
        i += 1
    return n


_SCRIPT = np.frombuffer(b"script", np.uint8)


@inlined
def _is_script_tag(data: ConstBytes, i: Int) -> bool:
    """Return whether the name of a tag at byte i is ``script``."""
    stop = i + len(_SCRIPT)
    if stop >= len(data) or not is_word(data, i, _SCRIPT):
        return False
    byte = data[stop]
    return is_space(byte) or byte == 12 or byte in (SLASH, GREATER)


@helper
def end_of_script(data: ConstBytes, i: Int) -> Int:
    """Return where the end tag of a script stands whose text begins at byte i.

    What looks like a script within a comment of one does not end it.
    """
    n = len(data)
    in_comment = in_script = False
    while i < n:
        byte = data[i]
        if byte == LESS and i + 3 < n:
            if data[i + 1] == BANG and data[i + 2] == DASH and data[i + 3] == DASH:
                in_comment = True
                # These dashes may be those of its end, too.
                i += 2
                continue
            if data[i + 1] == SLASH and _is_script_tag(data, i + 2):
                if not in_script:
                    return i
                in_script = False
            elif in_comment and _is_script_tag(data, i + 1):
                in_script = True
        elif byte == DASH and i + 2 < n and data[i + 1] == DASH and data[i + 2] == GREATER:
            in_comment = in_script = False
        i += 1
    return n


@helper
def last_end_tag(data: ConstBytes, i: Int, name: Int, stop: Int) -> Int:
    """Return where the last end tag of a name stands, not before i."""
    length = stop - name
    for place in range(len(data) - length - 3, i - 1, -1):
        if data[place] == LESS and data[place + 1] == SLASH and data[place + 2 + length] == GREATER:
            k = 0
            while k < length and data[place + 2 + k] == data[name + k]:
                k += 1
            if k == length:
                return place
    return np.int64(len(data))
