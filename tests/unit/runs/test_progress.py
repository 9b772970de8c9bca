"""How far a stage is, in words."""

from __future__ import annotations

from neardup.runs.progress import StageProgress, duration, report_part, size
from tests.each import each_of


@each_of(
    ("number", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (99_940, "99.9 kB"),
        (99_960, "100 kB"),
        (999_499, "999 kB"),
        (999_501, "1.0 MB"),
        (2_100_000_000, "2.1 GB"),
        (3_400_000_000_000, "3.4 TB"),
        (5_000_000_000_000_000, "5,000.0 TB"),
    ],
)
def test_size(number, words):
    assert size(number) == words


@each_of(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (170, "3 min"),
        (3599, "1 h 0 min"),
        (7500, "2 h 5 min"),
    ],
)
def test_duration(seconds, words):
    assert duration(seconds) == words


def stage(name: str, done: int, total: int | None, at: float) -> StageProgress:
    found = StageProgress(name, began=0.0)
    found.update(done, total, at)
    return found


@each_of(
    ("done", "total", "line"),
    [
        (0, None, "joining: 30 s so far"),
        (1234, None, "joining: 1,234, 30 s so far"),
        (0, 5000, "joining: 0 % of 5,000, 30 s so far"),
        (1000, 4000, "joining: 25 % of 4,000, 2 min to go"),
        (3999, 4000, "joining: 99 % of 4,000, 0 s to go"),
        (4000, 4000, "joining: 4,000, 30 s"),
        (0, 0, "joining: 30 s"),
    ],
)
def test_stage__line(done, total, line):
    assert stage("join", done, total, at=30.0).line(30.0) == line


def test_stage__begins_anew():
    """Hash functions of the next segment: the time to go is that of this one."""
    found = stage("windows", 64, 64, at=100.0)
    found.update(1, 64, now=110.0)
    found.update(16, 64, now=120.0)
    assert found.line(120.0) == "hash functions: 25 % of 64, 30 s to go"


def test_report_part():
    seen: list[float] = []
    inner = report_part(report_part(seen.append, 0.5, 1.0), 0.0, 0.5)
    for share in (0.0, 0.5, 1.0):
        inner(share)
    assert seen == [0.5, 0.625, 0.75]
