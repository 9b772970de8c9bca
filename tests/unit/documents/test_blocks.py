"""Blocks: what is packed comes out again, whatever it is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.documents import blocks
from neardup.tables import Texts
from tests.arrays import make_texts
from tests.each import each_of
from tests.strategies import any_text


def cells(column: Texts) -> list[bytes]:
    return [
        column.data[start:stop].tobytes()
        for start, stop in zip(column.offsets, column.offsets[1:], strict=False)
    ]


rows_of_texts = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.tuples(*[any_text] * n), min_size=1, max_size=6)
)


@given(
    rows=rows_of_texts, lead=st.sampled_from(["", "lead"]), with_user=st.booleans(), data=st.data()
)
def test_unpack__gives_what_was_packed(rows, lead, with_user, data):
    columns = [make_texts(column, lead=lead, trail="x") for column in zip(*rows, strict=True)]
    table = None
    if with_user:
        table = pa.table({"n": range(len(rows)), "t": [row[0] or None for row in rows]})
    packed, raw_size = blocks.pack(columns, table)
    block = blocks.unpack(packed, raw_size)
    assert len(block) == len(rows)
    assert [cells(block.column(number)) for number in range(len(columns))] == [
        cells(column) for column in columns
    ]
    assert block.user_columns == table
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5))
    taken, user = block.take(np.array(chosen, np.int64))
    for number, column in enumerate(taken):
        assert cells(column) == [rows[row][number].encode() for row in chosen]
        assert [block.cell(number, row).tobytes() for row in chosen] == cells(column)
    assert user == (None if table is None else table.take(pa.array(chosen, pa.int64())))


@each_of(
    ("columns", "expected"),
    [
        ([[1], [None], [2]], [1, None, 2]),
        ([[1], [2.5]], [1.0, 2.5]),
        ([[1], ["a", None], [2.5]], ["1", "a", None, "2.5"]),
        ([[[1]], ["a"]], ["[1]", "a"]),
    ],
)
def test_join_tables__of_columns_of_several_types(columns, expected):
    tables = [pa.table({"c": values, "n": [7] * len(values)}) for values in columns]
    joined = blocks.join_tables(tables)
    assert joined["c"].to_pylist() == expected
    assert joined["n"].to_pylist() == [7] * len(expected)
