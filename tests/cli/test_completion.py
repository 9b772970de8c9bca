"""Completion: each shell's script, and what is offered for a command, an option and a value."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
from click.shell_completion import BashComplete

from neardup.cli import COMMANDS as DESCRIPTIONS
from neardup.cli import cli
from tests.commands import COMMANDS

REGISTERED = {
    "bash": "complete -o nosort -F _neardup_completion neardup",
    "zsh": "compdef _neardup_completion neardup",
    "fish": "complete --no-files --command neardup",
}
NO_RUN = {"bash": "-n", "zsh": "-n", "fish": "--no-execute"}


@pytest.fixture
def offered(monkeypatch) -> Callable[[str], list[str]]:
    """Complete the last word of a line; return what a shell is told, a kind and a value each."""

    def complete(line: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        return BashComplete(cli, {}, "neardup", "_NEARDUP_COMPLETE").complete().splitlines()

    return complete


@pytest.mark.parametrize("shell", REGISTERED)
def test_script(shell, tmp_path):
    environment = {**os.environ, "_NEARDUP_COMPLETE": f"{shell}_source"}
    command = [sys.executable, "-m", "neardup"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert REGISTERED[shell] in result.stdout
    if shutil.which(shell):
        (tmp_path / "script").write_text(result.stdout)
        subprocess.run([shell, NO_RUN[shell], tmp_path / "script"], check=True)


def test_commands(offered):
    assert offered("neardup ") == [f"plain,{name}" for name in DESCRIPTIONS]
    assert offered("neardup de") == ["plain,dedup"]
    names = [name.removeprefix("index ") for name in COMMANDS if name.startswith("index ")]
    assert offered("neardup index ") == [f"plain,{name}" for name in names]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("dedup --thr", ["plain,--threshold"]),
        ("dedup a.jsonl --no-c", ["plain,--no-casefold"]),
        ("index build idx a.jsonl --min", ["plain,--min-tokens"]),
        ("dedup --measure max", ["plain,max-containment"]),
        ("dedup --measure=ja", ["plain,jaccard"]),
        ("dedup --clusters ", ["plain,survivors", "plain,components"]),
    ],
)
def test_options_and_values(offered, line, expected):
    assert offered(f"neardup {line}") == expected


@pytest.mark.parametrize(
    "line",
    [
        *("dedup x", "dedup a x", "dedup -o x", "dedup a --against x", "pairs x"),
        *("align x", "align a --against x", "search x", "search idx x", "sketch x"),
        *("estimate x", "estimate a x", "compare x", "compare a x"),
        *("drop x", "drop a --named-in x", "index build x", "index build idx x"),
        *("index add idx x", "index info x", "index remove idx --ids x", "compare a b --report x"),
    ],
)
def test_files_are_paths(offered, line):
    assert offered(f"neardup {line}") == ["file,x"]
