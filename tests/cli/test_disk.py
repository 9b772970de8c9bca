"""Commands on a disk that is too small for their output, or for temporary files."""

from __future__ import annotations

import errno
import os
import shutil
from types import SimpleNamespace

from neardup.runs.work import WorkPlace


def test_dedup__no_room_for_the_output(run, here, texts, write_texts, monkeypatch):
    write_texts("a.jsonl", texts)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    outcome = run("dedup", "a.jsonl", "-o", "out")
    assert (outcome.code, outcome.out) == (1, "")
    assert "out will take about " in outcome.err
    assert "has 100 bytes free; free some disk, or write to a larger one\n" in outcome.err
    assert [path.name for path in here.iterdir()] == ["a.jsonl"]
    # How large rows are in another format is not known beforehand.
    assert run("dedup", "a.jsonl", "-o", "out", "--format", "parquet").code == 0


def test_sketch__no_room_for_temporary_files(run, texts, write_texts, monkeypatch):
    """It has no --work: temporary files are beside the output."""
    write_texts("a.jsonl", texts)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(WorkPlace, "enter", full)
    outcome = run("sketch", "a.jsonl", "-o", "s.parquet")
    assert outcome.code == 1
    assert outcome.err.endswith(
        "No space left on device; free some disk, or write the output to a larger one\n"
    )
