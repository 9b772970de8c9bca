from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from neardup.errors import ReadError, WriteError
from neardup.files import streams
from neardup.files.streams import (
    COMPRESSIONS,
    InputStream,
    LocalDestination,
    OutputStream,
    compression_of,
    read_blocks,
)
from neardup.runs.runner import Runner

SUFFIXES = ["", *COMPRESSIONS]


def read_all(path: Path | str, name: str | None = None, size: int = 1000) -> bytes:
    with InputStream(str(path), compression_of(name or str(path))) as stream:
        return b"".join(read_blocks(stream, size))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_read_into__fills_what_it_is_given(make_file, suffix):
    data = os.urandom(200_001)
    path = make_file(f"a.txt{suffix}", data)
    room = memoryview(bytearray(150_000))
    with InputStream(str(path), compression_of(path.name)) as stream:
        assert stream.read(100) == data[:100]
        assert stream.read_into(room) == len(room)
        assert room == data[100:150_100]
        assert stream.read_into(room) == 49_901
        assert room[:49_901] == data[150_100:]
        assert stream.read_into(room) == 0


@pytest.mark.parametrize("suffix", list(COMPRESSIONS))
def test_input_stream__several_members(make_file, suffix):
    path = make_file(f"a.txt{suffix}", b"first ")
    path.write_bytes(path.read_bytes() + make_file(f"b.txt{suffix}", b"second").read_bytes())
    assert read_all(path) == b"first second"


@pytest.mark.parametrize("suffix", list(COMPRESSIONS))
def test_input_stream__damage_where_a_second_member_begins(make_file, suffix):
    path, member = make_file(f"a.txt{suffix}", b"first "), make_file(f"b.txt{suffix}", b"second")
    path.write_bytes(path.read_bytes() + b"?" + member.read_bytes()[1:])
    with pytest.raises(ReadError, match=r"not (valid )?compressed"):
        read_all(path)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2"])
def test_input_stream__zeros_between_members(make_file, suffix):
    path, member = make_file(f"a.txt{suffix}", b"first "), make_file(f"b.txt{suffix}", b"second")
    path.write_bytes(path.read_bytes() + bytes(20_000) + member.read_bytes() + bytes(8))
    assert read_all(path) == b"first second"


def test_input_stream__host_that_does_not_answer():
    pytest.importorskip("aiohttp")
    with pytest.raises(ReadError, match=r"^http://127\.0\.0\.1:9/a\.txt: .*connect"):
        read_all("http://127.0.0.1:9/a.txt")


def test_input_stream__unknown_protocol():
    with pytest.raises(ReadError, match=r"^nowhere://a\.txt: .*Protocol not known"):
        read_all("nowhere://a.txt")


def test_input_stream__missing_backend(monkeypatch):
    from fsspec.registry import known_implementations

    monkeypatch.setitem(
        known_implementations,
        "absent",
        {"class": "absent_module.Absent", "err": "Install absent_module"},
    )
    with pytest.raises(ReadError, match=r"Install absent_module$"):
        read_all("absent://a.txt")


TOOLS = {"": "cat", ".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bzip2"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_output_stream__pieces(tmp_path, read_back, monkeypatch, suffix):
    monkeypatch.setitem(streams._PIECE_BYTES, COMPRESSIONS.get(suffix), 1000)
    random = np.random.default_rng(5)
    data = random.integers(97, 103, 8000, np.uint8).tobytes()
    written = set()
    for workers in (1, 2, 5):
        for most in (1, 7, 5000):
            path = tmp_path / f"a.txt{suffix}"

            def write(_: object, path: Path = path, most: int = most) -> None:
                with OutputStream(LocalDestination(path), compression_of(path.name)) as stream:
                    place = 0
                    while place < len(data):
                        cuts = np.cumsum([place, *random.integers(0, most, 9, endpoint=True)])
                        stream.write(*(data[i:j] for i, j in pairwise(cuts.tolist())))
                        place = int(cuts[-1])

            list(Runner(workers).map(write, [0]))
            written.add(path.read_bytes())
            assert read_back(path) == read_all(path) == data
    # However it is written and by how many threads.
    assert len(written) == 1
    if shutil.which(TOOLS[suffix]):
        command = [TOOLS[suffix], *(["-dc"] if suffix else []), str(path)]
        assert subprocess.run(command, check=True, capture_output=True).stdout == data


@pytest.mark.parametrize("n_bytes", [0, 999, 1000, 1001, 2000])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_output_stream__as_many_bytes_as_a_piece(tmp_path, read_back, monkeypatch, suffix, n_bytes):
    monkeypatch.setitem(streams._PIECE_BYTES, COMPRESSIONS.get(suffix), 1000)
    path = tmp_path / f"a.txt{suffix}"
    with OutputStream(LocalDestination(path), compression_of(path.name)) as stream:
        stream.write(b"x" * n_bytes)
    assert read_back(path) == b"x" * n_bytes
    assert bool(path.stat().st_size) == bool(suffix or n_bytes)


def test_output_stream__cannot_create(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(WriteError, match=r"a/b\.txt: "):
        OutputStream(LocalDestination(tmp_path / "a" / "b.txt"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_output_stream__disk_full(suffix, monkeypatch):
    monkeypatch.setitem(streams._PIECE_BYTES, COMPRESSIONS.get(suffix), 1 << 20)
    stream = OutputStream(LocalDestination(Path("/dev/full")), COMPRESSIONS.get(suffix))
    with pytest.raises(WriteError, match=r"^/dev/full: .*No space left"):
        stream.write(os.urandom(2_000_000))
    stream.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_output_stream__disk_full_on_close(suffix):
    stream = OutputStream(LocalDestination(Path("/dev/full")), COMPRESSIONS.get(suffix))
    stream.write(b"a few bytes")
    with pytest.raises(WriteError, match=r"^/dev/full: .*No space left"):
        stream.close()
    stream.close()


@pytest.mark.parametrize("content", [b"plain", gzip.compress(b"one", mtime=0) + b"plain"])
def test_gzip__something_else(tmp_path, content):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(content)
    with (
        pytest.raises(ReadError, match=r"not compressed.*gzip"),
        InputStream(str(path), "gzip") as stream,
    ):
        stream.read(100)
