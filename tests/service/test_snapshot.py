"""Compaction and snapshots of an index while it is served."""

from __future__ import annotations

import io
import tarfile
import threading
from pathlib import Path
from typing import Any

import pytest

import neardup
from neardup.errors import IndexFormatError, OutputExistsError, WriteError
from neardup.index.snapshot import open_snapshot
from neardup.options.service import ServeOptions
from neardup.service.serve import open_indexes
from tests.document_indexes import OPTIONS, text_of
from tests.service.conftest import TOKEN, start_service


@pytest.fixture
def folders(tmp_path) -> list[str]:
    index = neardup.DocumentIndex.create(tmp_path / "docs", **OPTIONS, columns="lang")
    index.add([{"id": f"d{k}", "text": text_of(k), "lang": "en"} for k in range(20)])
    neardup.PassageIndex.create(tmp_path / "texts", min_tokens=3, num_perm=16).add(
        [{"id": "p", "text": "a text of some words for passages"}]
    )
    return [str(tmp_path / "docs"), str(tmp_path / "texts")]


@pytest.fixture
def running(folders):
    indexes = open_indexes(folders, ServeOptions(writable=True))
    yield from start_service(indexes, writable=True)


def unpacked(tar: bytes, folder: Path) -> Path:
    """Write the files of a snapshot as ``tar -xf`` does."""
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_compact(running):
    remote = neardup.connect(running.url, index="docs")
    remote.remove([f"d{k}" for k in range(5)])
    remote.insert("last", text_of(50))
    found = running.post("/v1/indexes/docs/compact", {}).json()
    assert (found["segments"], found["documents"]) == (1, 16)
    assert running.post("/v1/indexes/docs/insert", {"id": "z", "text": "y"}).status_code == 200


def test_snapshot__is_a_committed_state(running, tmp_path):
    """Taken while somebody writes, it is a state that was committed, whole."""
    remote = neardup.connect(running.url, index="docs")
    remote.remove(["d3"])
    ends = threading.Event()

    def write() -> None:
        for number in range(1000):
            if ends.is_set():
                return
            remote.insert(f"w{number}", text_of(100 + number), lang="de")
            if number % 10 == 0:
                remote.commit()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        tars = [running.get("/v1/indexes/docs/snapshot") for _ in range(3)]
    finally:
        ends.set()
        writer.join()
    for number, tar in enumerate(tars):
        assert tar.headers["content-type"] == "application/x-tar"
        assert int(tar.headers["content-length"]) == len(tar.content)
        copy = neardup.DocumentIndex.open(unpacked(tar.content, tmp_path / f"copy-{number}"))
        copy.info()
        found = copy.documents(0, 10_000)
        # All that was inserted up to some moment, in order, and nothing else.
        kept = [f"d{k}" for k in range(20) if k != 3]
        assert [row["id"] for row in found[:19]] == kept
        written = [row["id"] for row in found[19:]]
        assert written == [f"w{number}" for number in range(len(written))]
        for row in found[::7]:
            assert row == remote.get(row["id"])
            assert copy.query(row["text"])[0].similarity == 1


def test_snapshot__by_python(running, tmp_path):
    remote, tar = neardup.connect(running.url, index="docs"), tmp_path / "docs.tar"
    assert remote.snapshot(tar) == tar.stat().st_size
    copy = neardup.DocumentIndex.open(unpacked(tar.read_bytes(), tmp_path / "copy"))
    assert copy.documents() == remote.documents()
    with pytest.raises(OutputExistsError, match=r"docs\.tar exists; choose another name"):
        remote.snapshot(tar)
    with pytest.raises(WriteError, match="cannot write"):
        remote.snapshot(tmp_path / "no folder" / "docs.tar")
    with pytest.raises(neardup.ServiceError, match="there is nothing here"):
        remote._transport.save("/v1/nothing", io.BytesIO())


def test_snapshot__stays_what_it_is(folders, tmp_path):
    """Its files are open: what is compacted away meanwhile is in it."""
    folder = Path(folders[0])
    index = neardup.DocumentIndex.open(folder)
    before = index.documents()
    snapshot = open_snapshot(folder)
    index.remove(["d1"])
    index.insert("x", "y", lang=None)
    index.commit()
    index.compact()
    data = b"".join(snapshot.parts())
    assert len(data) == snapshot.n_bytes
    copy = neardup.DocumentIndex.open(unpacked(data, tmp_path / "copy"))
    assert copy.documents() == before
    path = next((folder / "segments").rglob("*.npy"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexFormatError, match="shorter than it should be"):
        open_snapshot(folder)


def test_roles(start, token_file, folders):
    token_file.write_text(f"{TOKEN} role=read\n")
    options: dict[str, Any] = {"writable": True, "token_file": token_file}
    running = start(open_indexes(folders, ServeOptions(**options)), **options)
    with running.client(headers={"authorization": f"Bearer {TOKEN}"}) as client:
        for answer in (
            client.get("/v1/indexes/docs/snapshot"),
            client.post("/v1/indexes/docs/compact", json={}),
        ):
            assert answer.status_code == 403
            assert "role write" in answer.json()["detail"]
