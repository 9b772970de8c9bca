"""An index that stays open: what is checked is not checked again, and what is new is seen."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from neardup.errors import IndexFormatError, IndexLockedError
from neardup.indexes import folder as extras
from neardup.indexes import segments
from neardup.indexes.folder import write_lock
from neardup.indexes.handle import Handle, OpenFiles
from neardup.indexes.manifest import store_manifest
from neardup.runs import arrays
from neardup.runs.runner import Runner
from tests.indexes import build, change

RUNNER = Runner(1)


class Files(Handle[OpenFiles]):
    """A kind of index whose users see the files themselves."""

    n_read = 0

    def make_view(self, files: OpenFiles) -> OpenFiles:
        self.n_read += 1
        return files


@pytest.fixture
def folder(tmp_path) -> Path:
    build(tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def checked(monkeypatch) -> list[str]:
    """List the files of which the checksum was taken."""
    names: list[str] = []

    def check(path, record):
        names.append(path.name)
        arrays.check_file(path, record)

    for module in (segments, extras):
        monkeypatch.setattr(module, "check_file", check)
    return names


def test_view__damage_that_was_not_seen_yet(folder, checked):
    handle = Files(folder)
    path = folder / "segments" / "s2" / "keys.npy"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    for _ in range(2):
        with pytest.raises(IndexFormatError, match=r"keys\.npy: the file is damaged"):
            handle.view(RUNNER)
    path.write_bytes(data)
    checked.clear()
    assert len(handle.view(RUNNER).segments) == 2
    # What was right the first time was kept.
    assert "counts-2.npy" in checked
    assert checked.count("keys.npy") == 2


def test_changing__that_fails_shows_nothing_new(folder):
    handle = Files(folder)
    before = handle.view(RUNNER)
    change(folder)
    with pytest.raises(KeyError), handle.changing(RUNNER):
        raise KeyError
    assert handle.view(RUNNER) is before
    with write_lock(folder), pytest.raises(IndexLockedError), handle.changing(RUNNER):
        pass
    assert handle.view(RUNNER) is before


def test_changing__a_thread_that_looked_before_is_not_late(folder):
    """What a thread has read of the old files while they were changed is not shown afterwards."""
    handle = Files(folder)
    is_reading, may_read = threading.Event(), threading.Event()

    def read_late(files: OpenFiles) -> OpenFiles:
        is_reading.set()
        may_read.wait(60)
        return files

    thread = threading.Thread(target=handle.view, args=(RUNNER,))
    with handle.changing(RUNNER) as files:
        with patch.object(handle, "read", read_late):
            thread.start()
            is_reading.wait(60)
        fresh = replace(files.manifest, generation=files.manifest.generation + 1)
        store_manifest(folder, fresh)
        threading.Timer(0.2, may_read.set).start()
    thread.join()
    assert handle.view(RUNNER).manifest == fresh


@pytest.mark.parametrize("part", ["segments", "removed", "extra"])
@pytest.mark.parametrize("by", [-1, 8])
def test_refresh__of_a_file_that_was_cut_off(folder, part, by):
    """It is named, what was mapped is not touched again, and restored it is there again."""
    change(folder)
    handle = Files(folder)
    before = handle.view(RUNNER)
    names = [path for path in sorted((folder / part).rglob("*")) if path.suffix == ".npy"]
    assert names
    data = names[-1].read_bytes()
    names[-1].write_bytes(data[:by] if by < 0 else data + bytes(by))
    n_found = len(data) + by
    for _ in range(2):
        for use in (handle.refresh, handle.view):
            with pytest.raises(
                IndexFormatError, match=f"expected, found {n_found:,}; restore"
            ) as e:
                use(RUNNER)
            assert e.value.path == str(names[-1])
    # Another file of the name, so that what was mapped of the old one is of no use.
    names[-1].unlink()
    names[-1].write_bytes(data)
    handle.refresh(RUNNER)
    after = handle.view(RUNNER)
    assert after.manifest == before.manifest
    assert after.segments[0] is not before.segments[0]


def test_refresh__of_a_file_that_is_gone(folder):
    """It stays mapped, so that what was seen is seen."""
    handle = Files(folder)
    before = handle.view(RUNNER)
    sorted((folder / "segments").rglob("*.npy"))[0].unlink()
    handle.refresh(RUNNER)
    assert handle.view(RUNNER) is before


def test_refresh__of_a_file_that_was_cut_off_while_others_changed_the_index(folder):
    handle = Files(folder)
    kept = handle.view(RUNNER).segments[-1]
    change(folder)
    path = sorted(kept.path.glob("*.npy"))[0]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexFormatError, match=f"{path.name}: .* bytes expected, found"):
        handle.refresh(RUNNER)
