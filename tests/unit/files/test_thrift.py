"""Thrift's compact protocol against bytes that were written by hand, and those of Arrow."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.files.thrift import List, Struct, read_struct, write_struct
from tests.each import each_of

MANY = 300


@each_of(
    ("data", "fields"),
    [
        (b"\0", {}),
        # True, false, and a byte.
        (b"\x11\x12\x13\x7f\0", {1: (1, True), 2: (2, False), 3: (3, 127)}),
        # Whole numbers are doubled, negative ones odd; a field may be far behind the one before.
        (b"\x15\x54\x06\xc8\x01\x01\0", {1: (5, 42), 100: (6, -1)}),
        (b"\x26\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0", {2: (6, -(2**63))}),
        (b"\x17" + b"\1" * 8 + b"\x18\x02hi\0", {1: (7, b"\1" * 8), 2: (8, b"hi")}),
        (b"\x19\x25\x02\x04\0", {1: (9, List(5, [1, 2]))}),
        (b"\x19\x31\1\2\1\0", {1: (9, List(1, [1, 2, 1]))}),
        (b"\x1a\xf5\x0f" + b"\2" * 15 + b"\0", {1: (10, List(5, [1] * 15))}),
        (b"\x1c\x15\2\0\x11\0", {1: (12, Struct({1: (5, 1)})), 2: (1, True)}),
    ],
)
def test_struct__as_it_is_defined(data, fields):
    assert read_struct(data) == Struct(fields)
    assert write_struct(Struct(fields)) == data


@each_of(
    "data", [b"", b"\x15", b"\x18\x05hi", b"\x1d\0", b"\x19\xf5\xff\xff\x7f\0", b"\x1c" * 5000]
)
def test_struct__damaged(data):
    with pytest.raises((LookupError, ValueError, RecursionError)):
        read_struct(data)


def test_struct__footers_of_arrow():
    columns = {f"column {i}": pa.array([i, None, -i], pa.int32()) for i in range(MANY)}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, row_group_size=1, write_page_index=True)
    file = sink.getvalue().to_pybytes()
    footer = file[-8 - int.from_bytes(file[-8:-4], "little") : -8]
    found = read_struct(footer)
    assert write_struct(found) == footer
    assert found[3] == 3
    assert [group.get(3) for group in found[4].values] == [1, 1, 1]
