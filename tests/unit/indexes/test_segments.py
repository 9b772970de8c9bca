"""Segments and single arrays: round trips, and files that are not what they should be."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from neardup.errors import IndexFormatError, InvalidParameterError, WriteError
from neardup.indexes.folder import load_removed, write_extra, write_removed
from neardup.indexes.handle import CheckedFiles
from neardup.indexes.manifest import Manifest, RemovedRecord, SegmentRecord
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


def test_segment__arrays_of_any_layout(tmp_path):
    rows = np.arange(60, dtype=np.uint32).reshape(20, 3)
    with SegmentWriter(tmp_path, "s") as writer:
        writer.add("fortran", np.asfortranarray(rows))
        writer.add("every-other", rows[::2, 1])
        writer.add("big-end", rows.astype(">u4"))
        record = SegmentRecord("s", 0, 0, writer.commit())
    segment = open_segment(tmp_path, record, Runner(1))
    assert (segment.array("fortran", np.uint32, ndim=2) == rows).all()
    assert (segment.array("every-other", np.uint32) == rows[::2, 1]).all()
    assert (segment.array("big-end", np.uint32, ndim=2) == rows).all()


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


def test_segment__table_is_mapped(tmp_path):
    table = pa.table({"x": np.arange(2 << 20)})
    with SegmentWriter(tmp_path, "s") as writer:
        writer.add_table("documents", table)
        record = SegmentRecord("s", 0, 0, writer.commit())
    before = pa.total_allocated_bytes()
    segment = open_segment(tmp_path, record, Runner(1))
    assert segment.table("documents").equals(table)
    assert pa.total_allocated_bytes() - before < 1 << 20


@pytest.mark.skipif(not shutil.os.path.exists("/proc/self/fd"), reason="looks into /proc")
def test_segment__keeps_no_file_open(tmp_path):
    import gc
    import os

    # Files of earlier tests, which the garbage collector may close at any moment.
    gc.collect()
    with SegmentWriter(tmp_path, "s") as writer:
        before = len(os.listdir("/proc/self/fd"))
        for i in range(300):
            writer.append(f"a{i}", np.arange(i))
        assert len(os.listdir("/proc/self/fd")) == before
        record = SegmentRecord("s", 0, 0, writer.commit())
    segment = open_segment(tmp_path, record, Runner(1))
    assert len(os.listdir("/proc/self/fd")) == before
    for i in range(300):
        assert (segment.array(f"a{i}", np.int64) == np.arange(i)).all()


@pytest.mark.skipif(not shutil.os.path.exists("/proc/self/smaps"), reason="looks into /proc")
def test_segment__gives_its_memory_back(tmp_path):
    """Also that of the check when it was opened; what is touched again is what it was."""
    numbers = np.arange(1 << 20)
    with SegmentWriter(tmp_path, "s") as writer:
        writer.append("a", numbers)
        writer.add_table("documents", pa.table({"x": numbers}))
        record = SegmentRecord("s", 0, 0, writer.commit())
    segment = open_segment(tmp_path, record, Runner(1))

    def resident():
        """Kilobytes of the segment's files that are in the memory of this process."""
        found, is_own = 0, False
        for line in Path("/proc/self/smaps").read_text().splitlines():
            if "-" in line.split()[0]:
                is_own = str(tmp_path) in line
            elif is_own and line.startswith("Rss:"):
                found += int(line.split()[1])
        return found

    assert resident() < 1000
    for _ in range(2):
        assert (segment.array("a", np.int64) == numbers).all()
        assert segment.table("documents")["x"].to_pylist()[-1] == numbers[-1]
        assert resident() > 8000
        segment.let_go()
        assert resident() < 200


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


@each_of("name", ["", "A", "a b", "../a", ".a", "a.npy", "é", "a" * 101, "a\n"])
def test_segment__wrong_name(tmp_path, name):
    with pytest.raises(InvalidParameterError, match="small letters"):
        SegmentWriter(tmp_path, name)
    with SegmentWriter(tmp_path, "s") as writer, pytest.raises(InvalidParameterError):
        writer.add(name, np.arange(3))
    with pytest.raises(InvalidParameterError, match="small letters"):
        write_extra(tmp_path, name, np.arange(3))


@each_of(
    "array",
    [
        np.array(3),
        np.zeros((3, 2)),
        np.zeros((3, 3, 3)),
        np.array(["a"]),
        np.array([None]),
        np.zeros(3, "c8"),
        np.zeros(3, "M8[s]"),
        np.zeros(3, [("a", "i4")]),
    ],
)
def test_segment__wrong_array(tmp_path, array):
    with SegmentWriter(tmp_path, "s") as writer:
        with pytest.raises(InvalidParameterError, match="an index stores numbers"):
            writer.add("a", array)
        # Nothing is committed after an error.
        with pytest.raises(InvalidParameterError, match="before its commit or an error"):
            writer.commit()
    assert list((tmp_path / "segments").iterdir()) == []


