"""Cut UTF-8 texts into folded tokens by character tables.

Zero bytes separate the tokens. The tables (built in ``neardup.text.forms`` from ``unicodedata``)
have the role of every code point: a separator, a part of a token, a token by itself, a mark of the
letter before it, or ignored; and its UTF-8 bytes after folding.

Eight bytes are loaded at a time, as one 64-bit word with the first byte lowest.

Unicode normalisation treats pieces independently of each other. A table (built in
``neardup.text.forms``) marks the code points that it may join to the text before, or may change.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel, trailing_zeros
from neardup.kernels.types import Bytes, ConstBytes, ConstInt64s, ConstUint64s, Int, Int64s

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
# character gets a separator on each side, and reading ahead needs eight more.
GROWTH, SLACK = 3, 16

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
    out = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        folded_offsets[doc] = out
        i, end = offsets[doc], offsets[doc + 1]
        # Class of the letter or digit that a mark would belong to, or SEPARATOR.
        base = np.int64(SEPARATOR)
        while i < end:
            if data[i] < 128:
                n = ascii_end(data, i, end) - i
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


# May be joined to the text before; only changes; stays unchanged.
JOINED, CHANGED, PLAIN = 0, 1, 2


@kernel
def count_special(data: ConstBytes, offsets: ConstInt64s, table: ConstBytes) -> np.int64:
    """Count the non-ASCII characters that are not PLAIN.

    ``data`` and ``offsets`` are texts of valid UTF-8, ``table`` (0x110000) as above.
    """
    count = np.int64(0)
    i, end = offsets[0], offsets[offsets.shape[0] - 1]
    while i < end:
        i = ascii_end(data, i, end)
        if i == end:
            break
        code_point, length = decode(data, i)
        count += np.int64(table[code_point] != PLAIN)
        i += length
    return count


@kernel
def cut_pieces(
    data: ConstBytes,
    offsets: ConstInt64s,
    table: ConstBytes,
    bounds: Int64s,
    plain: Bytes,
    document_pieces: Int64s,
) -> np.int64:
    """Cut n texts into pieces that normalisation treats independently.

    A piece is a run of plain characters, or one character and all that may be joined to it.
    ``bounds``, with room for n + 1 values and two for each character that is not PLAIN, takes the
    byte positions in ``data`` between the pieces; ``plain``, with the same room, 1 for a run of
    plain characters; ``document_pieces`` (n + 1) each text's first piece. An empty text does not
    have a piece. Returns the number of pieces.
    """
    n_pieces = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        document_pieces[doc] = n_pieces
        i, origin, end = offsets[doc], offsets[doc], offsets[doc + 1]
        in_run = False
        while i < end:
            kind, length = np.int64(PLAIN), np.int64(1)
            if data[i] >= 128:
                code_point, n_bytes = decode(data, i)
                kind, length = np.int64(table[code_point]), np.int64(n_bytes)
            start = i
            if kind == JOINED and in_run:
                # The run's last character goes with this one.
                start -= 1
                while data[start] & 0xC0 == 0x80:
                    start -= 1
                if start == bounds[n_pieces - 1]:
                    n_pieces -= 1
            if i == origin or in_run != (kind == PLAIN) or kind == CHANGED:
                bounds[n_pieces] = start
                plain[n_pieces] = np.uint8(kind == PLAIN)
                n_pieces += 1
            in_run = kind == PLAIN
            i += length
    document_pieces[offsets.shape[0] - 1] = n_pieces
    bounds[n_pieces] = offsets[offsets.shape[0] - 1]
    return n_pieces


@kernel
def join_pieces(
    data: ConstBytes,
    bounds: ConstInt64s,
    normal: ConstBytes,
    normal_offsets: ConstInt64s,
    formed: Bytes,
    formed_bounds: Int64s,
    unchanged: Bytes,
) -> None:
    """Join plain pieces with the normalised forms of other pieces.

    Parameters: ``data`` and ``bounds`` as in ``cut_pieces``; ``normal`` and ``normal_offsets`` the
    normalised forms of the pieces that are not plain; ``formed`` takes the joined bytes,
    ``formed_bounds`` (n_pieces + 1) the positions between them. ``unchanged`` comes in as
    ``plain`` and becomes 1 for every piece that is the same bytes after normalisation.
    """
    out = np.int64(0)
    special = np.int64(0)
    for piece in range(bounds.shape[0] - 1):
        formed_bounds[piece] = out
        start, length = bounds[piece], bounds[piece + 1] - bounds[piece]
        if unchanged[piece]:
            for k in range(length):
                formed[np.uint64(out + k)] = data[np.uint64(start + k)]
            out += length
            continue
        normal_start = normal_offsets[special]
        normal_length = normal_offsets[special + 1] - normal_start
        same = length == normal_length
        for k in range(normal_length):
            byte = normal[normal_start + k]
            same = same and byte == data[start + k]
            formed[out + k] = byte
        unchanged[piece] = np.uint8(same)
        out += normal_length
        special += 1
    formed_bounds[bounds.shape[0] - 1] = out


@kernel
def map_spans(
    bounds: ConstInt64s,
    formed_bounds: ConstInt64s,
    unchanged: ConstBytes,
    document_pieces: ConstInt64s,
    token_offsets: ConstInt64s,
    starts: Int64s,
    stops: Int64s,
) -> None:
    """Map token places in normalised texts to the originals.

    A token that touches a changed piece gets all of it. ``starts`` and ``stops`` are replaced.
    """
    for doc in range(document_pieces.shape[0] - 1):
        first, beyond = document_pieces[doc], document_pieces[doc + 1]
        if first == beyond:
            continue
        origin, formed_origin = bounds[first], formed_bounds[first]
        piece = first
        for token in range(token_offsets[doc], token_offsets[doc + 1]):
            start, stop = formed_origin + starts[token], formed_origin + stops[token]
            # Tokens of a tokenizer file may overlap, so the next one may start further back.
            while piece > first and formed_bounds[piece] > start:
                piece -= 1
            while piece + 1 < beyond and formed_bounds[piece + 1] <= start:
                piece += 1
            place = bounds[piece]
            if unchanged[piece]:
                place += start - formed_bounds[piece]
            starts[token] = place - origin
            while piece + 1 < beyond and formed_bounds[piece + 1] < stop:
                piece += 1
            place = bounds[piece + 1]
            if unchanged[piece]:
                place = bounds[piece] + stop - formed_bounds[piece]
            stops[token] = place - origin
