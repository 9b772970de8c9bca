"""Indexes that are made, copied, restored, found and dropped while the service runs."""

from __future__ import annotations

import contextlib
import errno
import http.client
import io
import json
import tarfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import neardup
from neardup.errors import (
    IndexFormatError,
    InvalidInputError,
    InvalidParameterError,
    OutputExistsError,
    ReadError,
    WriteError,
)
from neardup.indexes.snapshot import Snapshot, SnapshotHeads, open_snapshot, unpack_snapshot
from neardup.options.service import ServeOptions
from neardup.service.serve import open_indexes
from tests.document_indexes import OPTIONS, text_of
from tests.each import each_of
from tests.service.conftest import TOKEN, Running, make_fake, start_service
from tests.service.waiting import wait_for

TAR = {"content-type": "application/x-tar"}


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "root"
    index = neardup.DocumentIndex.create(folder / "docs", **OPTIONS, columns="lang")
    index.add([{"id": f"d{k}", "text": text_of(k), "lang": "en"} for k in range(20)])
    neardup.PassageIndex.create(folder / "texts", min_tokens=3, num_perm=16).add(
        [{"id": "p", "text": "a text of some words for passages"}]
    )
    (folder / "no index").mkdir()
    (folder / ".hidden").mkdir()
    return folder


@pytest.fixture
def running(root):
    options: dict[str, Any] = {"root": root, "writable": True}
    indexes = open_indexes([], ServeOptions(**options))
    yield from start_service(indexes, **options)


def names(running: Running) -> list[str]:
    return [entry["name"] for entry in running.get("/v1").json()["indexes"]]


def test_create_and_drop(running, root):
    assert names(running) == ["docs", "texts"]
    made = {"kind": "documents", "options": {"threshold": "0.5", "ngram": 1, "columns": ["a"]}}
    answer = httpx.put(f"{running.url}/v1/indexes/new", json=made)
    assert answer.json() == {"name": "new", "kind": "documents", "documents": 0, "writable": True}
    assert names(running) == ["docs", "texts", "new"]
    insertion = {"id": "x", "text": "some words of it", "columns": {"a": 1}, "durable": True}
    assert running.post("/v1/indexes/new/insert", insertion).status_code == 200
    assert len(neardup.DocumentIndex.open(root / "new")) == 1
    assert running.post("/v1/indexes/new/insert", insertion | {"id": "y"}).status_code == 200
    again = httpx.put(f"{running.url}/v1/indexes/new", json=made)
    assert (again.status_code, again.json()["error"]) == (422, "InvalidParameterError")
    assert httpx.delete(f"{running.url}/v1/indexes/new").json() == {}
    assert names(running) == ["docs", "texts"]
    assert sorted(path.name for path in root.iterdir()) == [".hidden", "docs", "no index", "texts"]
    assert running.get("/v1/indexes/new").status_code == 404
    assert 'index="new"' not in running.get("/metrics").text


@each_of(
    ("body", "message"),
    [
        (
            {"kind": "documents", "options": {"treshold": 0.6}},
            "no option 'treshold'; did you mean 'threshold'? options are bands, casefold, columns",
        ),
        (
            {"kind": "documents", "options": {"colour": 1}},
            "no option 'colour'; options are bands",
        ),
        (
            {"kind": "documents", "options": {"folder": "x"}},
            "no option 'folder'; options are",
        ),
        ({"kind": "pasages"}, "`$.kind`, which must be one of 'documents', 'passages'; /openapi"),
        ({"kind": "passages", "options": {"tokenizer": "wrods"}}, "one of words, whitespace, "),
    ],
)
def test_create__says_what_there_is(running, body, message):
    answer = httpx.put(f"{running.url}/v1/indexes/x", json=body)
    assert answer.status_code == 422
    assert message in answer.json()["detail"]


@each_of(
    ("name", "body", "status"),
    [
        ("x", {"kind": "documents", "options": {"threshold": "5"}}, 422),
        ("x", {"kind": "documents", "options": {"colour": 1}}, 422),
        ("x", {"kind": "documents", "options": {"tokenizer": "/etc/passwd"}}, 422),
        ("x", {"kind": "passages", "options": {"tokenizer": "tokens.json"}}, 422),
        ("x", {"kind": "else"}, 422),
        (".x", {"kind": "documents"}, 422),
        ("a%20b", {"kind": "documents"}, 422),
        ("..", {"kind": "documents"}, 404),
        ("%2e%2e%2fx", {"kind": "documents"}, 404),
        ("no%20index", {"kind": "documents"}, 422),
        ("x" * 101, {"kind": "documents"}, 422),
    ],
)
def test_create__refused(running, root, name, body, status):
    before = sorted(root.parent.rglob("*"))
    answer = httpx.put(f"{running.url}/v1/indexes/{name}", json=body)
    assert answer.status_code in (status, 405), answer.text
    assert sorted(root.parent.rglob("*")) == before
    assert str(root) not in answer.text


