"""Ids: repeated ones are found whatever their hashes, and looked up where they are."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidInputError
from neardup.files import documents as ids_module
from neardup.files.documents import check_unique
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
    assert f" in f, row {first};" in str(caught.value)


@given(parts, st.lists(st.sets(st.integers(0, 40)), max_size=5))
def test_lookup__takes_ids_forwards_and_back(parts, calls):
    values = [value for part in parts for value in part]
    lookup = IdLookup(make_catalogue(parts, pa.int64()))
    for wanted in calls:
        documents = sorted(d for d in wanted if d < len(values))
        found = lookup.take(np.array(documents, np.int64))
        assert found.type == pa.int64()
        assert found.to_pylist() == [values[d] for d in documents]


def write(path, ids):
    rows = [json.dumps({"id": each, "text": f"text {each}"}) for each in ids]
    path.write_text("\n".join(rows) + "\n")


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
def test_repeated_id__in_every_job(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    write(folder / "a.jsonl", [*range(2000), 7])
    place = r"a\.jsonl, row 2001: id 7 .* a\.jsonl, row 8; "
    option = r"'id' .*read=neardup.ReadOptions\(id_column=\.\.\.\)"
    with pytest.raises(InvalidInputError, match=f"{place}.*{option}"):
        WAYS[name](folder)
