"""Find the lines and paragraphs of texts, and white space at the ends of lines."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.folding import decode
from neardup.kernels.types import Bytes, ConstBytes, ConstInt64s, Int, Int64s

_NEWLINE, _RETURN = 10, 13


@inlined
def _is_space(code_point: Int) -> bool:
    """Return whether a character is white space, as ``str.isspace`` says."""
    if code_point < 0x80:
        return bool(code_point == 32 or 9 <= code_point <= 13 or 28 <= code_point <= 31)
    if code_point < 0x2000:
        return bool(code_point == 0x85 or code_point == 0xA0 or code_point == 0x1680)
    if code_point <= 0x200A:
        return True
    is_other = code_point == 0x2028 or code_point == 0x2029 or code_point == 0x202F
    return bool(is_other or code_point == 0x205F or code_point == 0x3000)


@kernel
def find_units(
    data: ConstBytes,
    offsets: ConstInt64s,
    of_paragraphs: int,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
    ends: Int64s,
) -> int:
    r"""Find the lines of texts, or their paragraphs, which blank lines part.

    A line ends with ``\n``, ``\r\n`` or ``\r``; one of white space is blank, and no unit. Of each
    unit the outputs take its document, where it starts and stops, counted from the start of its
    text, and where what ends it does: a line's end, behind a paragraph blank lines too. They have
    room for as many values as there are line ends, and one more a text. Returns how many there are.
    """
    count = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        origin, end = offsets[doc], offsets[doc + 1]
        first = count
        # Whether the line before was a part of the last unit.
        is_open = False
        i = origin
        while i < end:
            start = i
            is_blank = True
            while i < end and data[i] != _NEWLINE and data[i] != _RETURN:
                if is_blank:
                    code_point, length = np.int64(data[i]), np.int64(1)
                    if code_point >= 128:
                        character, n_bytes = decode(data, i)
                        code_point, length = np.int64(character), np.int64(n_bytes)
                    is_blank = _is_space(code_point)
                    i += length
                else:
                    i += 1
            stop = i
            if i < end:
                is_pair = data[i] == _RETURN and i + 1 < end and data[i + 1] == _NEWLINE
                i += 2 if is_pair else 1
            if is_blank:
                is_open = False
                if of_paragraphs != 0 and count > first:
                    ends[count - 1] = i - origin
                continue
            if not (of_paragraphs != 0 and is_open):
                documents[count] = doc
                starts[count] = start - origin
                count += 1
            is_open = True
            stops[count - 1] = stop - origin
            ends[count - 1] = i - origin
    return int(count)


@kernel
def trim_lines(data: ConstBytes, offsets: ConstInt64s, trimmed: Bytes) -> None:
    r"""Copy texts with newlines in place of the white space that lines end with, byte for byte.

    Lines as of ``find_units``, but U+0000 ends one too; of one of white space, newlines are all
    that is left. ``trimmed`` is as long as the texts together.
    """
    origin = offsets[0]
    for doc in range(offsets.shape[0] - 1):
        i, end = offsets[doc], offsets[doc + 1]
        # Where the white space began that goes up to here.
        blank = i
        while i < end:
            code_point, length = np.int64(data[i]), np.int64(1)
            if code_point >= 128:
                character, n_bytes = decode(data, i)
                code_point, length = np.int64(character), np.int64(n_bytes)
            for k in range(i, i + length):
                trimmed[k - origin] = data[k]
            i += length
            if code_point in (0, _NEWLINE, _RETURN):
                for k in range(blank, i):
                    trimmed[k - origin] = _NEWLINE
                blank = i
            elif not _is_space(code_point):
                blank = i
        for k in range(blank, end):
            trimmed[k - origin] = _NEWLINE
