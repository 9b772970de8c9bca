"""Ids are found among others of the same hash; those that come twice are named with both rows."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import InvalidInputError, PassageIndex, ReadOptions
from neardup.files.documents import IdTable, common_id_type, join_ids
from tests.each import each_of

ids = st.lists(st.sampled_from(["", "a", "b", "ab", "é", "a" * 9, "b" * 16, "x1", "x2", "x3"]))


@given(have=ids, wanted=ids, n_hashes=st.sampled_from([1, 2, 2**64 - 1]))
def test_find__as_a_list_does(have, wanted, n_hashes):
    from neardup.files import documents as module

    real = module.hash_ids
    with patch.object(module, "hash_ids", lambda column: real(column) % np.uint64(n_hashes)):
        table = IdTable(pa.array(have, pa.large_string()))
        found = table.find(pa.array(wanted, pa.large_string()))
    assert found.tolist() == [
        dict(zip(have, range(len(have)), strict=True)).get(i, -1) for i in wanted
    ]


def rows(*names: str) -> list[dict[str, str]]:
    return [{"id": name, "text": "one two three four"} for name in names]


@pytest.fixture
def index(tmp_path) -> PassageIndex:
    made = PassageIndex.create(tmp_path / "index", min_tokens=2, num_perm=8)
    made.add(rows("a", "b"), read=ReadOptions(id_column="id"))
    made.add(rows("c", "d"), read=ReadOptions(id_column="id"))
    return made


def test_add__places_of_rows_behind_skipped_ones(index, tmp_path):
    path = tmp_path / "a.jsonl"
    lines = ['{"id": "n1", "text": 5}', '{"id": "n2", "text": "x"}', '{"id": "n2", "text": ""}']
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidInputError, match=r"^a\.jsonl, row 3: .*'n2'.* a\.jsonl, row 2"):
        index.add(path, read=ReadOptions(id_column="id", on_error="skip"))


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
