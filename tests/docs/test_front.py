"""The front page leads to every command; what pages tell to type is understood."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import click

from neardup.cli import COMMANDS, cli
from tests.docs.pages import DOCS, ROOT, tables
from tests.each import each_of


def test_front__names_each_command():
    [rows] = tables("docs/index.md", "Which command do I need?")
    named = [name for row in rows for name in re.findall(r"`neardup (\w+)`", row[1])]
    assert sorted(named) == sorted(COMMANDS)
    # The picture has them all, too, and is drawn of text that a screen reader finds.
    picture = ElementTree.parse(ROOT / "docs/which-command.svg")
    words = {word for text in picture.getroot().itertext() for word in re.findall(r"\w+", text)}
    assert words >= set(COMMANDS)


def typed(path: Path) -> Iterator[str]:
    """Give the commands of a page that are shown to be typed, as shells read them."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for block in re.findall(r"(?s)```console\n(.*?)```", text):
        for line in re.findall(r"(?m)^\$ (neardup .*)$", block):
            if "--help" not in line:
                yield line


@each_of("path", DOCS, ids=lambda path: path.name)
def test_commands__are_understood(path):
    for line in typed(path):
        context = click.Context(cli, info_name="neardup")
        command: click.Command = cli
        words = shlex.split(re.sub(r"\$[A-Z]+", "1", line), comments=True)
        # A pipe, and what comes behind it, is the shell's.
        ends = [words.index(sign) for sign in ("|", ">", "<", "&&") if sign in words]
        _, *rest = words[: min(ends, default=None)]
        while isinstance(command, click.Group):
            _, command, rest = command.resolve_command(context, rest)
        # Raises where an option is unknown, or takes no such value.
        try:
            command.make_context(command.name, rest, parent=context)
        except click.ClickException as error:
            raise AssertionError(f"{line}: {error.format_message()}") from error
