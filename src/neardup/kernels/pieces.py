"""Follow texts through Unicode normalisation: pieces that it treats independently of each other.

A table (built in ``neardup.text.forms``) says for every code point whether normalisation may join
it to what precedes, and whether it may change.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.folding import decode
from neardup.kernels.types import Bytes, ConstBytes, ConstInt64s, Int64s

# May be joined to what precedes; never is, but changes; never is, and stays as it is.
JOINED, CHANGED, PLAIN = 0, 1, 2


@kernel
def count_special(data: ConstBytes, offsets: ConstInt64s, table: ConstBytes) -> np.int64:
    """Count the characters that are not PLAIN; ASCII characters all are.

    ``data`` and ``offsets`` hold texts of valid UTF-8, ``table`` (0x110000) as above.
    """
    count = np.int64(0)
    i, end = offsets[0], offsets[offsets.shape[0] - 1]
    while i < end:
        while i + 16 <= end:
            high = data[np.uint64(i)]
            for k in range(1, 16):
                high |= data[np.uint64(i + k)]
            if high >= 128:
                break
            i += 16
        if i == end:
            break
        if data[i] < 128:
            i += 1
            continue
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
    """Cut n texts into pieces whose normalised forms, joined, are those of the texts.

    A piece is a run of plain characters, or one character and all that may be joined to it.
    ``bounds``, with room for n + 1 values and two for each character that is not PLAIN, takes the
    byte positions in ``data`` between the pieces; ``plain``, with the same room, 1 for a run of
    plain characters; ``document_pieces`` (n + 1) each text's first piece. An empty text has no
    piece. Returns the number of pieces.
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
    """Join plain pieces, as they are, and the normalised forms of the others.

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
    """Turn places of tokens in normalised texts into places in the texts as they were.

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
