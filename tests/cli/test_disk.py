"""Commands on a disk that is too small for their output, or for temporary files."""

from __future__ import annotations

import errno
import os
import shutil
from types import SimpleNamespace

from neardup.runs.work import WorkPlace
from tests.each import each_of


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


@each_of(
    ("command", "remedy"),
    [
        # They have no --work: temporary files are beside the output, or where the system has them.
        ("sketch a.jsonl -o s.parquet", "write the output to a larger one"),
        ("report p.csv -o p.html", "name a folder on a larger one in TMPDIR"),
        ("review p.csv -o p.html", "name a folder on a larger one in TMPDIR"),
    ],
)
def test_no_room_for_temporary_files(run, here, texts, write_texts, monkeypatch, command, remedy):
    write_texts("a.jsonl", texts)
    (here / "p.csv").write_text("id_a,id_b,similarity\na,b,1\n")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(WorkPlace, "enter", full)
    # What is kept of a table is in files then.
    monkeypatch.setattr("neardup.stages.tables._KEPT_SHARE", 0)
    outcome = run(*command.split())
    assert outcome.code == 1
    assert outcome.err.endswith(f"No space left on device; free some disk, or {remedy}\n")
