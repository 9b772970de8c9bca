"""docs/command-line.md has every help text as it is printed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import click
import pytest

from neardup.cli import cli, run
from tests.docs.pages import ROOT, UPDATE, tables
from tests.each import each_of

COMMAND_LINE = ROOT / "docs/command-line.md"


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


def with_help(text: str, command: str, help_text: str) -> str:
    """Put a help text into its block of the page; refuse if the block has no end of its own."""
    start = f"```console\n$ {command} --help\n"
    assert text.count(start) == 1, f"docs/command-line.md needs one block that starts {start!r}"
    before, rest = text.split(start)
    old = re.match(r"(?sm)(?:Usage: (?:(?!^#|```).)*)?(?=```$)", rest)
    assert old, f"the block {start!r} has no closing ``` below it; what follows would be deleted"
    return before + start + help_text + rest[old.end() :]


def test_command_line__help_is_current(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    text = new = COMMAND_LINE.read_text(encoding="utf-8")
    for command in commands():
        new = with_help(new, command, help_of(command, capsys))
    if os.environ.get(UPDATE) == "1":
        COMMAND_LINE.write_text(new, encoding="utf-8")
        return
    assert text == new, f"help texts differ; run the tests with {UPDATE}=1 to write them"


BLOCK = "```console\n$ neardup count --help\n"


@pytest.mark.parametrize("old", ["", "Usage: neardup count\n"])
def test_help__is_put_into_its_block(old):
    page = f"# Page\n\n{BLOCK}{old}```\n\nA word.\n\n```text\nsomething\n```\n"
    new = with_help(page, "neardup count", "Usage: neardup count [OPTIONS]\n")
    assert new == page.replace(f"{old}```\n\nA", "Usage: neardup count [OPTIONS]\n```\n\nA")


@each_of("old", ["", "Usage: neardup count\n"])
@each_of(
    "rest",
    [
        "",
        "\n## Next\n\n```\nsomething\n```\n",
        "\n```console\n$ neardup dedup --help\n```\n",
    ],
)
def test_help__deletes_nothing_where_a_block_has_no_end(old, rest):
    with pytest.raises(AssertionError, match="has no closing"):
        with_help(f"{BLOCK}{old}{rest}", "neardup count", "Usage: neardup count\n")


def test_help__deletes_no_prose_where_a_new_block_has_no_end():
    with pytest.raises(AssertionError, match="has no closing"):
        with_help(f"{BLOCK}\nA word.\n\n```\nsome\n```\n", "neardup count", "Usage\n")


def test_help__needs_one_block():
    for text in ("", f"{BLOCK}```\n{BLOCK}```\n"):
        with pytest.raises(AssertionError, match="needs one block"):
            with_help(text, "neardup count", "Usage\n")


def test_command_line__has_a_section_for_each_command():
    """In the order of the commands; what is below the block says what help does not."""
    text = COMMAND_LINE.read_text(encoding="utf-8")
    assert re.findall(r"(?m)^## (neardup.*)$", text) == commands()[1:]
    for name in commands()[1:]:
        described = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert re.sub(r"(?s)```.*?```", "", described).strip(), name


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
