from __future__ import annotations

import pyarrow as pa

from neardup.files.documents import common_id_type, join_ids
from tests.each import each_of


@each_of(
    ("types", "expected"),
    [
        ([], pa.large_string()),
        ([pa.int64()], pa.int64()),
        ([pa.uint64(), pa.uint64()], pa.uint64()),
        ([pa.int8(), pa.uint32(), pa.int64()], pa.int64()),
        ([pa.uint64(), pa.int8()], pa.large_string()),
        ([pa.int64(), pa.string()], pa.large_string()),
        ([pa.string()], pa.large_string()),
    ],
)
def test_common_id_type(types, expected):
    assert common_id_type(types) == expected


def test_join_ids__parts_without_an_id_have_no_say():
    nothing, bad = pa.array([], pa.string()), pa.nulls(2, pa.string())
    joined = join_ids([nothing, pa.array([7], pa.int32()), bad])
    assert (joined.type, joined.to_pylist()) == (pa.int32(), [7, None, None])
    assert join_ids([nothing, bad]).type == pa.large_string()
    assert join_ids([]).type == pa.large_string()


def test_join_ids__strings_keep_their_zeros():
    joined = join_ids([pa.array(["007"]), pa.array([7, None])])
    assert (joined.type, joined.to_pylist()) == (pa.large_string(), ["007", "7", None])
