"""What is shown of the progress of a job: bars, lines, or nothing."""

from __future__ import annotations

import io
import sys

import pytest

import neardup
from neardup.runs import progress as module
from neardup.runs.progress import Display, _describe, duration, report_part, size
from tests.each import each_of

TEXTS = ["a b c d e f g h", "A b c d e f g h!", "i j k l m n o p"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Put a terminal in place of standard error, once pytest has put its own there."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")

    def put_in_place() -> Terminal:
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return put_in_place


@pytest.fixture
def often(monkeypatch):
    """Write a line at each report."""
    monkeypatch.setattr(module, "_BETWEEN_LINES", 0)


def test_bars__on_a_terminal(terminal):
    stream = terminal()
    with Display() as display:
        display("read", 41, 100)
        display("read", 2_100_000_000, 2_100_000_000)
        display("join", 10, None)
        display("write", 4, 5)
    for part in ("reading", "2.1 GB", "joining", "10", "so far", "writing", "80 % of 5", "to go"):
        assert part in stream.getvalue()


def test_lines__without_a_terminal(capsys, often):
    with Display() as display:
        display("read", 41, 100)
        display("read", 100, 100)
        display("join", 5, 10)
    display("read", 40, 100)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "reading: 41 % of 100 bytes",
        "joining: 50 % of 10",
    ]


def test_lines__nothing_of_short_jobs(capsys):
    with Display() as display:
        display("read", 41, 100)
    assert capsys.readouterr() == ("", "")


def test_lines__standard_error_is_closed(monkeypatch, often):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Display() as display:
        stream.close()
        display("read", 41, 100)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_display__nothing_when_quiet(terminal, capsys, often, is_terminal):
    stream = terminal() if is_terminal else sys.stderr
    with Display(quiet=True) as display:
        display.begin("read")
        display("read", 10, None)
        display.end("read")
    assert stream.getvalue() == "" if is_terminal else capsys.readouterr() == ("", "")


def test_display__nothing_without_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Display() as display:
        display("read", 10, None)


def test_progress__true_in_python(terminal, tmp_path):
    stream = terminal()
    result = neardup.deduplicate(TEXTS, run=neardup.RunOptions(progress=True))
    for part in ("reading", "sorting bands", "reading candidates", "comparing"):
        assert part in stream.getvalue()
    result.write(tmp_path / "out", progress=True)
    assert "writing" in stream.getvalue()


CALLS = {
    "find_pairs": lambda progress: neardup.find_pairs(
        TEXTS, run=neardup.RunOptions(progress=progress)
    ),
    "align": lambda progress: neardup.align(
        TEXTS, TEXTS, min_tokens=6, run=neardup.RunOptions(progress=progress)
    ),
    "cut": lambda progress: neardup.cut(TEXTS, run=neardup.RunOptions(progress=progress)),
    "sketch": lambda progress: neardup.sketch(TEXTS, run=neardup.RunOptions(progress=progress)),
    "cluster_sketches": lambda progress: neardup.cluster_sketches(
        neardup.sketch(TEXTS, kind="smallest"), run=neardup.RunOptions(progress=progress)
    ),
    "estimate": lambda progress: neardup.estimate(
        neardup.sketch(TEXTS), run=neardup.RunOptions(progress=progress)
    ),
    "compare": lambda progress: neardup.compare(
        *TEXTS[:2], run=neardup.RunOptions(progress=progress)
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_progress__true_in_every_function(terminal, name):
    stream = terminal()
    CALLS[name](True)
    assert "━" in stream.getvalue()


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


@each_of(
    ("done", "total", "line"),
    [
        (0, None, "30 s so far"),
        (1234, None, "1,234, 30 s so far"),
        (0, 5000, "0 % of 5,000, 30 s so far"),
        (1000, 4000, "25 % of 4,000, 2 min to go"),
        (3999, 4000, "99 % of 4,000, 0 s to go"),
        (4000, 4000, "4,000, 30 s"),
        (0, 0, "30 s"),
    ],
)
def test_describe(done, total, line):
    assert _describe("join", done, total, 30.0) == line


def test_report_part():
    seen: list[float] = []
    inner = report_part(report_part(seen.append, 0.5, 1.0), 0.0, 0.5)
    for share in (0.0, 0.5, 1.0):
        inner(share)
    assert seen == [0.5, 0.625, 0.75]
