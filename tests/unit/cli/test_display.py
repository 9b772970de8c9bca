from __future__ import annotations

import io
import sys

import pytest

from neardup.cli.display import Display


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


def test_display__bars_on_a_terminal(terminal):
    stream = terminal()
    with Display(quiet=False) as display:
        display.report("read", 10, None)
        display.report("read", 1234, None)
        display.report("write", 5, 5)
    for part in ("reading", "1234", "writing", "5/5"):
        assert part in stream.getvalue()


def test_display__nothing_when_quiet(terminal):
    stream = terminal()
    with Display(quiet=True) as display:
        display.report("read", 10, None)
    assert stream.getvalue() == ""


def test_display__nothing_without_a_terminal(capsys):
    with Display(quiet=False) as display:
        display.report("read", 10, None)
    assert capsys.readouterr() == ("", "")
