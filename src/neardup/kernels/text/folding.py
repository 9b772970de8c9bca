"""Cut UTF-8 texts into folded tokens by character tables.

Zero bytes separate the tokens. The tables (built in ``neardup.text.forms`` from ``unicodedata``)
have the role of every code point: a separator, a part of a token, a token by itself, a mark of the
letter before it, or ignored; and its UTF-8 bytes after folding.

Eight bytes are loaded at a time, as one 64-bit word with the first byte lowest.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel, trailing_zeros
from neardup.kernels.arrays import Bytes, ConstBytes, ConstInt64s, ConstUint64s, Int, Int64s

# The highest bit of each byte, set in all bytes of characters that are not ASCII.
HIGH_BITS = np.uint64(0x8080808080808080)
_1, _2, _3, _4, _5, _6, _7, _8 = (np.uint64(k) for k in range(1, 9))
_16, _24, _32, _40, _48, _56 = (np.uint64(k) for k in range(16, 57, 8))


@inlined
def load_eight(data: ConstBytes, i: np.uint64) -> np.uint64:
    """Load eight bytes from any position, in one LLVM instruction."""
    return (
        np.uint64(data[i])
        | np.uint64(data[i + _1]) << _8
        | np.uint64(data[i + _2]) << _16
        | np.uint64(data[i + _3]) << _24
        | np.uint64(data[i + _4]) << _32
        | np.uint64(data[i + _5]) << _40
        | np.uint64(data[i + _6]) << _48
        | np.uint64(data[i + _7]) << _56
    )


@inlined
def ascii_end(data: ConstBytes, start: Int, end: Int) -> np.int64:
    """Return the next non-ASCII character's start, or the text's end."""
    i, stop = np.uint64(start), np.uint64(end)
    while i + _8 <= stop:
        high = load_eight(data, i) & HIGH_BITS
        if high:
            return np.int64(i + (np.uint64(trailing_zeros(high)) >> _3))
        i += _8
    while i < stop and data[i] < 128:
        i += _1
    return np.int64(i)


# An entry of the code point table: folded bytes in the low 56 bits (first byte lowest), their
# number in bits 56 to 59, the class in bits 60 to 62. A MARK belongs to the letter or digit before
# it, and is ignored after anything else. SEVERAL is for a character that folds to more than one,
# each of them a token, and only in tables where all characters are tokens.
SEPARATOR, WORD, SINGLE, IGNORED, SEVERAL, MARK = 0, 1, 2, 3, 4, 5
LENGTH_SHIFT, CLASS_SHIFT = np.uint64(56), np.uint64(60)
_LOW4, _BYTE = np.uint64(15), np.uint64(255)
# First bytes of characters of so many bytes, and of more, are these and above.
_2_BYTES, _3_BYTES, _4_BYTES = np.uint64(0xC0), np.uint64(0xE0), np.uint64(0xF0)

# Characters of two bytes fold to three at most, so that texts have so many times their bytes of
# tokens: three for two bytes.
MOST_TOKENS = 1.5

# A text of n bytes folds to at most this many bytes: a fold may turn 2 bytes into 6, a token of one
# character gets a separator on each side, and after the last text 72 are read ahead.
GROWTH, SLACK = 3, 40

# The only character of words that is neither a letter nor a digit: it takes no marks.
_UNDERSCORE = 0x5F


@inlined
def decode(data: ConstBytes, i: Int) -> tuple[Int, Int]:
    """Decode a valid non-ASCII character into code point and length."""
    b = np.int64(data[i])
    if b < 0xE0:
        return ((b & 0x1F) << 6) | (np.int64(data[i + 1]) & 0x3F), 2
    if b < 0xF0:
        return (
            ((b & 0x0F) << 12)
            | ((np.int64(data[i + 1]) & 0x3F) << 6)
            | (np.int64(data[i + 2]) & 0x3F)
        ), 3
    return (
        ((b & 0x07) << 18)
        | ((np.int64(data[i + 1]) & 0x3F) << 12)
        | ((np.int64(data[i + 2]) & 0x3F) << 6)
        | (np.int64(data[i + 3]) & 0x3F)
    ), 4


@inlined
def character_at(data: ConstBytes, i: Int) -> tuple[Int, Int]:
    """Return a character's code point and length in bytes."""
    first = data[np.uint64(i)]
    if first < 128:
        return np.int64(first), np.int64(1)
    character, length = decode(data, i)
    return np.int64(character), np.int64(length)


