"""The markers of output folders at URLs, in a file system in memory."""

from __future__ import annotations

import json

import pytest

from neardup.errors import OutputExistsError, ReadError
from neardup.files.destinations import check_output, new_output
from neardup.files.remote import Url
from neardup.version import __version__

URL = Url("memory://x/out")


def write(name: str = "summary.json", *, overwrite: bool = False) -> None:
    with new_output(URL, overwrite=overwrite) as folder, (folder / name).create() as file:
        file.write(b"new")


def test_new_output__marker_comes_last(memory):
    with new_output(URL) as folder:
        (folder / "kept" / "sub" / "a.txt").write_text("some\n")
        (folder / "summary.json").write_text("{}")
        assert not memory.exists("/x/out/_SUCCESS")
    assert sorted(memory.find("/x/out")) == [
        "/x/out/_SUCCESS", "/x/out/kept/sub/a.txt", "/x/out/summary.json"
    ]  # fmt: skip
    files = [{"name": "kept/sub/a.txt", "bytes": 5}, {"name": "summary.json", "bytes": 2}]
    assert json.loads(memory.cat_file("/x/out/_SUCCESS")) == {
        "neardup": __version__,
        "files": files,
    }


def fail(error: BaseException) -> None:
    with (
        new_output(URL, overwrite=True) as folder,
        (folder / "kept" / "a.jsonl").create() as file,
    ):
        file.write(b"half of it")
        raise error


@pytest.mark.parametrize("error", [ReadError("gone", path="a.jsonl"), KeyboardInterrupt()])
@pytest.mark.parametrize("has_earlier", [False, True])
def test_new_output__error_leaves_nothing(memory, error, has_earlier):
    if has_earlier:
        write()
    with pytest.raises(type(error)):
        fail(error)
    assert memory.find("/x") == []
    assert not memory.exists("/x/out")


def test_new_output__earlier_marker_goes_first(memory, monkeypatch):
    write("kept/a.jsonl")
    removed = []
    for name in ("rm", "rm_file"):
        remove = getattr(type(memory), name)
        monkeypatch.setattr(
            type(memory),
            name,
            lambda self, path, remove=remove, **named: (
                removed.append(path) or remove(self, path, **named)
            ),
        )
    write("kept/b.jsonl", overwrite=True)
    assert removed[:2] == ["/x/out/_SUCCESS", "/x/out"]
    assert sorted(memory.find("/x/out")) == ["/x/out/_SUCCESS", "/x/out/kept/b.jsonl"]


def test_check_output__unfinished(memory):
    memory.pipe_file("/x/out/kept/a.jsonl", b"")
    with pytest.raises(OutputExistsError, match="memory://x/out exists"):
        check_output(URL, overwrite=False)
    write(overwrite=True)
    assert sorted(memory.find("/x/out")) == ["/x/out/_SUCCESS", "/x/out/summary.json"]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    "files",
    [
        ["letter.txt"],
        ["_SUCCESS"],
        ["kept/a.jsonl", "_SUCCESS"],
    ],
)
def test_check_output__foreign_files(memory, files, overwrite):
    for name in files:
        memory.pipe_file(f"/x/out/{name}", b"")
    with pytest.raises(OutputExistsError, match=f" {min(files)};"):
        check_output(URL, overwrite=overwrite)
    assert len(memory.find("/x/out")) == len(files)
