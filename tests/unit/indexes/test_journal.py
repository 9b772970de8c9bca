"""What a run has written, whenever it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup.indexes.folder import changing, create_index
from neardup.indexes.manifest import Manifest, load_manifest, store_manifest
from neardup.outputs.folder import new_folder
from neardup.runs import scratch
from neardup.runs.disk import keep_journal, note
from tests.steps import at_lines

# An interrupt may come before the line that would close a file.
ANYWHERE = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_journal__what_took_its_name(tmp_path):
    with keep_journal() as journal:
        (tmp_path / "new").write_text("new")
        (tmp_path / "out").write_text("old")
        note(tmp_path / "new", tmp_path / "out")
        assert journal.written() == []
        (tmp_path / "new").replace(tmp_path / "out")
        assert journal.written() == [str(tmp_path / "out")]
        (tmp_path / "out").unlink()
        assert journal.written() == []


def interrupted_everywhere(work, is_written) -> int:
    """Interrupt at each line in turn; the journal must be right. Returns how often it was there."""
    n_written, position, has_ended = 0, 0, False

    def act(number: int) -> None:
        if number == position:
            raise KeyboardInterrupt

    while not has_ended:
        with keep_journal() as journal:
            try:
                with at_lines(act):
                    work()
                has_ended = True
            except KeyboardInterrupt:
                pass
        assert bool(journal.written()) == is_written(), position
        n_written += is_written()
        position += 1
    return n_written


@pytest.mark.slow
@ANYWHERE
@pytest.mark.parametrize("exchanges", [True, False])
def test_journal__of_a_folder_interrupted_anywhere(tmp_path, monkeypatch, exchanges):
    target, number = tmp_path / "out", 0
    if not exchanges:
        monkeypatch.setattr(scratch, "exchange", lambda *_: False)

    def write(content: str) -> None:
        with new_folder(target, overwrite=True) as folder:
            (folder / "summary.json").write_text(content)

    def work() -> None:
        nonlocal number
        number += 1
        write(str(number))

    def is_written() -> bool:
        scratch.recover(target)
        return (target / "summary.json").read_text() == str(number)

    write("old")
    assert interrupted_everywhere(work, is_written) > 10
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
@ANYWHERE
def test_journal__of_an_index_interrupted_anywhere(tmp_path):
    folder, number = tmp_path / "index", 0

    def work() -> None:
        nonlocal number
        number += 1
        with changing(folder) as old:
            store_manifest(folder, Manifest({"number": number}, old.generation + 1))

    create_index(folder, Manifest({}))
    assert interrupted_everywhere(
        work, lambda: load_manifest(folder).scheme.get("number") == number
    )


def test_journal__calls_an_index_by_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with keep_journal() as journal:
        create_index(Path("index"), Manifest({}))
    assert journal.written() == ["index"]
