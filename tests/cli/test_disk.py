"""Commands on a disk that is too small for their output, or for temporary files."""

from __future__ import annotations

import errno
import os

from neardup.runs.work import WorkPlace


def test_sketch__no_room_for_temporary_files(run, texts, write_texts, monkeypatch):
    """It has no --work: temporary files are beside the output."""
    write_texts("a.jsonl", texts)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(WorkPlace, "enter", full)
    outcome = run("sketch", "a.jsonl", "-o", "s.parquet")
    assert outcome.code == 1
    assert outcome.err.endswith(
        "No space left on device; free some disk, or work on a larger one\n"
    )
