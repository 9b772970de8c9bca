from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.file import rawrows
from tests.examples import examples

PIECE = st.sampled_from(
    ['"', '""', ",", "\n", "\r", "\r\n", "a", "é", '","', "b" * 15, "c" * 16, "d" * 90, "\n\n"]
)
# A quoted field with what follows its quotes, or one that is not quoted; then others.
_FIELD = rb'(?:"(?:[^"]|"")*+(?:"|\Z)[^,\r\n]*+|(?!")[^,\r\n]*+)'
ROW = re.compile(rb"%s(?:,%s)*+(?:\r\n|\r|\n|\Z)" % (_FIELD, _FIELD))


def rows_of(data: bytes) -> list[bytes]:
    """Return the rows of a file as an expression finds them, empty ones left out."""
    return [row for row in ROW.findall(data) if row.strip(b"\r\n")]


def cut(data: bytes, *, final: bool, room: int) -> tuple[list[bytes], int]:
    """Return the rows that are cut off with so much room at a time, and the bytes consumed."""
    array = np.frombuffer(data or b"\0", np.uint8)[: len(data)]
    rows, done, count = [], 0, room
    while count == room:
        starts, ends = np.full((2, room), -7, np.int64)
        count, consumed, _ = rawrows.cut_delimited(array[done:], 44, int(final), starts, ends)
        places = zip(starts[:count].tolist(), ends[:count].tolist(), strict=True)
        rows += [data[done + start : done + end] for start, end in places]
        done += consumed
    return rows, done


@examples(200)
@given(
    data=st.lists(PIECE, max_size=12).map("".join).map(str.encode),
    room=st.integers(1, 4),
    share=st.floats(0, 1),
)
def test_cut_delimited__as_an_expression(data, room, share):
    assert cut(data, final=True, room=room) == (rows_of(data), len(data))
    # What is not complete in the first piece comes again with the rest.
    piece = data[: int(share * len(data))]
    first, done = cut(piece, final=False, room=room)
    rest, _ = cut(data[done:], final=True, room=room)
    assert first + rest == rows_of(data)
