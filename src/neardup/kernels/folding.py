"""Cut texts into tokens by character tables: UTF-8 in, folded tokens separated by zero bytes out.

The tables (built in ``neardup.text.characters`` from ``unicodedata``) say for every code point
whether it separates tokens, belongs to one, is a token by itself, or is passed over, and which
UTF-8 bytes stand for it after folding.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.eights import ascii_end
from neardup.kernels.types import Bytes, ConstBytes, ConstInt64s, ConstUint64s, Int, Int64s

# An entry of the code point table: folded bytes in the low 56 bits (first byte lowest), their
# number in bits 56 to 59, the class in bits 60 to 62. SEVERAL is for what folds to more than one
# character, each of them a token, and only in tables where all characters are tokens.
SEPARATOR, WORD, SINGLE, IGNORED, SEVERAL = 0, 1, 2, 3, 4
LENGTH_SHIFT, CLASS_SHIFT = np.uint64(56), np.uint64(60)
_LOW4, _BYTE, _8 = np.uint64(15), np.uint64(255), np.uint64(8)
# First bytes of characters of so many bytes, and of more, are these and above.
_1, _2_BYTES, _3_BYTES, _4_BYTES = np.uint64(1), np.uint64(0xC0), np.uint64(0xE0), np.uint64(0xF0)

# Characters of two bytes fold to three at most, so that texts have so many times their bytes of
# tokens: three for two bytes.
MOST_TOKENS = 1.5

# A text of n bytes folds to at most this many bytes: a fold may turn 2 bytes into 6, a token of one
# character gets a separator on each side, and reading ahead needs eight more.
GROWTH, SLACK = 3, 16

# ASCII characters that move alike and follow each other are a range: digits, capitals and small
# letters, say. All tables of the package have so many ranges at most.
_RANGES = 5
# Bytes that go through the ranges together; fewer are looked up one by one.
_BLOCK = 32


@inlined
def decode(data: ConstBytes, i: Int) -> tuple[Int, Int]:
    """Decode the non-ASCII character that starts at byte i of valid UTF-8: code point, length."""
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
def first_length(folded: np.uint64) -> np.uint64:
    """Return the bytes of the UTF-8 character in the lowest bytes of an entry."""
    b = folded & _BYTE
    return _1 + np.uint64(b >= _2_BYTES) + np.uint64(b >= _3_BYTES) + np.uint64(b >= _4_BYTES)


@inlined
def _find_ranges(ascii_table: ConstBytes, firsts: Bytes, sizes: Bytes, shifts: Bytes) -> np.int64:
    """List the ranges of characters that are kept, and what is added to each; gives their number.

    With more than there is room for, gives one more than that.
    """
    n = np.int64(0)
    shift = np.int64(-1)
    sizes[:] = 0
    for c in range(128):
        last_shift = shift
        shift = (np.int64(ascii_table[c]) - c) & 255 if ascii_table[c] != 0 else np.int64(-1)
        if shift < 0:
            continue
        if shift != last_shift:
            if n == _RANGES:
                return n + 1
            firsts[n] = c
            shifts[n] = shift
            n += 1
        sizes[n - 1] += 1
    return n


@inlined
def _moved(b: np.uint8, first: np.uint8, size: np.uint8, shift: np.uint8) -> np.uint8:
    """Fold a byte if it is in the range; else 0."""
    return np.uint8(b + shift) if np.uint8(b - first) < size else np.uint8(0)


@helper
def _fold_ascii(
    data: ConstBytes,
    i: Int,
    n: Int,
    firsts: Bytes,
    sizes: Bytes,
    shifts: Bytes,
    folded: Bytes,
    out: Int,
) -> None:
    """Fold n bytes of ASCII by ranges: a table has to be asked for each byte, ranges for many."""
    first0, first1, first2, first3, first4 = firsts[0], firsts[1], firsts[2], firsts[3], firsts[4]
    size0, size1, size2, size3, size4 = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    shift0, shift1, shift2, shift3, shift4 = shifts[0], shifts[1], shifts[2], shifts[3], shifts[4]
    source, target = np.uint64(i), np.uint64(out)
    # LLVM turns it into vector code.
    for k in range(np.uint64(n)):
        b = data[source + k]
        low = _moved(b, first0, size0, shift0) | _moved(b, first1, size1, shift1)
        middle = _moved(b, first2, size2, shift2) | _moved(b, first3, size3, shift3)
        folded[target + k] = np.uint8(low | middle | _moved(b, first4, size4, shift4))


@kernel
def fold_texts(
    data: ConstBytes,
    offsets: ConstInt64s,
    ascii_table: ConstBytes,
    table: ConstUint64s,
    folded: Bytes,
    folded_offsets: Int64s,
) -> None:
    """Write the folded tokens of every text, separated and ended by zero bytes.

    Parameters: ``data`` and ``offsets`` (n + 1) hold n texts of valid UTF-8; ``ascii_table`` (128)
    gives the folded byte of a character, 0 for a separator; ``table`` (0x110000) as above;
    ``folded`` takes at least GROWTH * bytes + SLACK * (n + 1) bytes; ``folded_offsets`` (n + 1).
    """
    firsts = np.empty(_RANGES, np.uint8)
    sizes = np.empty(_RANGES, np.uint8)
    shifts = np.empty(_RANGES, np.uint8)
    shortest = np.int64(_BLOCK)
    if _find_ranges(ascii_table, firsts, sizes, shifts) > _RANGES:
        shortest = data.shape[0] + 1
    out = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        folded_offsets[doc] = out
        i, end = offsets[doc], offsets[doc + 1]
        while i < end:
            if data[i] < 128:
                n = ascii_end(data, i, end) - i
                if n >= shortest:
                    whole = n & -_BLOCK
                    _fold_ascii(data, i, whole, firsts, sizes, shifts, folded, out)
                    # The last block overlaps what is done, so that no byte is left for the table.
                    last = n - _BLOCK
                    _fold_ascii(data, i + last, _BLOCK, firsts, sizes, shifts, folded, out + last)
                else:
                    for k in range(n):
                        folded[np.uint64(out + k)] = ascii_table[data[np.uint64(i + k)]]
                i += n
                out += n
                continue
            code_point, length = decode(data, i)
            i += length
            entry = table[code_point]
            kind = np.int64(entry >> CLASS_SHIFT)
            if kind == IGNORED:
                continue
            if kind == SEPARATOR:
                folded[out] = 0
                out += 1
                continue
            if kind == SINGLE:
                folded[out] = 0
                out += 1
            for _ in range(np.int64((entry >> LENGTH_SHIFT) & _LOW4)):
                folded[out] = np.uint8(entry & _BYTE)
                entry >>= _8
                out += 1
            if kind == SINGLE:
                folded[out] = 0
                out += 1
        folded[out] = 0
        out += 1
        # Every text starts on a multiple of eight, because the next stage reads eight at a time.
        while out & 7:
            folded[out] = 0
            out += 1
    folded_offsets[offsets.shape[0] - 1] = out
    for k in range(8):
        folded[out + k] = 0
