"""docs/command-line.md has every help text as it is printed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import click
import pytest

from neardup.cli import cli, run
from tests.docs.pages import ROOT, tables

COMMAND_LINE = ROOT / "docs/command-line.md"

# Set to 1, it makes test_command_line__help_is_current write the help texts instead.
UPDATE = "NEARDUP_UPDATE_DOCS"


def all_commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """Give a group and all commands below it, in the order in which they are defined."""
    yield name, group
    context = click.Context(group)
    # A list of commands would be by name; that of a group that loads them late has their order.
    for child in list(group.commands) or group.list_commands(context):
        command = group.get_command(context, child)
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{name} {child}")
        else:
            yield f"{name} {child}", command


def commands() -> list[str]:
    """Give the command line of every help text."""
    return [name for name, _ in all_commands(cli, "neardup")]


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run([*command.split()[1:], "--help"]) == 0
    return capsys.readouterr().out.rstrip() + "\n"


def test_command_line__help_is_current(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    text = new = COMMAND_LINE.read_text(encoding="utf-8")
    for command in commands():
        start = f"```console\n$ {command} --help\n"
        assert start in text, f"docs/command-line.md lacks a block that starts with {start!r}"
        before, rest = new.split(start)
        new = before + start + help_of(command, capsys) + "```" + rest.split("```", 1)[1]
    if os.environ.get(UPDATE) == "1":
        COMMAND_LINE.write_text(new, encoding="utf-8")
        return
    assert text == new, f"help texts differ; run the tests with {UPDATE}=1 to write them"


def test_command_line__no_help_of_removed_commands():
    shown = re.findall(r"(?m)^\$ (neardup.*) --help$", COMMAND_LINE.read_text(encoding="utf-8"))
    assert shown == commands()


def test_command_line__every_option():
    text = COMMAND_LINE.read_text(encoding="utf-8")
    for name, command in all_commands(cli, "neardup"):
        block = text.split(f"$ {name} --help\n")[1].split("```")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                for option in (*parameter.opts, *parameter.secondary_opts):
                    assert re.search(rf"(?<!\S){re.escape(option)}\b", block), (name, option)


def test_command_line__lines_for_completion(monkeypatch, capsysbinary):
    """What the shell is to read is a script, for each shell of the table."""
    [rows] = tables("docs/command-line.md", "Completion")
    instructions = [re.findall(r"_NEARDUP_COMPLETE=(\w+) neardup", row[2]) for row in rows]
    assert instructions == [["bash_source"], ["zsh_source"], ["fish_source"]]
    for [instruction] in instructions:
        monkeypatch.setenv("_NEARDUP_COMPLETE", instruction)
        with pytest.raises(SystemExit, match="0"):
            run([])
        assert b"_neardup_completion" in capsysbinary.readouterr().out
