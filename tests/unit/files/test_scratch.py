"""What killed writers leave beside a place is put right; what living ones have there stays."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import filelock
import pytest

from neardup import ReadOptions
from neardup.errors import ReadError, WriteError
from neardup.files.destinations import holding, recover, take_place
from neardup.jobs.index.passage_index import PassageIndex
from neardup.passages.open_passages import PassageHandle

WRITE = """
import sys
from pathlib import Path
from neardup.files.destinations import holding
with holding(Path(sys.argv[1]), overwrite=True) as content:
    content.mkdir()
    print("writing", flush=True)
    sys.stdin.read()
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def leave(target: Path, *parts: str, name: str = "progress") -> Path:
    """Leave what a killed writer has left: its lock, and some of ``new`` and ``old``."""
    folder = target.with_name(f".{target.name}.neardup-{name}")
    folder.mkdir()
    for part in parts:
        if part == "write.lock":
            (folder / part).touch()
        else:
            (folder / part).mkdir()
            (folder / part / "content").write_text(part)
    return folder


@pytest.fixture
def target(tmp_path) -> Path:
    return tmp_path / "out"


def test_scratch__of_a_living_and_of_a_dead_writer(target):
    command = [sys.executable, "-c", WRITE, target]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == "writing\n"
        [hidden] = names(target.parent)
        assert hidden == ".out.neardup-progress"
        assert not recover(target)
        facts = f"out .*process {process.pid} on "
        with pytest.raises(WriteError, match=facts), holding(target, overwrite=True):
            pass
        assert names(target.parent / hidden) == ["new", "write.lock", "write.lock.holder"]
        process.kill()
    assert names(target.parent) == [hidden]
    assert not recover(target)
    assert names(target.parent) == []


@pytest.mark.parametrize("parts", [[], ["write.lock"], ["write.lock", "new"], ["new"]])
def test_recover__clears(target, parts):
    leave(target, *parts)
    assert not recover(target)
    assert names(target.parent) == []


@pytest.mark.parametrize("parts", [["write.lock", "new", "old"], ["write.lock", "old"]])
def test_recover__puts_back(target, parts):
    leave(target, *parts)
    assert recover(target)
    assert names(target.parent) == ["out"]
    assert (target / "content").read_text() == "old"
    assert not recover(target)


def test_recover__keeps_what_has_taken_the_place(target):
    leave(target, "write.lock", "new", "old")
    target.mkdir()
    assert not recover(target)
    assert names(target.parent) == ["out"]
    assert names(target) == []


def test_recover__keeps_the_only_copy(target, monkeypatch):
    folder = leave(target, "write.lock", "new", "old")

    def fail(*_: object) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as context:
        context.setattr(Path, "rename", fail)
        assert not recover(target)
        assert (folder / "old" / "content").read_text() == "old"
    assert recover(target)


@pytest.mark.parametrize(
    "name", [".out.settings", ".out.neardup-short", ".out.neardup-longer-name", ".output", ".out"]
)
def test_recover__leaves_folders_of_other_names(target, name):
    (target.parent / name).mkdir()
    recover(target)
    assert names(target.parent) == [name]


def test_recover__leaves_folders_with_other_files(target):
    (leave(target, "write.lock", "new") / "mine.txt").write_text("precious")
    recover(target)
    assert names(target.parent / ".out.neardup-progress") == ["mine.txt"]


def test_recover__leaves_links_and_files(target):
    hidden = target.parent / ".out.neardup-progress"
    for make in (lambda: hidden.symlink_to(target.parent), hidden.touch):
        make()
        recover(target)
        assert names(target.parent) == [hidden.name]
        hidden.unlink()


@pytest.mark.parametrize("error", [NotImplementedError(), OSError(errno.ENOLCK, "no locks")])
def test_scratch__where_nothing_can_be_locked(target, monkeypatch, error):
    class Unlockable(filelock.FileLock):
        def acquire(self, *_: object, **__: object) -> None:
            raise error

    monkeypatch.setattr(filelock, "FileLock", Unlockable)
    leave(target, "write.lock", "new")
    with holding(target, overwrite=True) as content:
        content.write_text("new")
        take_place(content, target)
    # Its writer may be alive.
    assert names(target.parent) == [".out.neardup-progress", "out"]


def test_scratch__taken_for_abandoned_before_it_is_locked(target, monkeypatch):
    """Another writer comes between the making of the folder and its lock."""
    acquire, n_calls = filelock.FileLock.acquire, 0

    def acquire_late(self: filelock.FileLock, *arguments: object, **options: object) -> object:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 1:
            recover(target)
        return acquire(self, *arguments, **options)

    monkeypatch.setattr(filelock.FileLock, "acquire", acquire_late)
    with holding(target, overwrite=True) as content:
        assert n_calls >= 2
        assert names(content.parent) == ["write.lock", "write.lock.holder"]
        recover(target)
        assert content.parent.exists()
    assert names(target.parent) == []


def test_take_place__old_one_comes_back(target, monkeypatch):
    target.mkdir()
    (target / "content").write_text("old")

    replace = Path.replace

    def replace_or_fail(path: Path, other: Path) -> Path:
        if path.name == "new":
            raise KeyboardInterrupt
        return replace(path, other)

    monkeypatch.setattr(Path, "replace", replace_or_fail)
    with suppress(KeyboardInterrupt), holding(target, overwrite=True) as content:
        content.mkdir()
        take_place(content, target)
    assert names(target.parent) == ["out"]
    assert (target / "content").read_text() == "old"


def test_take_place__a_file_never_replaces_a_folder(target):
    target.mkdir()
    with holding(target, overwrite=True) as content:
        content.write_text("new")
        with pytest.raises(OSError):
            take_place(content, target)
    assert names(target.parent) == ["out"]
    assert target.is_dir()


def test_readers__find_an_index_whose_place_was_empty(tmp_path):
    place = tmp_path / "index"

    def abandon() -> None:
        hidden = leave(place, "write.lock", "new")
        place.rename(hidden / "old")

    PassageIndex.create(place, min_tokens=2).add(["one two three"])
    for look in (
        lambda: len(PassageIndex.open(place)),
        lambda: len(PassageIndex(PassageHandle(place)).search("one two three").passages),
        lambda: (
            PassageIndex(PassageHandle(place))
            .add([{"text": "four", "id": "b"}], read=ReadOptions(id_column="id"))
            .n_documents
        ),
    ):
        abandon()
        assert look() == 1
        assert names(tmp_path) == ["index"]
    with pytest.raises(ReadError, match="folder not found"):
        PassageIndex.open(tmp_path / "other")


def test_scratch__of_a_thread_of_the_same_process(target):
    def write() -> str:
        try:
            with holding(target, overwrite=True):
                return "written"
        except WriteError as error:
            return str(error)

    with (
        holding(target, overwrite=True),
        holding(target, overwrite=True),
        ThreadPoolExecutor(1) as pool,
    ):
        assert re.match(
            f"{re.escape(str(target))} .*this process, since ", pool.submit(write).result()
        )
    assert names(target.parent) == []


def test_scratch__where_nothing_may_be_written(target, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", refuse)
    facts = f"{target}: Permission denied"
    with pytest.raises(WriteError, match=facts), holding(target, overwrite=True):
        pass
