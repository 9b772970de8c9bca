"""What the style of an element itself says of how its text is seen, as a browser reads it.

Declarations are read by the rules of CSS Syntax (https://www.w3.org/TR/css-syntax-3/): comments,
strings, escapes and blocks are what they are there, an invalid declaration says nothing, and an
important one counts before others.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined
from neardup.kernels.file.markup import (
    combined,
    combined_keys,
    find_name,
    is_space,
    key_of,
    key_with,
    name_table,
)
from neardup.kernels.types import ConstBytes, Int

GONE, SHOWN, INLINE, AS_BLOCK, AS_BOX, INVISIBLE, VISIBLE, PRESERVED, COLLAPSED = (
    1 << bit for bit in range(9)
)
"""What a style says: of ``display`` five, of ``visibility`` two, of ``white-space`` two."""

_DISPLAY, _VISIBILITY, _WHITE_SPACE = 1 << 9, 1 << 10, 1 << 11
_OF_DISPLAY = GONE | SHOWN | INLINE | AS_BLOCK | AS_BOX
_INNER = "flow flow-root flex grid table ruby math"
# What values say; those that leave an element as it is say nothing, but are valid.
_VALUES = {
    ("display", GONE): "none table-column table-column-group",
    ("display", SHOWN | INLINE): "inline contents ruby initial unset",
    ("display", SHOWN | INLINE | AS_BOX): "inline-block inline-flex inline-grid inline-table math "
    "-webkit-inline-box -webkit-inline-flex",
    ("display", SHOWN | AS_BLOCK): "block flex grid flow-root list-item table flow -webkit-box "
    "-webkit-flex",
    ("display", SHOWN): "table-row-group table-header-group table-footer-group table-row "
    "table-cell table-caption ruby-text",
    ("display", 0): "inherit revert revert-layer",
    ("visibility", INVISIBLE): "hidden collapse",
    ("visibility", VISIBLE): "visible initial",
    ("visibility", 0): "inherit unset revert revert-layer",
    ("white-space", PRESERVED): "pre pre-wrap break-spaces",
    ("white-space", COLLAPSED): "normal nowrap pre-line initial",
    ("white-space", 0): "inherit unset revert revert-layer",
}
_PROPERTIES = {"display": _DISPLAY, "visibility": _VISIBILITY, "white-space": _WHITE_SPACE}


def _declarations() -> dict[int, int]:
    """Return what all declarations say that count, by the numbers of their names and values."""
    found = {
        combined(key_of(name), key_of(value)): _PROPERTIES[name] | said
        for (name, said), values in _VALUES.items()
        for value in values.split()
    }
    for inner in _INNER.split():
        as_inline = INLINE if inner in ("flow", "ruby") else INLINE | AS_BOX
        for outer, said in (("block", AS_BLOCK), ("inline", as_inline)):
            both = key_of(outer) + key_of(inner)
            found[combined(key_of("display"), both)] = _DISPLAY | SHOWN | said
    return found


_KEYS, _SAID = name_table(_declarations())
_IMPORTANT = np.uint64(key_of("important"))

# Kinds of tokens; brackets are their kind and which they are.
_END, _IDENT, _OTHER, _COLON, _SEMICOLON, _BANG, _OPEN, _CLOSE = range(8)
_BACKSLASH, _STAR, _SLASH, _QUOTE, _APOSTROPHE, _AMPERSAND = 92, 42, 47, 34, 39, 38
_BRACKETS = np.zeros(128, np.int64)
for _kind, _pair in enumerate(("()", "[]", "{}"), start=1):
    _BRACKETS[ord(_pair[0])], _BRACKETS[ord(_pair[1])] = _kind, -_kind
_MARKS = np.full(128, _OTHER, np.int64)
for _mark, _meaning in ((":", _COLON), (";", _SEMICOLON), ("!", _BANG)):
    _MARKS[ord(_mark)] = _meaning


@inlined
def _is_hex(byte: Int) -> bool:
    return bool(48 <= byte <= 57 or 97 <= byte | 32 <= 102)


@inlined
def _character(data: ConstBytes, i: Int, stop: Int) -> tuple[Int, Int]:
    """Return the byte that stands at i, a reference read, and the next i."""
    byte: Int = np.int64(data[i])
    if byte != _AMPERSAND:
        return byte, i + 1
    end = i + 1
    while end < min(i + 6, stop) and data[end] != 59:
        end += 1
    if end < stop and data[end] == 59:
        if data[i + 1] == 113:
            byte = _QUOTE
        elif data[i + 1] != 97:
            # What other references a serialiser writes mean nothing here.
            byte = 60
        return byte, end + 1
    return byte, i + 1


@inlined
def _is_of_name(byte: Int) -> bool:
    is_letter = 97 <= byte | 32 <= 122
    return bool(is_letter or byte in (45, 95) or byte >= 128)


@inlined
def _ident(data: ConstBytes, i: Int, stop: Int) -> tuple[np.uint64, Int]:
    """Return the number of the name from byte i on, escapes read, and where it ends."""
    key = np.uint64(0)
    while i < stop:
        byte, following = _character(data, i, stop)
        if byte == _BACKSLASH:
            if following < stop and data[following] == 10:
                break
            if following < stop and _is_hex(np.int64(data[following])):
                byte = 0
                most = min(following + 6, stop)
                while following < most and _is_hex(np.int64(data[following])):
                    digit = np.int64(data[following])
                    byte = byte * 16 + (digit - 48 if digit <= 57 else (digit | 32) - 87)
                    following += 1
                if following < stop and is_space(data[following]):
                    following += 1
                # No name that counts has any other than letters and dashes.
                byte = byte if byte < 128 and _is_of_name(byte) else 255
            elif following < stop:
                byte, following = _character(data, following, stop)
                byte = byte if _is_of_name(byte) else 255
        elif not _is_of_name(byte) and not 48 <= byte <= 57:
            break
        key = key_with(key, np.uint8(byte))
        i = following
    return key, i


@helper
def _token(data: ConstBytes, i: Int, stop: Int) -> tuple[Int, np.uint64, Int]:
    """Return kind and number of the next token, and the next i; comments are passed over."""
    nothing = np.uint64(0)
    while i < stop:
        byte, following = _character(data, i, stop)
        if is_space(data[i]) or byte == 12:
            i = following
            continue
        if byte == _SLASH and following < stop and data[following] == _STAR:
            i = following + 1
            while i < stop and not (data[i] == _STAR and i + 1 < stop and data[i + 1] == _SLASH):
                i += 1
            i = min(i + 2, stop)
            continue
        if byte in (_QUOTE, _APOSTROPHE):
            quote = byte
            i = following
            while i < stop:
                byte, i = _character(data, i, stop)
                if byte in (quote, 10):
                    break
                if byte == _BACKSLASH and i < stop:
                    byte, i = _character(data, i, stop)
            return _OTHER, nothing, i
        is_escape = byte == _BACKSLASH and following < stop and data[following] != 10
        if _is_of_name(byte) or is_escape:
            key, following = _ident(data, i, stop)
            return _IDENT, key, following
        if byte < 128:
            bracket = _BRACKETS[byte]
            if bracket:
                return _OPEN if bracket > 0 else _CLOSE, np.uint64(abs(bracket)), following
            return _MARKS[byte], nothing, following
        return _OTHER, nothing, following
    return _END, nothing, stop


@helper
def read_style(data: ConstBytes, i: Int, stop: Int) -> Int:
    """Return what the declarations of a style say of what is seen."""
    said: Int = 0
    # Properties of which something important was said.
    settled: Int = 0
    while i < stop:
        kind, name, i = _token(data, i, stop)
        if kind == _SEMICOLON:
            continue
        is_valid = kind == _IDENT
        value = np.uint64(0)
        begun: Int = 0
        mark: Int = 0
        # The kinds of all open brackets, two bits each.
        nesting = np.uint64(0)
        if kind == _OPEN:
            nesting = name
        while True:
            kind, key, i = _token(data, i, stop)
            if kind == _END or (kind == _SEMICOLON and not nesting):
                break
            if kind == _OPEN:
                nesting = nesting << np.uint64(2) | key
                is_valid = False
            elif kind == _CLOSE:
                if nesting & np.uint64(3) == key:
                    nesting >>= np.uint64(2)
                is_valid = False
            elif not begun:
                begun = 1
                is_valid = is_valid and kind == _COLON
            elif kind == _BANG and not mark:
                mark = 1
            elif kind == _IDENT and mark:
                is_valid = is_valid and mark == 1 and key == _IMPORTANT
                mark = 2
            elif kind == _IDENT:
                value += key
            else:
                is_valid = False
        if not is_valid or mark == 1:
            continue
        found = find_name(_KEYS, _SAID, combined_keys(name, value))
        of = found & (_DISPLAY | _VISIBILITY | _WHITE_SPACE)
        if not found or (settled & of and not mark):
            continue
        if mark:
            settled |= of
        if of == _DISPLAY:
            said &= ~_OF_DISPLAY
        elif of == _VISIBILITY:
            said &= ~(INVISIBLE | VISIBLE)
        else:
            said &= ~(PRESERVED | COLLAPSED)
        said |= found & ~of
    return said