def test_reload(running, root):
    assert running.post("/v1/reload", {}).json() == {"added": [], "gone": []}
    neardup.DocumentIndex.create(root / "another", **OPTIONS)
    (root / "texts").rename(root / ".away")
    found = running.post("/v1/reload", {}).json()
    assert found == {"added": ["another"], "gone": ["texts"]}
    assert names(running) == ["docs", "another"]
    assert running.post("/v1/indexes/another/query", {"text": "a"}).status_code == 200


def test_reload__while_an_index_is_dropped(running, root, monkeypatch):
    """It is not found again by its folder, which is still there."""
    served = running.service.indexes["docs"]
    begun, may_end = threading.Event(), threading.Event()

    def close_slowly() -> None:
        begun.set()
        may_end.wait(30)

    monkeypatch.setattr(served, "close", close_slowly)
    with ThreadPoolExecutor(2) as pool:
        drop = pool.submit(httpx.delete, f"{running.url}/v1/indexes/docs")
        begun.wait(30)
        reload = pool.submit(running.post, "/v1/reload", {})
        wait([reload], timeout=0.5)
        may_end.set()
        assert drop.result().status_code == 200
        assert reload.result().json() == {"added": [], "gone": []}
    assert names(running) == ["texts"]


def test_bulk__of_an_index_that_is_dropped(running, root):
    """What still comes does not go into another index of this name."""
    url = f"{running.url}/v1/indexes/docs"

    def lines() -> Iterator[bytes]:
        yield b'{"op": "insert", "id": "x", "text": "y"}\n' * 1000
        wait_for(lambda: "x" in served.index)
        assert httpx.delete(url).json() == {}
        assert httpx.put(url, json={"kind": "documents"}).status_code == 200
        yield b'{"op": "insert", "id": "z", "text": "y"}\n'

    served = running.service.indexes["docs"]
    kind = {"content-type": "application/x-ndjson"}
    answer = httpx.post(f"{url}/bulk", content=lines(), headers=kind, timeout=60)
    assert (answer.status_code, "not served any more" in answer.text) == (404, True)
    assert neardup.DocumentIndex.open(root / "docs").documents() == []


def test_compact(running):
    remote = neardup.connect(running.url, index="docs")
    remote.remove([f"d{k}" for k in range(5)])
    remote.insert("last", text_of(50))
    found = running.post("/v1/indexes/docs/compact", {}).json()
    assert (found["segments"], found["documents"]) == (1, 16)
    assert running.post("/v1/indexes/docs/insert", {"id": "z", "text": "y"}).status_code == 200


def test_compact__others_do_not_wait(running, monkeypatch):
    """Changes of an index that is written anew are turned away, and look-ups go on."""
    monkeypatch.setattr("neardup.service.service._PATIENCE_SECONDS", 0.05)
    served = running.service.indexes["docs"]
    begun, may_end = threading.Event(), threading.Event()
    compact = served.index.compact

    def slow(**options: Any) -> Any:
        begun.set()
        may_end.wait(30)
        return compact(**options)

    monkeypatch.setattr(served.index, "compact", slow)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(running.post, "/v1/indexes/docs/compact", {})
        begun.wait(30)
        refused = running.post("/v1/indexes/docs/insert", {"id": "x", "text": "y"})
        assert (refused.status_code, "written anew" in refused.text) == (503, True)
        assert running.post("/v1/indexes/docs/query", {"text": text_of(0)}).json()["matches"]
        may_end.set()
        assert answer.result().status_code == 200
    assert running.post("/v1/indexes/docs/insert", {"id": "x", "text": "y"}).status_code == 200


def test_snapshot__restored_and_equal(running, root):
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
        url = f"{running.url}/v1/indexes/copy-{number}/restore"
        restored = httpx.post(url, content=iter([tar.content]), headers=TAR, timeout=60).json()
        copy = neardup.DocumentIndex.open(root / f"copy-{number}")
        copy.info()
        found = copy.documents(0, 10_000)
        assert restored["documents"] == len(found) >= 19
        # All that was inserted up to some moment, in order, and nothing else.
        kept = [f"d{k}" for k in range(20) if k != 3]
        assert [row["id"] for row in found[:19]] == kept
        written = [row["id"] for row in found[19:]]
        assert written == [f"w{number}" for number in range(len(written))]
        for row in found[::7]:
            assert row == remote.get(row["id"])
            assert copy.query(row["text"])[0].similarity == 1
    assert names(running)[-3:] == ["copy-0", "copy-1", "copy-2"]


