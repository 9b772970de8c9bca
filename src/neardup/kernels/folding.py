"""Cut texts into tokens by character tables: UTF-8 in, folded tokens separated by zero bytes out.

The tables (built in ``neardup.text.characters`` from ``unicodedata``) say for every code point
whether it separates tokens, belongs to one, is a token by itself, or is passed over, and which
UTF-8 bytes stand for it after folding.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import Bytes, ConstBytes, ConstInt64s, ConstUint64s, Int, Int64s

# An entry of the code point table: folded bytes in the low 56 bits (first byte lowest), their
# number in bits 56 to 59, the class in bits 60 and 61.
SEPARATOR, WORD, SINGLE, IGNORED = 0, 1, 2, 3
LENGTH_SHIFT, CLASS_SHIFT = np.uint64(56), np.uint64(60)
_LOW4, _BYTE, _8 = np.uint64(15), np.uint64(255), np.uint64(8)

# A text of n bytes folds to at most this many bytes: a fold may turn 2 bytes into 6, a token of one
# character gets a separator on each side, and reading ahead needs eight more.
GROWTH, SLACK = 3, 16


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
    out = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        folded_offsets[doc] = out
        i, end = offsets[doc], offsets[doc + 1]
        while i < end:
            while i + 16 <= end:
                high = data[np.uint64(i)]
                for k in range(1, 16):
                    high |= data[np.uint64(i + k)]
                if high >= 128:
                    break
                for k in range(16):
                    folded[np.uint64(out + k)] = ascii_table[data[np.uint64(i + k)]]
                i += 16
                out += 16
            if i == end:
                break
            b = data[i]
            if b < 128:
                folded[out] = ascii_table[b]
                out += 1
                i += 1
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