def test_segment__wrong_use(tmp_path):
    with SegmentWriter(tmp_path, "a") as writer:
        writer.append("a", np.arange(3))
        with pytest.raises(InvalidParameterError, match="cannot follow"):
            writer.append("a", np.arange(3, dtype=np.uint8))
    with SegmentWriter(tmp_path, "a") as writer:
        writer.append("a", np.arange(3))
        with pytest.raises(InvalidParameterError, match="cannot follow"):
            writer.append("a", np.zeros((2, 3), np.int64))
    with SegmentWriter(tmp_path, "a") as writer:
        writer.append("a", np.arange(3))
        with pytest.raises(InvalidParameterError, match="already"):
            writer.add("a", np.arange(3))
    with SegmentWriter(tmp_path, "a") as writer:
        writer.add_table("a", pa.table({}))
        with pytest.raises(InvalidParameterError, match="already"):
            writer.add_table("a", pa.table({}))
    with SegmentWriter(tmp_path, "a") as writer:
        writer.commit()
        with pytest.raises(InvalidParameterError, match="before its commit"):
            writer.append("a", np.arange(3))
    with pytest.raises(InvalidParameterError, match="in its `with` block"):
        SegmentWriter(tmp_path, "b").add("a", np.arange(3))


def test_segment__is_not_what_the_caller_expects(tmp_path):
    segment = open_segment(tmp_path, write_segment(tmp_path, 1), Runner(1))
    for dtype, ndim in ((np.int64, 1), (np.uint64, 2), (">u8", 1), (np.uint32, 1)):
        with pytest.raises(IndexFormatError, match=r"keys.npy: expected .* found uint64 in 1; res"):
            segment.array("keys", dtype, ndim=ndim)
    with pytest.raises(IndexFormatError, match=r"expected 5 rows, found 101"):
        segment.array("keys", np.uint64, length=5)
    with pytest.raises(IndexFormatError, match=r"nope.npy: the index has no such file"):
        segment.array("nope", np.uint64)
    with pytest.raises(IndexFormatError, match=r"nope.arrow: the index has no such file"):
        segment.table("nope")
    with pytest.raises(IndexFormatError, match=r"other columns \(id: string, start: int64\)"):
        segment.table("documents", pa.schema({"id": pa.string()}))


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


@each_of(
    "head",
    [
        b"",
        b"x" * 128,
        b"<u4', 'fortran_order': False, 'shape': (51,), }",
        b"<u4', 'fortran_order': False, 'shape': (49,), }",
        b"<u4', 'fortran_order': False, 'shape': (050,), }",
        b"<u4', 'fortran_order': True, 'shape': (50,), }",
        b">u4', 'fortran_order': False, 'shape': (50,), }",
        b"|O8', 'fortran_order': False, 'shape': (50,), }",
        b"|u4', 'fortran_order': False, 'shape': (50,), }",
        b"<u4', 'fortran_order': False, 'shape': (50, 3), }",
        b"<u4', 'fortran_order': False, 'shape': (9999999999999999999,), }",
    ],
)
def test_open_segment__wrong_header(tmp_path, head):
    """A right checksum saves no header from being looked at."""
    with SegmentWriter(tmp_path, "s") as writer:
        writer.add("a", np.arange(50, dtype=np.uint32))
        writer.commit()
    path = tmp_path / "segments" / "s" / "a.npy"
    data = path.read_bytes()
    if head.endswith(b"}"):
        head = (data[:10] + b"{'descr': '" + head).ljust(127) + b"\n"
    path.write_bytes(head + data[128:])
    record = SegmentRecord("s", 0, 0, {"a.npy": record_of_file(path)})
    with pytest.raises(IndexFormatError, match=r"a.npy: the file is no array of an index; restore"):
        open_segment(tmp_path, record, Runner(1))


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


@each_of("numbers", [[], [1, 1], [2, 1], [[1]]])
def test_removed__wrong_numbers(tmp_path, numbers):
    array = np.array(numbers, np.uint32)
    with pytest.raises(InvalidParameterError, match="ascending"):
        write_removed(tmp_path, "r1", array)
    if array.shape == (2,):
        files = write_extra(tmp_path, "r1", array)
        (tmp_path / "extra").rename(tmp_path / "removed")
        record = SegmentRecord("s", 9, 0, {}, RemovedRecord("r1", 2, files["r1.npy"]))
        with pytest.raises(IndexFormatError, match="the numbers are not those"):
            load_removed(tmp_path, record)


def test_removed__wrong_type(tmp_path):
    with pytest.raises(InvalidParameterError, match="uint32"):
        write_removed(tmp_path, "r1", np.array([1, 2]))


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