def test_snapshot__files_of_whole_blocks(running, root):
    """Nothing is filled up behind them, and what follows comes all the same."""
    documents = [{"id": str(k), "text": text_of(k)} for k in range(24)]
    neardup.DocumentIndex.create(root / "whole", **OPTIONS).add(documents)
    running.post("/v1/reload", {})
    with running.client() as client:
        tar = client.get("/v1/indexes/whole/snapshot").content
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        sizes = {member.size for member in archive}
    assert any(size % 512 == 0 for size in sizes)
    answer = httpx.post(f"{running.url}/v1/indexes/again/restore", content=tar, headers=TAR)
    assert answer.json()["documents"] == 24


def test_snapshot__given_up(running, monkeypatch):
    """Whoever goes while a part is read leaves no file open, and no defect."""
    begun, may_end, snapshots = threading.Event(), threading.Event(), []

    def slow(snapshot: Snapshot) -> Iterator[bytes]:
        snapshots.append(snapshot)
        yield b"x" * 1000
        begun.set()
        may_end.wait(30)
        yield b"y"

    monkeypatch.setattr(Snapshot, "parts", slow)
    with httpx.stream("GET", f"{running.url}/v1/indexes/docs/snapshot") as answer:
        next(answer.iter_raw())
        begun.wait(30)
    wait_for(
        lambda: any('"route": "/v1/indexes/{index}/snapshot"' in line for line in running.lines)
    )
    may_end.set()
    assert all(file.closed for _, file, _ in snapshots[0]._files)
    assert not any("defect" in line for line in running.lines)


def test_snapshot__by_python(running, root, tmp_path):
    remote = neardup.connect(running.url, index="docs")
    n_bytes = remote.snapshot(tmp_path / "docs.tar")
    assert n_bytes == (tmp_path / "docs.tar").stat().st_size
    with tarfile.open(tmp_path / "docs.tar") as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    index = neardup.DocumentIndex.open(tmp_path / "unpacked")
    assert index.documents() == remote.documents()
    with pytest.raises(neardup.ServiceError, match="there is nothing here"):
        remote._transport.save("/v1/nothing", io.BytesIO())


def test_indexes__made_and_dropped_by_python(running, root, tmp_path):
    tar = tmp_path / "docs.tar"
    with neardup.connect(running.url, index="docs") as docs:
        docs.snapshot(tar)
        with pytest.raises(OutputExistsError, match=r"docs\.tar exists; choose another name"):
            docs.snapshot(tar)
        with pytest.raises(WriteError, match="cannot write"):
            docs.snapshot(tmp_path / "no folder" / "docs.tar")
        with pytest.raises(ReadError, match=r"cannot read .*no\.tar"):
            docs.restore("copy", tmp_path / "no.tar")
        with pytest.raises(InvalidInputError, match="snapshot"):
            docs.restore("copy", root / "docs" / "manifest.json")
        copy = docs.restore("copy", tar)
        assert (len(copy), copy.kind, copy.get("d3")) == (20, "documents", docs.get("d3"))
        made = docs.create("made", "passages", min_tokens=3)
        assert (made.name, made.kind, len(made)) == ("made", "passages", 0)
        with pytest.raises(InvalidParameterError, match="no option 'threshhold'; did you mean"):
            docs.create("wrong", threshhold=0.5)
        with copy, made:
            copy.drop()
            made.drop()
        with pytest.raises(InvalidParameterError, match="no index 'copy'"):
            copy.snapshot(tmp_path / "copy.tar")
        assert not (tmp_path / "copy.tar").exists()
        assert names(running) == ["docs", "texts"]
        neardup.DocumentIndex.create(root / "later", **OPTIONS)
        assert docs.reload() == {"added": ["later"], "gone": []}
        docs.insert("still", "connected as before")


def test_snapshot__of_passages(running, root):
    tar = running.get("/v1/indexes/texts/snapshot").content
    answer = httpx.post(f"{running.url}/v1/indexes/again/restore", content=tar, headers=TAR)
    assert answer.json()["documents"] == 1
    found = neardup.connect(running.url, index="again").documents()
    assert found == neardup.PassageIndex.open(root / "texts").documents()