@inlined
def _lower(b: np.uint8) -> np.uint8:
    """Fold a byte of ASCII to lower case, in code that LLVM vectorises."""
    letter = np.uint8(b | np.uint8(0x20))
    is_letter = np.uint8(letter - np.uint8(0x61)) < np.uint8(26)
    is_kept = (np.uint8(b - np.uint8(0x30)) < np.uint8(10)) | (b == np.uint8(_UNDERSCORE))
    return letter if is_letter else (b if is_kept else np.uint8(0))


@inlined
def first_length(folded: np.uint64) -> np.uint64:
    """Return the length of an entry's lowest UTF-8 character."""
    b = folded & _BYTE
    return _1 + np.uint64(b >= _2_BYTES) + np.uint64(b >= _3_BYTES) + np.uint64(b >= _4_BYTES)


@kernel
def fold_texts(
    data: ConstBytes,
    offsets: ConstInt64s,
    ascii_table: ConstBytes,
    table: ConstUint64s,
    folded: Bytes,
    folded_offsets: Int64s,
) -> None:
    """Write folded tokens, each followed by a zero byte.

    Parameters: ``data`` and ``offsets`` (n + 1) hold n texts of valid UTF-8; ``ascii_table`` (128)
    gives the folded byte of a character, 0 for a separator; ``table`` (0x110000) as above;
    ``folded`` takes at least GROWTH * bytes + SLACK * (n + 1) bytes; ``folded_offsets`` (n + 1).
    """
    is_lower = True
    for k in range(128):
        is_lower &= ascii_table[k] == _lower(np.uint8(k))
    out = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        folded_offsets[doc] = out
        i, end = offsets[doc], offsets[doc + 1]
        # Class of the letter or digit that a mark would belong to, or SEPARATOR.
        base = np.int64(SEPARATOR)
        while i < end:
            if data[i] < 128:
                n = ascii_end(data, i, end) - i
                if is_lower:
                    for k in range(n):
                        folded[np.uint64(out + k)] = _lower(data[np.uint64(i + k)])
                else:
                    for k in range(n):
                        folded[np.uint64(out + k)] = ascii_table[data[np.uint64(i + k)]]
                i += n
                out += n
                last_byte = data[i - 1]
                takes_marks = ascii_table[last_byte] != 0 and last_byte != _UNDERSCORE
                base = np.int64(WORD if takes_marks else SEPARATOR)
                continue
            code_point, length = decode(data, i)
            i += length
            entry = table[code_point]
            kind = np.int64(entry >> CLASS_SHIFT)
            if kind == IGNORED or (kind == MARK and base == SEPARATOR):
                continue
            if kind == SEPARATOR:
                base = kind
                folded[out] = 0
                out += 1
                continue
            if kind == MARK:
                # The token goes on: a separator after it is taken back.
                out -= np.int64(base == SINGLE)
            else:
                base = kind
                if kind == SINGLE:
                    folded[out] = 0
                    out += 1
            for _ in range(np.int64((entry >> LENGTH_SHIFT) & _LOW4)):
                folded[out] = np.uint8(entry & _BYTE)
                entry >>= _8
                out += 1
            if base == SINGLE:
                folded[out] = 0
                out += 1
        folded[out] = 0
        out += 1
    folded_offsets[offsets.shape[0] - 1] = out
    for k in range(8):
        folded[out + k] = 0
