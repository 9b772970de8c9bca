"""Ids: repeated ones are found whatever their hashes, and looked up where they are."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidInputError
from neardup.files import documents as ids_module
from neardup.files.documents import EarlyIds, check_unique
from neardup.files.rows import ColumnNames
from neardup.reading.catalogue import IdLookup
from tests.catalogues import COLUMNS, Ids, make_catalogue
from tests.each import each_of

parts = st.lists(st.lists(st.none() | st.integers(-3, 10), max_size=6), max_size=5)


def expected_error(values):
    """Return the places of the first id that was used before, and of its first use."""
    seen = {}
    for place, value in enumerate(values):
        if value is not None and value in seen:
            return place, seen[value]
        seen[value] = place
    return None


@pytest.mark.parametrize("mask", [0, 3, 2**64 - 1])
@given(parts)
def test_check_unique__whatever_the_hashes(mask, parts):
    values = [value for part in parts for value in part]
    expected = expected_error(values)
    real = ids_module.hash_ids
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids_module, "hash_ids", lambda ids: real(ids) & np.uint64(mask))
        if expected is None:
            check_unique(Ids(parts, pa.int64()), lambda place: ("f", place), COLUMNS)
            return
        with pytest.raises(InvalidInputError) as caught:
            check_unique(Ids(parts, pa.int64()), lambda place: ("f", place), COLUMNS)
    place, first = expected
    assert caught.value.row == place
    assert f"used before, in f, row {first};" in str(caught.value)


@given(parts, st.lists(st.sets(st.integers(0, 40)), max_size=5))
def test_lookup__takes_ids_forwards_and_back(parts, calls):
    values = [value for part in parts for value in part]
    lookup = IdLookup(make_catalogue(parts, pa.int64()))
    for wanted in calls:
        documents = sorted(d for d in wanted if d < len(values))
        found = lookup.take(np.array(documents, np.int64))
        assert found.type == pa.int64()
        assert found.to_pylist() == [values[d] for d in documents]


def write(path, ids, *more):
    rows = [json.dumps({"id": each, "text": f"text {each}"}) for each in ids]
    path.write_text("\n".join([*rows, *more]) + "\n")


def index_of(kind, folder):
    return kind.create(folder.parent / kind.__name__)


WAYS = {
    "dedup": lambda folder: neardup.deduplicate(folder),
    "dedup, skipped rows": lambda folder: neardup.deduplicate(
        folder, read=neardup.ReadOptions(on_error="skip")
    ),
    "pairs": lambda folder: neardup.find_pairs(folder, method="exact"),
    "cut": lambda folder: neardup.cut(folder, exact=True),
    "cut, similar": lambda folder: neardup.cut(folder),
    "sketch": lambda folder: neardup.sketch(folder),
    "index": lambda folder: index_of(neardup.DocumentIndex, folder).add(folder),
}


@each_of("name", WAYS)
def test_repeated_id__comes_before_what_is_read_later(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    write(folder / "a.jsonl", [*range(2000), 7])
    # Many blocks, because threads read ahead.
    for number in range(40):
        write(folder / f"b{number:02}.jsonl", [f"{number}"], "" if number < 39 else "no row")
    message = (
        r"a\.jsonl, row 2001: id 7 was used before, in a\.jsonl, row 8; ids must differ; ids come "
        r"from column 'id' .* name another with id_column,"
    )
    with pytest.raises(InvalidInputError, match=message):
        WAYS[name](folder)


def test_early_ids__when_their_number_has_doubled():
    columns = ColumnNames(id="key")
    ids = EarlyIds(columns)
    add = partial(ids.add, file="a", numbers=np.arange(1, 1025))
    add(pa.array(range(1024)))
    # It is not looked for before there are 2,048.
    ids.add(pa.array([5]), "b", np.array([3]))
    with pytest.raises(InvalidInputError, match=r"^b, row 3: id 5 was used before, in a, row 6;"):
        add(pa.array(range(2000, 3024)))


def test_early_ids__rows_that_were_skipped_have_none():
    ids = EarlyIds(ColumnNames(id="key"))
    ids.add(pa.nulls(1500), "a", np.arange(1500))
    ids.add(pa.array([None, "x"] * 1 + [str(n) for n in range(3000)]), "b", np.arange(3002))