def make_tar(**files: bytes | str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def make_head(kind: bytes, size: int) -> bytes:
    info = tarfile.TarInfo("manifest.json")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


@each_of(
    "tar",
    [
        b"",
        b"no tar" * 1000,
        make_tar(),
        make_tar(**{"manifest.json": b"{}"}),
        make_tar(**{"../../evil": b"x"}),
        make_tar(**{"/tmp/evil": b"x"}),
        make_tar(**{"segments/../../evil": b"x"}),
        make_tar(**{"manifest.json": "/etc/passwd"}),
        make_tar(**{"removed/evil.py": b"x"}),
        # A list of further names, of a size that is nobody's business, and one that is negative.
        make_head(tarfile.XHDTYPE, 1024) + bytes(2048),
        make_head(tarfile.GNUTYPE_LONGNAME, 1024) + bytes(2048),
        make_head(tarfile.GNUTYPE_SPARSE, 0) + bytes(2048),
        make_head(tarfile.REGTYPE, -1536) + bytes(2048),
    ],
)
def test_restore__refused(running, root, monkeypatch, tar):
    """At once: of a body that has come as a whole nothing is waited for."""
    monkeypatch.setattr("neardup.service.bodies._DRAIN_SECONDS", 10)
    before = sorted(root.parent.rglob("*"))
    answer = httpx.post(f"{running.url}/v1/indexes/new/restore", content=tar, headers=TAR)
    assert (answer.status_code, answer.json()["error"]) == (422, "InvalidInputError"), answer.text
    assert str(root) not in answer.text
    assert sorted(root.parent.rglob("*")) == before
    assert names(running) == ["docs", "texts"]


def test_restore__damaged_or_cut_off(running, root):
    tar = running.get("/v1/indexes/docs/snapshot").content
    place = tar.index(b"ustar", 512 * 3) + 600
    for broken in (tar[: len(tar) // 2], tar[:place] + b"\xff\x00\xff" + tar[place + 3 :]):
        answer = httpx.post(f"{running.url}/v1/indexes/new/restore", content=broken, headers=TAR)
        assert (answer.status_code, answer.json()["error"]) == (422, "InvalidInputError")
        assert not (root / "new").exists()


def endless(begin: bytes, sent: list[int]) -> Iterator[bytes]:
    """Send a beginning, and then more than anybody should take."""
    yield begin
    for _ in range(2000):
        time.sleep(0.001)
        sent.append(1 << 16)
        yield bytes(1 << 16)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "begin", "reason"),
    [
        ("new", make_head(tarfile.REGTYPE, 100) + bytes(512) + b"no tar" * 100, "no snapshot"),
        ("new", make_tar(**{"removed/evil.py": b"x"})[:1024], "snapshot has no 'removed/evil.py'"),
        ("docs", make_head(tarfile.REGTYPE, 1 << 40), "is served already"),
        ("not a name", make_head(tarfile.REGTYPE, 1 << 40), "begins with a letter"),
        ("not-yet", make_head(tarfile.REGTYPE, 1 << 40), "is there already"),
    ],
)
def test_restore__refused_before_all_is_sent(running, root, monkeypatch, name, begin, reason):
    monkeypatch.setattr("neardup.service.bodies._DRAIN_SECONDS", 0.1)
    (root / "not-yet").mkdir()
    sent: list[int] = []
    connection = http.client.HTTPConnection(running.url.removeprefix("http://"), timeout=60)
    headers = {**TAR, "Transfer-Encoding": "chunked"}
    path = f"/v1/indexes/{quote(name)}/restore"
    with contextlib.suppress(ConnectionError):
        connection.request("POST", path, endless(begin, sent), headers, encode_chunked=True)
    answer = connection.getresponse()
    assert answer.status == 422
    assert reason in json.loads(answer.read())["detail"]
    assert answer.headers["connection"] == "close"
    assert len(sent) < 2000


def test_restore__no_room(running, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1500))
    tar = make_tar(**{"manifest.json": b"{}"})
    answer = httpx.post(f"{running.url}/v1/indexes/new/restore", content=tar, headers=TAR)
    assert answer.status_code == 507
    assert f"needs {2 * len(tar):,} bytes" in answer.json()["detail"]


