"""Inputs and outputs in S3, over its protocol: a server of moto, and s3fs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import fsspec
import pyarrow.parquet as pq
import pytest

from neardup.files import destinations, remote

pytestmark = pytest.mark.slow

TEXTS = [" ".join(f"{letter}{i}" for i in range(20)) for letter in "abc"]
ROWS = [b'{"text": "%s"}\n' % text.encode() for text in TEXTS]
KEPT, REMOVED = b"".join(ROWS), b"".join(ROWS)

# Whole keys of an output of one file, apart from the marker.
NAMES = ["clusters.parquet", "kept/a.jsonl", "removed.parquet", "removed/a.jsonl", "summary.json"]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Serve an S3 of our own, and let s3fs use it."""
    server = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        yield f"http://{host}:{port}"
        fsspec.get_filesystem_class("s3").clear_instance_cache()
    running.stop()


@pytest.fixture
def s3(endpoint) -> Any:
    return fsspec.filesystem("s3")


@pytest.fixture
def bucket(s3) -> str:
    """Make a bucket with an input, ``in/a.jsonl``."""
    name = f"bucket-{uuid4().hex}"
    s3.mkdir(name)
    s3.pipe_file(f"{name}/in/a.jsonl", KEPT + REMOVED)
    return name


@pytest.fixture
def names(s3) -> Callable[[str], list[str]]:
    """List what is below a folder, as the server has it."""

    def list_names(folder: str) -> list[str]:
        s3.invalidate_cache()
        return sorted(path.removeprefix(folder + "/") for path in s3.find(folder))

    return list_names


def uploads(s3, bucket: str) -> list[Any]:
    """List the uploads that were begun, and neither completed nor abandoned."""
    return s3.call_s3("list_multipart_uploads", Bucket=bucket).get("Uploads", [])


def test_s3__dedup(run, s3, bucket, names):
    outcome = run("dedup", f"s3://{bucket}/in", "-o", f"s3://{bucket}/clean/")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"written to s3://{bucket}/clean in " in outcome.out
    assert names(f"{bucket}/clean") == sorted([*NAMES, "_SUCCESS"])
    assert s3.cat_file(f"{bucket}/clean/kept/a.jsonl") == KEPT
    assert s3.cat_file(f"{bucket}/clean/removed/a.jsonl") == REMOVED
    with s3.open(f"{bucket}/clean/removed.parquet") as file:
        assert len(pq.read_table(file)) == 3
    marker = json.loads(s3.cat_file(f"{bucket}/clean/_SUCCESS"))
    sizes = {name: s3.size(f"{bucket}/clean/{name}") for name in NAMES}
    assert {file["name"]: file["bytes"] for file in marker["files"]} == sizes


def test_s3__no_bucket(run, bucket):
    for arguments in (
        ("dedup", "-o", "s3://not-there/out"),
        ("pairs", "-o", "s3://not-there/a.csv"),
    ):
        command, *output = arguments
        outcome = run(command, f"s3://{bucket}/in", *output)
        error = f"error: cannot write {output[-1]}: there is no such bucket or folder\n"
        assert (outcome.code, outcome.out, outcome.err) == (1, "", error)


def test_s3__overwrite(run, s3, bucket, names):
    url = f"s3://{bucket}/out"
    run("dedup", f"s3://{bucket}/in", "-o", url)
    s3.pipe_file(f"{bucket}/out/kept/left.jsonl", b"left over")
    outcome = run("dedup", f"s3://{bucket}/in", "-o", url)
    error = f"error: {url} exists; choose another name, or replace it with --overwrite\n"
    assert (outcome.code, outcome.err) == (1, error)
    s3.pipe_file(f"{bucket}/in/a.jsonl", KEPT)
    assert run("dedup", f"s3://{bucket}/in", "-o", url, "--overwrite").code == 0
    assert s3.cat_file(f"{bucket}/out/removed/a.jsonl") == b""
    assert names(f"{bucket}/out") == sorted([*NAMES, "_SUCCESS"])


