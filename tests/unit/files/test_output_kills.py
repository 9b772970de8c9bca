"""A writer that is killed at any step leaves the earlier output or the new one, at its place."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from neardup.files.destinations import new_folder, recover, write_file
from tests.steps import killed_at

pytestmark = [
    pytest.mark.kills,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals"),
]
FILES = ("summary.json", "kept")


def write_folder(target: Path, content: str) -> None:
    with new_folder(target, overwrite=True) as folder:
        for name in FILES:
            (folder / name).write_text(content)


def read_folder(target: Path) -> str | None:
    """Give what was written to a folder, None if it is not there; all of it must be."""
    if not target.exists():
        return None
    assert sorted(path.name for path in target.iterdir()) == sorted(FILES)
    [content] = {(target / name).read_text() for name in FILES}
    return content


def write_text(target: Path, content: str) -> None:
    write_file(target, lambda new: new.write_text(content))


def read_text(target: Path) -> str | None:
    return target.read_text() if target.exists() else None


def kill_everywhere(tmp_path: Path, write, read, before: str | None) -> None:
    target = tmp_path / "out"

    def work() -> None:
        write(target, "new")

    def start() -> None:
        if before is not None:
            write(target, before)

    found: list[str | None] = []
    was_killed = True
    while was_killed:
        for path in tmp_path.iterdir():
            path.unlink() if path.is_file() else shutil.rmtree(path)
        start()
        was_killed = killed_at(len(found), work)
        recover(target)
        assert [path.name for path in tmp_path.iterdir()] in ([], ["out"])
        found.append(read(target))
        assert found[-1] in ((before, "new") if was_killed else ("new",))
        write(target, "next")
        assert read(target) == "next"
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert len(found) > 10
    # First the one, then the other.
    assert set(found) == {before, "new"}
    assert found == sorted(found, key=lambda content: content == "new")


@pytest.mark.parametrize("before", [None, "old"])
def test_new_folder__killed_at_any_step(tmp_path, before):
    kill_everywhere(tmp_path, write_folder, read_folder, before)


@pytest.mark.parametrize("before", [None, "old"])
def test_write_file__killed_at_any_step(tmp_path, before):
    kill_everywhere(tmp_path, write_text, read_text, before)
