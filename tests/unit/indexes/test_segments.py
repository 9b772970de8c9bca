"""Segments and single arrays: round trips, and files that are not what they should be."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from neardup.errors import IndexFormatError, WriteError
from neardup.indexes.folder import load_removed, write_extra, write_removed
from neardup.indexes.handle import CheckedFiles
from neardup.indexes.manifest import Manifest, SegmentRecord
from neardup.indexes.segments import SegmentWriter, open_segment
from neardup.runs.disk import record_of_file
from neardup.runs.runner import Runner
from tests.each import each_of
from tests.indexes import contents, write_segment

DTYPES = "?bhiqBHIQefd"


@each_of("workers", [1, 2])
@each_of("code", DTYPES)
def test_segment__array_round_trip(tmp_path, code, workers):
    rng = np.random.default_rng(3)
    parts = [rng.integers(0, 100, n).astype(code) for n in (0, 5, 1, 0, 700)]
    rows = rng.integers(0, 100, (50, 3)).astype(code)
    with SegmentWriter(tmp_path, "s") as writer:
        for part in parts:
            writer.append("parts", part)
        writer.append("rows", rows[:1])
        writer.append("rows", rows[1:])
        writer.add("none", rows[:0])
        files = writer.commit()
    record = SegmentRecord("s", 0, 0, files)
    segment = open_segment(tmp_path, record, Runner(workers))
    array = segment.array("parts", code, length=706)
    np.testing.assert_array_equal(array, np.concatenate(parts), strict=True)
    np.testing.assert_array_equal(segment.array("rows", code, ndim=2), rows, strict=True)
    assert segment.array("none", code, ndim=2).shape == (0, 3)
    assert array.flags.c_contiguous
    assert array.flags.aligned
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    # Anybody can read them.
    np.testing.assert_array_equal(np.load(segment.path / "rows.npy"), rows, strict=True)
    np.testing.assert_array_equal(np.load(segment.path / "parts.npy"), array, strict=True)


@each_of(
    "table",
    [
        pa.table({"id": pa.array([], pa.large_string())}),
        pa.table({}),
        pa.table({"id": ["a", None, "é"], "n": pa.array([1, 2, None], pa.uint32())}),
        pa.table({"x": pa.chunked_array([[1], [2, 3], []], pa.int64())}),
        pa.table({"x": pa.array(["a", "b", "a"]).dictionary_encode(), "y": [[1], [], None]}),
    ],
)
def test_segment__table_round_trip(tmp_path, table):
    with SegmentWriter(tmp_path, "s") as writer:
        writer.add_table("documents", table)
        record = SegmentRecord("s", 0, 0, writer.commit())
    assert open_segment(tmp_path, record, Runner(1)).table("documents", table.schema).equals(table)


def test_segment__survives_its_removal(tmp_path):
    segment = open_segment(tmp_path, write_segment(tmp_path, 1), Runner(1))
    shutil.rmtree(tmp_path / "segments")
    assert (segment.array("keys", np.uint64) == contents(1)["keys"]).all()
    assert segment.table("documents").equals(contents(1)["documents"])


def test_segment__no_commit(tmp_path):
    with SegmentWriter(tmp_path, "s") as writer:
        writer.add("a", np.arange(3))
    assert list((tmp_path / "segments").iterdir()) == []
    with pytest.raises(KeyboardInterrupt), SegmentWriter(tmp_path, "s") as writer:  # noqa: PT012
        writer.add("a", np.arange(3))
        raise KeyboardInterrupt
    assert list((tmp_path / "segments").iterdir()) == []


def test_segment__replaces_what_a_killed_writer_left(tmp_path):
    part = tmp_path / "segments" / ".s1.part"
    part.mkdir(parents=True)
    (part / "keys.npy").write_text("half")
    (part / "more.npy").write_text("half")
    open_segment(tmp_path, write_segment(tmp_path, 1), Runner(1))


def test_segment__name_is_in_use(tmp_path):
    record = write_segment(tmp_path, 1)
    with pytest.raises(WriteError, match="segments/s1 exists; remove what does not belong"):
        write_segment(tmp_path, 1)
    open_segment(tmp_path, record, Runner(1))


def test_open_segment__missing_file(tmp_path):
    record = write_segment(tmp_path, 1)
    for name in record.files:
        path = tmp_path / "segments" / "s1" / name
        data = path.read_bytes()
        path.unlink()
        with pytest.raises(IndexFormatError, match=f"{name}: the file is missing; restore"):
            open_segment(tmp_path, record, Runner(1))
        path.mkdir()
        with pytest.raises(IndexFormatError, match=f"{name}: the file is missing; restore"):
            open_segment(tmp_path, record, Runner(1))
        path.rmdir()
        path.write_bytes(data)
    open_segment(tmp_path, record, Runner(1))
    with pytest.raises(IndexFormatError, match="s2: the segment is missing; restore"):
        open_segment(tmp_path, replace(record, name="s2"), Runner(1))


@each_of("name", ["more.npy", "documents", ".hidden", "keys.npy.bak"])
def test_open_segment__extra_file(tmp_path, name):
    record = write_segment(tmp_path, 1)
    (tmp_path / "segments" / "s1" / name).write_text("")
    with pytest.raises(IndexFormatError, match=f"{name}: the file does not belong to the index"):
        open_segment(tmp_path, record, Runner(1))


def test_open_segment__file_of_another_segment(tmp_path):
    record, other = write_segment(tmp_path, 1), write_segment(tmp_path, 2)
    for name in ("keys.npy", "spans.npy", "documents.arrow"):
        path = tmp_path / "segments" / "s1" / name
        data = path.read_bytes()
        shutil.copy(tmp_path / "segments" / "s2" / name, path)
        with pytest.raises(IndexFormatError, match=f"{name}: .* (expected|damaged)"):
            open_segment(tmp_path, record, Runner(1))
        path.write_bytes(data)
    with pytest.raises(IndexFormatError):
        open_segment(tmp_path, replace(other, name="s1"), Runner(1))


@pytest.mark.parametrize("data", [b"", b"ARROW1\0\0", b"x" * 500])
def test_open_segment__wrong_files_of_right_checksum(tmp_path, data):
    folder = tmp_path / "segments" / "s"
    folder.mkdir(parents=True)
    for name in ("a.npy", "a.arrow"):
        (folder / name).write_bytes(data)
        record = SegmentRecord("s", 0, 0, {name: record_of_file(folder / name)})
        with pytest.raises(IndexFormatError, match=f"{name}: the file is no"):
            open_segment(tmp_path, record, Runner(1))
        (folder / name).unlink()


def test_removed__round_trip(tmp_path):
    numbers = np.array([0, 3, 9], np.uint32)
    removed = write_removed(tmp_path, "r1", numbers)
    assert (removed.name, removed.n_documents) == ("r1", 3)
    record = SegmentRecord("s", 10, 0, {}, removed)
    assert load_removed(tmp_path, record).tolist() == [0, 3, 9]
    assert load_removed(tmp_path, SegmentRecord("s", 10, 0, {})).tolist() == []
    with pytest.raises(IndexFormatError, match=r"r1.npy: the numbers are not those of 3 documents"):
        load_removed(tmp_path, SegmentRecord("s", 9, 0, {}, removed))
    with pytest.raises(IndexFormatError, match=r"r1.npy: the numbers are not those of 2 documents"):
        load_removed(tmp_path, SegmentRecord("s", 10, 0, {}, replace(removed, n_documents=2)))
    with pytest.raises(WriteError, match=r"r1.npy exists"):
        write_removed(tmp_path, "r1", numbers)
    assert load_removed(tmp_path, record).tolist() == [0, 3, 9]
    (tmp_path / "removed" / "r1.npy").unlink()
    with pytest.raises(IndexFormatError, match=r"r1.npy: the file is missing; restore"):
        load_removed(tmp_path, record)


def test_extra__round_trip(tmp_path):
    files = write_extra(tmp_path, "counts", np.arange(6).reshape(2, 3))
    files |= write_extra(tmp_path, "names", np.arange(4, dtype=np.uint64))
    opened = CheckedFiles(tmp_path).open(Manifest({}, files=files), Runner(1))
    found = opened.extra("counts", np.int64, ndim=2)
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert opened.extra("names", np.uint64).tolist() == [0, 1, 2, 3]
    with pytest.raises(IndexFormatError, match=r"names.npy: expected int64"):
        opened.extra("names", np.int64)
    with pytest.raises(IndexFormatError, match=r"nope.npy: the index has no such file"):
        opened.extra("nope", np.int64)