class Failing:
    """Lets requests of a kind fail, after some that do not."""

    def __init__(self, patch, method: str, good: int, error: BaseException) -> None:
        import s3fs

        self.calls = 0
        request = s3fs.core._error_wrapper

        async def fail(function: Any, **named: Any) -> Any:
            if function.__name__ == method:
                self.calls += 1
                if self.calls > good:
                    raise error
            return await request(function, **named)

        patch.setattr(s3fs.core, "_error_wrapper", fail)


@pytest.mark.damage
@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
@pytest.mark.parametrize("good", [1, 3, 5, 6])
def test_s3__no_call_to_put_may_fail(run, s3, bucket, names, monkeypatch, good, overwrite):
    url = f"s3://{bucket}/out"
    if overwrite:
        run("dedup", f"s3://{bucket}/in", "-o", url)
    with monkeypatch.context() as patch:
        failing = Failing(patch, "put_object", good, PermissionError("Access Denied"))
        outcome = run("dedup", f"s3://{bucket}/in", "-o", url, *overwrite)
    assert failing.calls > good
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"error: cannot write {url}")
    gone = ", and the earlier output is gone" if overwrite else ""
    end = f": no permission to list, write and delete there; nothing was written{gone}\n"
    assert outcome.err.endswith(end)
    assert names(f"{bucket}/out") == []


def test_s3__parts_of_a_large_file_go_when_writing_fails(run, s3, bucket, names, monkeypatch):
    monkeypatch.setattr("neardup.files.remote._PART_BYTES", 5 << 20)
    rows = b"".join(b'{"text": "%d %s"}\n' % (i, b"x" * 1000) for i in range(14_000))
    s3.pipe_file(f"{bucket}/in/a.jsonl", rows)
    url = f"s3://{bucket}/out"
    with monkeypatch.context() as patch:
        Failing(patch, "upload_part", 1, OSError("the line is cut"))
        outcome = run("dedup", f"s3://{bucket}/in", "-o", url)
    place = f"{url}/kept/a.jsonl"
    assert outcome.err == f"error: cannot write {place}: the line is cut; nothing was written\n"
    assert (names(f"{bucket}/out"), uploads(s3, bucket)) == ([], [])
    assert run("dedup", f"s3://{bucket}/in", "-o", url).code == 0
    assert s3.cat_file(f"{bucket}/out/kept/a.jsonl") == rows
    with monkeypatch.context() as patch:
        Failing(patch, "complete_multipart_upload", 0, OSError("the line is cut"))
        run("dedup", f"s3://{bucket}/in", "-o", url, "--overwrite")
    assert (names(f"{bucket}/out"), uploads(s3, bucket)) == ([], [])


def test_s3__what_cannot_be_removed_has_no_marker(run, s3, bucket, names, monkeypatch):
    url = f"s3://{bucket}/out"
    with monkeypatch.context() as patch:
        Failing(patch, "put_object", 4, OSError("the line is cut"))
        Failing(patch, "delete_objects", 0, OSError("the line is cut"))
        outcome = run("dedup", f"s3://{bucket}/in", "-o", url)
    assert outcome.err.endswith("unfinished files may remain there, without _SUCCESS\n")
    left = names(f"{bucket}/out")
    assert left
    assert "_SUCCESS" not in left
    outcome = run("dedup", f"s3://{bucket}/in", "-o", url)
    assert outcome.err.startswith(f"error: {url} exists; ")
    assert run("dedup", f"s3://{bucket}/in", "-o", url, "--overwrite").code == 0
    assert names(f"{bucket}/out") == sorted([*NAMES, "_SUCCESS"])


@pytest.mark.kills
@pytest.mark.parametrize("good", [2, 4, 6])
def test_s3__interrupt(run, s3, bucket, names, monkeypatch, good):
    calls = 0
    write = remote.to_its_end

    def interrupted(call: Callable[[], object]) -> None:
        nonlocal calls
        calls += 1
        write(call)
        if calls == good:
            raise KeyboardInterrupt

    for module in (remote, destinations):
        monkeypatch.setattr(module, "to_its_end", interrupted)
    outcome = run("dedup", f"s3://{bucket}/in", "-o", f"s3://{bucket}/out", "--workers", 1)
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == "interrupted\n"
    assert names(f"{bucket}/out") == []
