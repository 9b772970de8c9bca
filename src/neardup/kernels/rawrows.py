"""Find where rows begin and end in JSON arrays and in delimited text."""

from __future__ import annotations

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import ConstBytes, Int64s

# What the JSON array kernel expects next.
OPENING, VALUE_OR_END, COMMA_OR_END, VALUE, NOTHING = 0, 1, 2, 3, 4


@inlined
def _is_space(byte: int) -> bool:
    return byte == 32 or byte == 10 or byte == 13 or byte == 9


@kernel
def cut_array(
    data: ConstBytes,
    state: int,
    is_final: int,
    starts: Int64s,
    ends: Int64s,
) -> tuple[int, int, int, int]:
    """Find the elements of a JSON array in a piece of its file.

    Only brackets, strings and commas are looked at; whether an element is valid is for a parser to
    say. ``state`` is what is expected at byte 0; ``is_final`` tells that no more bytes follow.
    ``starts`` and ``ends`` take one entry an element: at most the number of commas plus one.

    Returns the number of complete elements, the bytes consumed, the new state, and the position of
    a byte that cannot stand where it does (-1 if there is none).
    """
    n = data.shape[0]
    count = 0
    i = 0
    while i < n:
        byte = data[i]
        if _is_space(byte):
            i += 1
            continue
        if state == OPENING:
            if byte != 91:
                return count, i, state, i
            state = VALUE_OR_END
            i += 1
            continue
        if state == NOTHING:
            return count, i, state, i
        if state == COMMA_OR_END:
            if byte == 44:
                state = VALUE
            elif byte == 93:
                state = NOTHING
            else:
                return count, i, state, i
            i += 1
            continue
        if byte == 93 and state == VALUE_OR_END:
            state = NOTHING
            i += 1
            continue
        if byte == 44 or byte == 93 or byte == 125:
            return count, i, state, i
        # An element: brackets and strings end by themselves, anything else before , ] or space.
        depth = 0
        in_string = False
        is_complete = False
        j = i
        while j < n:
            byte = data[j]
            if in_string:
                if byte == 92:
                    j += 2
                    continue
                if byte == 34:
                    in_string = False
                    if depth == 0:
                        j += 1
                        is_complete = True
                        break
            elif byte == 34:
                in_string = True
            elif byte == 123 or byte == 91:
                depth += 1
            elif byte == 125 or byte == 93:
                if depth == 0:
                    is_complete = True
                    break
                depth -= 1
                if depth == 0:
                    j += 1
                    is_complete = True
                    break
            elif depth == 0 and (byte == 44 or _is_space(byte)):
                is_complete = True
                break
            j += 1
        if not is_complete:
            if not (is_final != 0 and depth == 0 and not in_string):
                break
            j = n
        starts[count] = i
        ends[count] = j
        count += 1
        state = COMMA_OR_END
        i = j
    return count, i, state, -1


@kernel
def cut_delimited(
    data: ConstBytes,
    delimiter: int,
    is_final: int,
    starts: Int64s,
    ends: Int64s,
) -> tuple[int, int, bool]:
    r"""Find the rows of CSV or TSV in a piece of a file that starts between two rows.

    A row ends with ``\n``, ``\r\n`` or ``\r`` outside quotes and includes it; an empty line is
    no row. A quote opens only at the start of a field; two quotes inside stand for one.
    ``starts`` and ``ends`` take one entry a row: at most the number of line ends plus one.

    Returns the number of complete rows, the bytes consumed, and whether the bytes end inside
    quotes.
    """
    n = data.shape[0]
    count = 0
    start = 0
    i = 0
    at_field_start = True
    in_quotes = False
    while i < n:
        byte = data[i]
        if in_quotes:
            if byte == 34:
                if i + 1 < n and data[i + 1] == 34:
                    i += 2
                    continue
                if i + 1 == n and is_final == 0:
                    break
                in_quotes = False
            i += 1
            continue
        if byte == 34 and at_field_start:
            in_quotes = True
            at_field_start = False
            i += 1
            continue
        if byte == delimiter:
            at_field_start = True
            i += 1
            continue
        if byte != 10 and byte != 13:
            at_field_start = False
            i += 1
            continue
        line_end = i
        if byte == 13:
            if i + 1 == n and is_final == 0:
                break
            if i + 1 < n and data[i + 1] == 10:
                i += 1
        i += 1
        if line_end > start:
            starts[count] = start
            ends[count] = i
            count += 1
        start = i
        at_field_start = True
    if is_final != 0 and start < n:
        starts[count] = start
        ends[count] = n
        count += 1
        start = n
    return count, start, in_quotes
