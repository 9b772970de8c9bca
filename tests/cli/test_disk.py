"""``neardup dedup`` on a disk that is too small for its output."""

from __future__ import annotations

import shutil
from types import SimpleNamespace


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