def test_restore__no_room_while_it_comes(running, monkeypatch):
    """As where nobody says how long it is."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "no room")

    class Full(io.BytesIO):
        write = full

    monkeypatch.setattr("neardup.service.operations.tempfile.TemporaryFile", lambda **_: Full())
    tar = make_tar(**{"manifest.json": b"{}"})
    answer = httpx.post(f"{running.url}/v1/indexes/new/restore", content=iter([tar]), headers=TAR)
    assert (answer.status_code, answer.json()["error"]) == (507, "WriteError")
    assert "make room" in answer.json()["detail"]


def test_heads__in_pieces_of_any_size():
    good = make_head(tarfile.REGTYPE, 700) + bytes(1024) + bytes(1024) + b"whatever comes behind"
    bad = make_head(tarfile.REGTYPE, 700) + bytes(1024) + make_head(tarfile.REGTYPE, 1)
    for n in (1, 7, 511, 512, 513, 5000):
        for tar in (good, bad):
            heads = SnapshotHeads()
            with pytest.raises(InvalidInputError) if tar is bad else contextlib.nullcontext():
                for at in range(0, len(tar), n):
                    heads.feed(tar[at : at + n])


def test_connect__where_there_is_none_yet(tmp_path, token_file):
    (tmp_path / "empty").mkdir()
    token_file.write_text(f"{TOKEN} role=admin\n")
    chosen = ServeOptions(root=str(tmp_path / "empty"), writable=True)
    options = {"root": str(tmp_path / "empty"), "writable": True, "token_file": token_file}
    for service in start_service(open_indexes([], chosen), **options):
        first = neardup.connect(service.url, TOKEN)
        assert "no index yet" in repr(first)
        for call in (len, list, lambda each: each.query("a"), lambda each: each.get("a")):
            with pytest.raises(InvalidParameterError, match="make one with `create` or `restore`"):
                call(first)
        with pytest.raises(InvalidParameterError, match="one of none: there is no index 'docs'"):
            neardup.connect(service.url, TOKEN, index="docs")
        with first:
            made = first.create("docs", threshold="0.5", ngram=1)
            made.insert("a", "the cat sat on the mat")
            made.snapshot(tmp_path / "docs.tar")
            made.drop()
            again = neardup.connect(service.url, TOKEN).restore("again", tmp_path / "docs.tar")
        assert list(again) == ["a"]
        assert neardup.connect(service.url, TOKEN).name == "again"


def test_unpack__takes_little_memory(tmp_path):
    """What stands before a file, such as a long name of it, is refused before it is read."""
    head = make_head(tarfile.GNUTYPE_LONGNAME, 1 << 40)
    tar = io.BytesIO(head + bytes(1 << 16))
    with pytest.raises(InvalidInputError, match="nothing was restored"):
        unpack_snapshot(tar, tmp_path / "copy")
    assert tar.tell() == len(head)


def test_snapshot__stays_what_it_is(root, tmp_path):
    """Its files are open: what is compacted away meanwhile is in it."""
    index = neardup.DocumentIndex.open(root / "docs")
    before = index.documents()
    snapshot = open_snapshot(root / "docs")
    index.remove(["d1"])
    index.insert("x", "y", lang=None)
    index.commit()
    index.compact()
    data = b"".join(snapshot.parts())
    assert len(data) == snapshot.n_bytes
    unpack_snapshot(io.BytesIO(data), tmp_path / "copy")
    assert neardup.DocumentIndex.open(tmp_path / "copy").documents() == before
    path = next((root / "docs" / "segments").rglob("*.npy"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexFormatError, match="shorter than it should be"):
        open_snapshot(root / "docs")
    with pytest.raises(InvalidInputError, match="no snapshot"):
        unpack_snapshot(io.BytesIO(data[:700]), tmp_path / "part")


def test_roles(start, token_file, root):
    token_file.write_text(f"{TOKEN} role=write\n")
    options = {"root": root, "writable": True, "token_file": token_file}
    running = start(open_indexes([], ServeOptions(**options)), **options)
    headers = {"authorization": f"Bearer {TOKEN}"}
    with running.client(headers=headers) as client:
        made = {"kind": "documents"}
        for answer in (
            client.put("/v1/indexes/x", json=made),
            client.delete("/v1/indexes/docs"),
            client.post("/v1/reload", json={}),
            client.get("/v1/indexes/docs/snapshot"),
            client.post("/v1/indexes/x/restore", content=b"", headers=TAR),
            client.post("/v1/indexes/docs/compact", json={}),
        ):
            assert answer.status_code == 403
            assert "role admin" in answer.json()["detail"]
    assert (root / "docs").exists()


def test_without_a_root(start, root):
    running = start([make_fake()])
    for answer in (
        httpx.put(f"{running.url}/v1/indexes/x", json={"kind": "documents"}),
        httpx.delete(f"{running.url}/v1/indexes/docs"),
        running.post("/v1/reload", {}),
    ):
        assert answer.status_code == 403
        assert "--root" in answer.json()["detail"]
    options = {"root": root}
    reading = start(open_indexes([], ServeOptions(**options)), **options)
    assert httpx.delete(f"{reading.url}/v1/indexes/docs").status_code == 403
