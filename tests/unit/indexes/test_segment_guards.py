"""Files of right checksums that do not fit together are refused before a kernel sees them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neardup import IndexFormatError, PassageIndex
from neardup.indexes.folder import changing
from neardup.indexes.manifest import SegmentRecord, load_manifest, store_manifest
from neardup.indexes.segments import SegmentWriter, open_segment
from neardup.passages.segment import DOCUMENT_SCHEMA
from neardup.runs.runner import Runner
from tests.each import each_of


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """Make a segment of which no array is empty: long windows, and gaps of 255 bytes or more."""
    folder = tmp_path_factory.mktemp("built") / "index"
    made = PassageIndex.create(folder, min_tokens=3, num_perm=8)
    words = " ".join(f"w{i}" for i in range(70_000))
    made.add([words, "", f"a b c {' ' * 300} d e f"])
    return folder


def rebuild(built: Path, folder: Path, change) -> None:
    """Copy the index with arrays that ``change`` has changed, and all records right."""
    (record,) = load_manifest(built).segments
    stored = open_segment(built, record, Runner(1))
    arrays = {name: np.array(array) for name, array in stored.arrays.items()}
    tables = dict(stored.tables)
    change(arrays, tables)
    PassageIndex.create(folder, min_tokens=3, num_perm=8)
    with changing(folder) as manifest, SegmentWriter(folder, "s") as writer:
        for name, array in arrays.items():
            writer.add(name, array)
        for name, table in tables.items():
            writer.add_table(name, table)
        files = writer.commit()
        changed = SegmentRecord("s", record.n_documents, record.n_tokens, files)
        store_manifest(folder, replace(manifest, generation=1, segments=(changed,)))


SIZED = {
    "key-starts": "key-starts",
    "list-starts": "list-starts",
    "spans": "spans",
    "wide-spans": "wide-spans",
    "tokens": "tokens",
    "offsets": "offsets",
    "gaps": "gaps",
    "lengths": "lengths",
    "samples": "samples",
    "far-values": "far-values",
    # Of these, others have as many rows.
    "keys": "list-starts",
    "starts": "spans",
    "wide-rows": "wide-spans",
    "far-places": "far-values",
}


@pytest.mark.slow
@each_of("by", [-1, 1])
@each_of("name", SIZED)
def test_open__array_of_another_length(built, tmp_path, name, by):
    def change(arrays, tables):
        assert len(arrays[name])
        if by < 0:
            arrays[name] = arrays[name][:by]
        else:
            arrays[name] = np.concatenate([arrays[name], arrays[name][-by:]])

    rebuild(built, tmp_path / "index", change)
    with pytest.raises(IndexFormatError, match=rf"/{SIZED[name]}\.npy: expected [0-9,]+ rows, fou"):
        PassageIndex.open(tmp_path / "index")


@each_of("place", ["first", "middle", "last"])
@each_of("name", ["offsets", "key-starts", "list-starts"])
def test_open__places_that_lead_outside(built, tmp_path, name, place):
    def change(arrays, tables):
        match place:
            case "first":
                arrays[name][0] = -1
            case "middle":
                arrays[name][1], arrays[name][2] = arrays[name][2] + 1, arrays[name][1]
            case _:
                arrays[name][-1] += 1

    rebuild(built, tmp_path / "index", change)
    with pytest.raises(IndexFormatError, match=rf"/{name}\.npy: the file does not fit"):
        PassageIndex.open(tmp_path / "index")


def test_open__other_documents(built, tmp_path):
    def drop(arrays, tables):
        tables["documents"] = tables["documents"].slice(1)

    rebuild(built, tmp_path / "fewer", drop)
    with pytest.raises(IndexFormatError, match=r"/documents\.arrow: the file does not fit"):
        PassageIndex.open(tmp_path / "fewer")

    def rename(arrays, tables):
        tables["documents"] = tables["documents"].rename_columns(["id", "body"])

    rebuild(built, tmp_path / "renamed", rename)
    with pytest.raises(IndexFormatError, match=r"documents\.arrow: the table has other columns"):
        PassageIndex.open(tmp_path / "renamed")
    assert DOCUMENT_SCHEMA.names == ["id", "text"]
