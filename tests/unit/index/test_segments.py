"""Segments are written as a whole, and every flipped bit is found where it is read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import IndexFormatError
from neardup.index import segments
from neardup.index.segments import CheckedArray, SegmentWriter, check_all, open_segment
from neardup.runs.runner import Runner

PAGE = segments.SMALL_PAGE
TABLE = pa.table({"id": ["a", None], "n": [1, 2]})


def write(folder, arrays, direct="", name="s"):
    """Write arrays, of which each is a list of parts."""
    with SegmentWriter(folder, name, page_bytes=PAGE, direct=direct) as writer:
        for array, parts in arrays.items():
            for part in parts:
                writer.append(array, part)
        writer.add_table("table", TABLE)
        return writer.commit(3, 7, pa.int32())


@given(
    sizes=st.lists(st.integers(0, 2 * PAGE + 100), min_size=1, max_size=6),
    direct=st.sampled_from(["", "bytes", "pairs"]),
    seed=st.integers(0, 99),
)
def test_round_trip__of_any_parts(tmp_path_factory, sizes, direct, seed):
    folder, rng = tmp_path_factory.mktemp("index"), np.random.default_rng(seed)
    arrays = {
        "numbers": [rng.integers(0, 2**63, size).astype(np.uint64) for size in sizes],
        "bytes": [rng.integers(0, 256, size).astype(np.uint8) for size in sizes],
        "pairs": [rng.integers(0, 9, (size, 2)) for size in sizes],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_IN_MEMORY", 1000)
        patch.setattr(segments, "_AT_ONCE", 5000)
        record = write(folder, arrays, direct)
    opened = open_segment(folder, record)
    assert (record.n_documents, record.n_tokens, opened.id_type) == (3, 7, pa.int32())
    for name, parts in arrays.items():
        found, expected = opened.array(name), np.concatenate(parts)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert (found == expected).all()
    assert opened.table("table").equals(TABLE)
    assert [path.name for path in (folder / "segments").iterdir()] == ["s"]


def test_write__without_commit_leaves_nothing(tmp_path):
    with SegmentWriter(tmp_path, "s") as writer:
        writer.append("a", np.zeros(9))
    assert not list((tmp_path / "segments").iterdir())


@pytest.fixture
def made(tmp_path):
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 2**63, 2000).astype(np.uint64)
    return tmp_path, write(tmp_path, {"b": [numbers], "a": [numbers[:9]]}, "b")


def flip(folder, place):
    path = folder / "segments/s"
    data = bytearray(path.read_bytes())
    data[place] ^= 16
    path.write_bytes(data)


@pytest.mark.parametrize("place", [0, 4095, 4096, 8191, 12_288, 15_999])
def test_flip__is_found_where_it_is_read(made, place):
    folder, record = made
    flip(folder, place)
    for way in range(3):
        array = CheckedArray(open_segment(folder, record), "b")
        for row in (0, 511, 512, 1023, 1024, 1536, 1999):
            rows = np.array([row])
            read = (
                lambda row=row, array=array: array.part(row, row + 1),
                lambda rows=rows, array=array: array.take(rows),
                lambda rows=rows, array=array: array.check_ranges(rows, rows + 1),
            )[way]
            if row // 512 == place // 4096:
                for _ in range(2):
                    with pytest.raises(IndexFormatError, match=r"segments/s.*damaged \(page"):
                        read()
            else:
                read()
    with pytest.raises(IndexFormatError):
        check_all([open_segment(folder, record)], Runner(2))


def test_flip__of_the_header(made):
    folder, record = made
    for place in range(record.data_bytes, record.n_bytes):
        flip(folder, place)
        with pytest.raises(IndexFormatError, match=r"header .*checksum"):
            open_segment(folder, record)
        flip(folder, place)
    check_all([open_segment(folder, record)], Runner(1))


def test_cut_off(made):
    folder, record = made
    data = (folder / "segments/s").read_bytes()
    for other in (b"", data[:-1], data + b"0"):
        (folder / "segments/s").write_bytes(other)
        with pytest.raises(IndexFormatError, match="bytes expected"):
            open_segment(folder, record)
    (folder / "segments/s").unlink()
    with pytest.raises(IndexFormatError, match="is missing"):
        open_segment(folder, record)
