from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
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
    file_size,
    open_random,
    read_blocks,
)
from neardup.runs.runner import Runner
from tests.each import each_of

SUFFIXES = ["", *COMPRESSIONS]
INCOMPLETE = "the compressed data end too early; the file is incomplete, get a full copy"


def read_all(path: Path | str, name: str | None = None, size: int = 1000) -> bytes:
    with InputStream(str(path), compression_of(name or str(path))) as stream:
        return b"".join(read_blocks(stream, size))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_input_stream__reads_every_compression(make_file, suffix):
    data = os.urandom(5000) + b"a" * 5000
    assert read_all(make_file(f"a.txt{suffix}", data)) == data


@pytest.mark.parametrize("compression", COMPRESSIONS.values())
def test_compress__may_go_as_garbage(compression, monkeypatch):
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    circle: list[object] = [streams.compress(b"abc", compression)]
    circle.append(circle)
    del circle
    gc.collect()
    assert ignored == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_read_blocks__blocks_are_full(make_file, suffix):
    path = make_file(f"a.txt{suffix}", b"x" * 200_001)
    with InputStream(str(path), compression_of(path.name)) as stream:
        assert [len(block) for block in read_blocks(stream, 50_000)] == [50_000] * 4 + [1]


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


def test_read_into__of_a_stream_that_only_reads(make_file):
    class Reader:
        def __init__(self, stream):
            self.read, self.close = stream.read, stream.close

    with InputStream(str(make_file("a.txt", b"abcde"))) as stream:
        stream._stream = Reader(stream._stream)
        room = memoryview(bytearray(4))
        assert stream.read_into(room) == 4
        assert stream.read_into(room) == 1
        assert room == b"ebcd"


@pytest.mark.parametrize("suffix", list(COMPRESSIONS))
def test_read_into__of_an_empty_file_that_should_be_compressed(make_file, suffix):
    path = make_file("a.txt", b"").rename(make_file("b.txt", b"").with_name(f"c{suffix}"))
    with (
        InputStream(str(path), compression_of(path.name)) as stream,
        pytest.raises(ReadError, match=INCOMPLETE),
    ):
        stream.read_into(memoryview(bytearray(4)))


@pytest.mark.parametrize("suffix", list(COMPRESSIONS))
def test_input_stream__several_members(make_file, suffix):
    path = make_file(f"a.txt{suffix}", b"first ")
    path.write_bytes(path.read_bytes() + make_file(f"b.txt{suffix}", b"second").read_bytes())
    assert read_all(path) == b"first second"


@pytest.mark.parametrize("suffix", list(COMPRESSIONS))
@pytest.mark.parametrize("left", [0, 10, -1])
def test_input_stream__truncated(make_file, suffix, left):
    path = make_file(f"a.txt{suffix}", os.urandom(10_000))
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(ReadError, match=rf"^{re.escape(str(path))}: {INCOMPLETE}$"):
        read_all(path)


@pytest.mark.parametrize("suffix", list(COMPRESSIONS))
def test_input_stream__not_compressed(make_file, suffix):
    path = make_file("a.txt", b"this is plain text, whatever the name says")
    renamed = path.rename(f"{path}{suffix}")
    with pytest.raises(ReadError, match=r": not valid compressed data: ") as caught:
        read_all(renamed)
    assert caught.value.path == str(renamed)


@pytest.mark.parametrize("suffix", list(COMPRESSIONS))
def test_input_stream__empty_content(make_file, suffix):
    assert read_all(make_file(f"a.txt{suffix}", b"")) == b""


@each_of("suffix", SUFFIXES)
def test_input_stream__no_such_file(tmp_path, suffix):
    path = tmp_path / f"a.txt{suffix}"
    with pytest.raises(ReadError, match=rf"^{re.escape(str(path))}: no such file$"):
        read_all(path)


def test_input_stream__folder(tmp_path):
    with pytest.raises(ReadError, match=r": expected a file, this is a folder$"):
        read_all(tmp_path)


def test_input_stream__url(make_file):
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://folder/a.txt.gz", "wb") as file:
        file.write(make_file("a.txt.gz", b"remote").read_bytes())
    assert read_all("memory://folder/a.txt.gz") == b"remote"
    assert file_size("memory://folder/a.txt.gz") is None
    with open_random("memory://folder/a.txt.gz") as file:
        assert file.seek(2) == 2


def test_input_stream__url_without_file():
    with pytest.raises(ReadError, match=r"^memory://folder/none\.txt: no such file$"):
        read_all("memory://folder/none.txt")


def test_input_stream__host_that_does_not_answer():
    pytest.importorskip("aiohttp")
    with pytest.raises(
        ReadError, match=r"^http://127\.0\.0\.1:9/a\.txt: cannot be read: .*connect"
    ):
        read_all("http://127.0.0.1:9/a.txt")


def test_input_stream__unknown_protocol():
    with pytest.raises(ReadError, match=r"^nowhere://a\.txt: cannot be read: Protocol not known"):
        read_all("nowhere://a.txt")


def test_input_stream__missing_backend(monkeypatch):
    from fsspec.registry import known_implementations

    monkeypatch.setitem(
        known_implementations,
        "absent",
        {"class": "absent_module.Absent", "err": "Install absent_module"},
    )
    with pytest.raises(ReadError, match=r"another package: Install absent_module$"):
        read_all("absent://a.txt")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_output_stream__same_bytes_every_time(tmp_path, read_back, suffix):
    data = b"some text\n" * 1000
    written = []
    for name in (f"deep/er/a.txt{suffix}", f"b.txt{suffix}"):
        with OutputStream(LocalDestination(tmp_path / name), compression_of(name)) as stream:
            stream.write(data[:500])
            stream.write(memoryview(data)[500:])
        stream.close()
        assert read_back(tmp_path / name) == data
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]


TOOLS = {"": "cat", ".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bzip2"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_output_stream__pieces(tmp_path, read_back, monkeypatch, suffix):
    monkeypatch.setitem(streams._PIECE_BYTES, COMPRESSIONS.get(suffix), 1000)
    monkeypatch.setattr(streams, "_MOST_BUFFERS", 3)
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


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_output_stream__pieces_compress_as_well_as_all(tmp_path, suffix):
    # Of the others, a piece is larger than all of this.
    words = np.random.default_rng(7).zipf(1.3, 1 << 21) % 5000
    data = " ".join(map(str, words.tolist())).encode()
    path = tmp_path / f"a.txt{suffix}"
    with OutputStream(LocalDestination(path), compression_of(path.name)) as stream:
        stream.write(data)
    assert path.stat().st_size <= 1.01 * len(streams.compress(data, COMPRESSIONS[suffix]))


def test_output_stream__cannot_create(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(WriteError, match=r"a/b\.txt: cannot be written: "):
        OutputStream(LocalDestination(tmp_path / "a" / "b.txt"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_output_stream__disk_full(suffix, monkeypatch):
    monkeypatch.setitem(streams._PIECE_BYTES, COMPRESSIONS.get(suffix), 1 << 20)
    message = r"^/dev/full: cannot be written: No space left on device$"
    stream = OutputStream(LocalDestination(Path("/dev/full")), COMPRESSIONS.get(suffix))
    with pytest.raises(WriteError, match=message):
        stream.write(os.urandom(2_000_000))
    stream.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_output_stream__disk_full_on_close(suffix):
    stream = OutputStream(LocalDestination(Path("/dev/full")), COMPRESSIONS.get(suffix))
    stream.write(b"a few bytes")
    with pytest.raises(WriteError, match=r"^/dev/full: cannot be written: No space left"):
        stream.close()
    stream.close()
