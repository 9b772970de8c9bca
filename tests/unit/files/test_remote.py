"""Files that are written to object stores: these show one when it is closed."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest
from fsspec import AbstractFileSystem
from fsspec.spec import AbstractBufferedFile

from neardup.errors import WriteError
from neardup.files.remote import RemoteDestination, RemoteFile, to_its_end
from neardup.files.streams import COMPRESSIONS, OutputStream


class _Upload(AbstractBufferedFile):
    def _initiate_upload(self) -> None:
        self.fs.parts = 0

    def _upload_chunk(self, final: bool = False) -> bool:
        if self.fs.parts == self.fs.good_parts:
            raise ConnectionResetError
        self.fs.parts += 1
        self.fs.sent += self.buffer.getvalue()
        if final:
            self.fs.objects[self.path] = self.fs.sent
        return True

    def discard(self) -> None:
        self.fs.discarded.append(self.path)


class Store(AbstractFileSystem):
    """An object store that takes so many parts of a file."""

    cachable = False

    def __init__(self, good_parts: int = 1000) -> None:
        super().__init__()
        self.good_parts, self.sent = good_parts, b""
        self.objects: dict[str, bytes] = {}
        self.discarded: list[str] = []

    def _open(self, path: str, mode: str = "rb", **_: Any) -> _Upload:
        return _Upload(self, path, mode, block_size=100)


def test_remote_file__there_when_it_is_closed():
    store = Store()
    file = RemoteFile(store, "bucket/a", "store://bucket/a")
    for _ in range(10):
        file.write(memoryview(b"x" * 30))
    assert store.objects == {}
    file.close()
    file.close()
    assert (store.objects, file.is_complete) == ({"bucket/a": b"x" * 300}, True)
    file.abandon()
    assert store.discarded == []


def write_parts(file: RemoteFile) -> None:
    for _ in range(10):
        file.write(b"x" * 150)


@pytest.mark.parametrize("good_parts", [0, 1])
def test_remote_file__fails(good_parts):
    store = Store(good_parts)
    file = RemoteFile(store, "bucket/a", "store://bucket/a")
    with pytest.raises(WriteError, match=r"store://bucket/a: ConnectionResetError$"):
        write_parts(file)
    file.close()
    del file
    assert (store.objects, store.discarded) == ({}, ["bucket/a"])


def test_remote_file__fails_when_it_is_closed():
    store = Store(0)
    file = RemoteFile(store, "bucket/a", "store://bucket/a")
    file.write(b"x")
    with pytest.raises(WriteError, match="store://bucket/a: "):
        file.close()
    file.abandon()
    assert (store.objects, store.discarded, file.is_complete) == ({}, ["bucket/a"], False)


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_to_its_end__an_interrupt_waits():
    done = []

    def call() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
        done.append(True)

    # Where the parent ignores the signal, Python leaves it alone.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            to_its_end(call)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert done == [True]


def write_and_fail(store: Store) -> None:
    with RemoteFile(store, "bucket/a", "store://bucket/a") as file:
        file.write(b"x")
        raise KeyError


def test_remote_file__error_between():
    store = Store()
    with pytest.raises(KeyError):
        write_and_fail(store)
    assert (store.objects, store.discarded) == ({}, ["bucket/a"])


@pytest.mark.parametrize("suffix", ["", *COMPRESSIONS])
def test_output_stream__to_a_url(suffix, read_back, tmp_path):
    store, data = Store(), b"some text\n" * 1000
    files: list[RemoteFile] = []
    place = RemoteDestination(store, "bucket", "store://bucket", files) / f"a.txt{suffix}"
    with OutputStream(place, COMPRESSIONS.get(suffix)) as stream:
        stream.write(data)
    (tmp_path / f"a.txt{suffix}").write_bytes(store.objects[f"bucket/a.txt{suffix}"])
    assert read_back(tmp_path / f"a.txt{suffix}") == data
    assert [file.is_complete for file in files] == [True]
