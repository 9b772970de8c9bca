"""Write the text of a page: line ends between blocks, one space where white space was."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined
from neardup.kernels.markup import GREATER, LESS, QUOTE, is_space, key_at, key_of
from neardup.kernels.splicing import copy_bytes
from neardup.kernels.types import Bytes, ConstBytes, Int, Int64s

# What is written so far: bytes, line ends due before the next one, whether a space is due, and
# whether the line has no text yet.
BYTES, BREAKS, SPACE, FRESH = 0, 1, 2, 3


NEWLINE, TAB = 10, 9
_AMPERSAND, _SEMICOLON = 38, 59

_ENTITY_AMP, _ENTITY_LT, _ENTITY_GT, _ENTITY_QUOT, _ENTITY_NBSP = (
    np.uint64(key_of(name)) for name in ("amp", "lt", "gt", "quot", "nbsp")
)
# Longest of these.
_ENTITY_BYTES = 4


@inlined
def end_line(pen: Int64s, breaks: Int) -> None:
    """Begin or end a block, with so many line ends at least."""
    pen[BREAKS] = max(pen[BREAKS], breaks)
    pen[SPACE] = 0
    pen[FRESH] = 1


@inlined
def _begin(out: Bytes, pen: Int64s) -> None:
    """Write the line ends that are due; there are none above the first line."""
    if pen[BREAKS] and pen[BYTES]:
        for _ in range(pen[BREAKS]):
            out[pen[BYTES]] = NEWLINE
            pen[BYTES] += 1
    pen[BREAKS] = 0


@inlined
def separate(out: Bytes, pen: Int64s, byte: Int) -> None:
    """Write a tab or a line end, which swallows the white space around it."""
    _begin(out, pen)
    out[pen[BYTES]] = byte
    pen[BYTES] += 1
    pen[SPACE] = 0
    pen[FRESH] = 1


@inlined
def begin_text(out: Bytes, pen: Int64s) -> Int:
    """Write what is due before text; return where that goes."""
    _begin(out, pen)
    place = np.int64(pen[BYTES])
    if pen[SPACE] and not pen[FRESH]:
        out[place] = 32
        place += 1
    pen[SPACE] = 0
    pen[FRESH] = 0
    return place


@inlined
def _reference(data: ConstBytes, i: Int, out: Bytes, place: Int) -> tuple[Int, Int]:
    """Write the character that the reference at byte i stands for; return where both go on."""
    end = i + 1
    last = min(i + 1 + _ENTITY_BYTES, len(data) - 1)
    while end < last and data[end] != _SEMICOLON:
        end += 1
    key = np.uint64(0)
    if end < len(data) and data[end] == _SEMICOLON:
        key = key_at(data, i + 1, end)
    byte: Int = _AMPERSAND
    if key == _ENTITY_NBSP:
        out[place] = 0xC2
        out[place + 1] = 0xA0
        return end + 1, place + 2
    if key == _ENTITY_LT:
        byte = LESS
    elif key == _ENTITY_GT:
        byte = GREATER
    elif key == _ENTITY_QUOT:
        byte = 34
    elif key != _ENTITY_AMP:
        end = i
    out[place] = byte
    return end + 1, place + 1


@inlined
def write(data: ConstBytes, i: Int, end: Int, out: Bytes, pen: Int64s) -> Int:
    """Write text up to a byte, white space as one space, none at the ends of a line."""
    n = len(data)
    last = np.uint8(end)
    start = i
    while i < n and is_space(data[np.uint64(i)]):
        i += 1
    if i > start:
        pen[SPACE] = 1
    if i >= n or data[i] == last:
        return i
    place = begin_text(out, pen)
    while i < n:
        byte = data[np.uint64(i)]
        if byte > _AMPERSAND:
            if byte == last:
                break
        elif byte == _AMPERSAND:
            i, place = _reference(data, i, out, place)
            continue
        elif byte == last:
            break
        elif is_space(byte):
            i += 1
            while i < n and is_space(data[np.uint64(i)]):
                i += 1
            if i >= n or data[np.uint64(i)] == last:
                pen[SPACE] = 1
                break
            byte = np.uint8(32)
            i -= 1
        out[np.uint64(place)] = byte
        place += 1
        i += 1
    pen[BYTES] = place
    return i


@inlined
def write_as_is(data: ConstBytes, i: Int, out: Bytes, pen: Int64s) -> Int:
    """Write text up to the next tag, with all its white space."""
    n = len(data)
    place = begin_text(out, pen)
    while i < n:
        byte = data[np.uint64(i)]
        if byte == LESS:
            break
        if byte == _AMPERSAND:
            i, place = _reference(data, i, out, place)
            continue
        out[np.uint64(place)] = byte
        place += 1
        i += 1
    pen[BYTES] = place
    pen[FRESH] = np.int64(out[place - 1] == NEWLINE)
    return i


@inlined
def write_raw(data: ConstBytes, i: Int, stop: Int, out: Bytes, pen: Int64s) -> None:
    """Write text with all its white space in which nothing stands for anything else."""
    if i < stop:
        place = begin_text(out, pen)
        copy_bytes(data, i, stop, out, place)
        pen[BYTES] = place + stop - i
        pen[FRESH] = np.int64(data[stop - 1] == NEWLINE)


@inlined
def write_alternative(data: ConstBytes, i: Int, stop: Int, out: Bytes, pen: Int64s) -> None:
    """Write the text for an image, set off by spaces."""
    if i < stop:
        pen[SPACE] = 1
        write(data, i, QUOTE, out, pen)
        pen[SPACE] = 1
