"""What docs/command-line.md says of configuration is what the command line does."""

from __future__ import annotations

import json
import re

import pytest

from neardup.cli import run
from neardup.cli.configuration import is_configurable
from tests.commands import COMMANDS
from tests.docs.pages import section

TEXT = section("docs/command-line.md", "Configuration")
[EXAMPLE] = re.findall(r"(?s)```toml\n(.*?)```", TEXT)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Work in a folder of a repository, with a file of documents."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data/in.jsonl").write_text('{"text": "one two three", "id": "a"}\n')
    monkeypatch.chdir(tmp_path / "data")
    return tmp_path


def test_example(project, capsys):
    (project / "neardup.toml").write_text(EXAMPLE)
    assert run(["dedup", "in.jsonl", "-o", "out", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["threshold"], printed["keep"], printed["workers"]) == (0.9, "longest", 4)
    assert run(["index", "build", "idx", "in.jsonl"]) == 0
    assert "min-tokens 25 from ../neardup.toml" in capsys.readouterr().err


def test_line(project, capsys):
    (project / "neardup.toml").write_text("threshold = 0.9\nworkers = 2\n")
    assert run(["dedup", "in.jsonl", "-o", "out"]) == 0
    assert f"```text\n{capsys.readouterr().err}```" in TEXT


def test_errors(project, capsys):
    def error() -> str:
        assert run(["dedup", "in.jsonl", "-o", "out"]) == 1
        return capsys.readouterr().err

    (project / "data/neardup.toml").write_text("[dedup]\ntreshold = 0.9\n")
    errors = error()
    (project / "data/neardup.toml").write_text("threshold = 80\n")
    assert f"```text\n{errors}{error()}```" in TEXT


def test_options_of_the_command_line_only():
    refused = {
        option.spelling[-1]
        for options in COMMANDS.values()
        for option in options
        if not is_configurable(option)
    }
    [sentence] = re.findall(r"(?s)\*\*Not taken from there\*\* is (.*?) and the inputs\.", TEXT)
    assert set(re.findall(r"`(--[a-z-]+)`", sentence)) == refused
