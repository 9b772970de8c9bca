"""Ids are found among others of the same hash; those that come twice are named with both rows."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import InvalidInputError, PassageIndex, ReadOptions
from neardup.files.ids import IdTable

ids = st.lists(st.sampled_from(["", "a", "b", "ab", "é", "a" * 9, "b" * 16, "x1", "x2", "x3"]))


@given(have=ids, wanted=ids, n_hashes=st.sampled_from([1, 2, 2**64 - 1]))
def test_find__as_a_list_does(have, wanted, n_hashes):
    from neardup.files import ids as module

    real = module.hash_ids
    with patch.object(module, "hash_ids", lambda column: real(column) % np.uint64(n_hashes)):
        table = IdTable(pa.array(have, pa.large_string()))
        found = table.find(pa.array(wanted, pa.large_string()))
    assert found.tolist() == [have.index(i) if i in have else -1 for i in wanted]


def rows(*names: str) -> list[dict[str, str]]:
    return [{"id": name, "text": "one two three four"} for name in names]


@pytest.fixture
def index(tmp_path) -> PassageIndex:
    made = PassageIndex.create(tmp_path / "index", min_tokens=2, num_perm=8)
    made.add(rows("a", "b"), read=ReadOptions(id_column="id"))
    made.add(rows("c", "d"), read=ReadOptions(id_column="id"))
    return made


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["x", "d", "a"], "data, row 2: id 'd' is in the index already; ids must differ."),
        (["x", "y", "b"], "data, row 3: id 'b' is in the index already; ids must differ."),
        (["x", "y", "y", "x"],
         "data, row 3: id 'y' was used before, in data, row 2; ids must differ"),
    ],
)  # fmt: skip
def test_add__names_the_rows(index, names, message):
    with pytest.raises(InvalidInputError) as caught:
        index.add(rows(*names), read=ReadOptions(id_column="id"))
    assert str(caught.value).startswith(message)
    assert len(index) == 4


@pytest.mark.parametrize(
    ("rows_of_b", "row"),
    [('{"id": "n2", "text": "x"}\n\n{"id": "n1", "text": "x"}\n', 3),
     ('{"id": "n1", "text": "x"}\n{"id": "n2", "text": "x"}\n', 1)],
)  # fmt: skip
def test_add__same_id_in_two_files(index, tmp_path, rows_of_b, row):
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"id": "n1", "text": "x"}\n')
    (folder / "b.jsonl").write_text(rows_of_b)
    message = (
        rf"^b\.jsonl, row {row}: id 'n1' was used before, in a\.jsonl, row 1; ids must differ; "
        r"name another column with id_column, or '' for <file>:<row>$"
    )
    with pytest.raises(InvalidInputError, match=message):
        index.add(folder, read=ReadOptions(id_column="id"))


def test_add__places_of_rows_behind_skipped_ones(index, tmp_path):
    path = tmp_path / "a.jsonl"
    lines = ['{"id": "n1", "text": 5}', '{"id": "n2", "text": "x"}', '{"id": "n2", "text": ""}']
    path.write_text("\n".join(lines))
    message = (
        r"^a\.jsonl, row 3: id 'n2' was used before, in a\.jsonl, row 2; ids must differ; name"
    )
    with pytest.raises(InvalidInputError, match=message):
        index.add(path, read=ReadOptions(id_column="id", on_error="skip"))
