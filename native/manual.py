"""Manual pages, made from the commands' help and from tables of docs/command-line.md.

The wheel has them; see ``hook.py``. Of neardup that loads nothing but click.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from neardup.cli import COMMANDS, cli
from neardup.cli.command import JobCommand
from neardup.version import __version__

PAGE = Path(__file__).parents[1] / "docs/command-line.md"


def manual_pages() -> dict[str, str]:
    """Make the page of each command, by the names of their files."""
    commands = dict(all_commands(click.Context(cli, info_name="neardup", **cli.context_settings)))
    return {
        f"{name.replace(' ', '-')}.1": "\n".join(_page(context, list(commands))) + "\n"
        for name, context in commands.items()
    }


def write_pages(folder: Path) -> None:
    """Write the page of each command into a folder."""
    for name, text in manual_pages().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def all_commands(context: click.Context) -> Iterator[tuple[str, click.Context]]:
    """Give the context of a command and of all below it, by what one types."""
    yield context.command_path, context
    command = context.command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            yield from all_commands(click.Context(child, context, info_name=name))


def _page(context: click.Context, names: list[str]) -> Iterator[str]:
    name, command = context.command_path, context.command
    title = name.replace(" ", "-")
    yield f'.TH {_roff(title.upper())} 1 "" "neardup {__version__}" "neardup"'
    yield ".SH NAME"
    short = _summary(context).rstrip(".")
    yield f"{_roff(title)} \\- {_roff(short[0].lower() + short[1:])}"
    yield ".SH SYNOPSIS"
    yield f".B {_roff(name)}"
    yield _roff(" ".join(command.collect_usage_pieces(context)))
    yield ".SH DESCRIPTION"
    yield from _paragraphs(command.help or "")
    yield ".SH OPTIONS"
    yield from _options(context)
    if isinstance(command, click.Group):
        yield ".SH COMMANDS"
        for child in command.list_commands(context):
            below = click.Context(command.get_command(context, child), context, info_name=child)
            yield from _item(child, _summary(below))
    if command.epilog:
        heading, _, lines = command.epilog.removeprefix("\b\n").partition(":")
        yield f".SH {heading.upper().rstrip('S')}S"
        yield from (".EX", *(_roff(line.strip()) for line in lines.strip().splitlines()), ".EE")
    if context.parent is None:
        yield from _about_all()
    yield ".SH SEE ALSO"
    near = [other for other in names if _are_near(name, other)]
    yield ", ".join(rf"\fB{_roff(other.replace(' ', '-'))}\fR(1)" for other in near)


def _summary(context: click.Context) -> str:
    """Say in a sentence what a command does, as the help of what it belongs to says it."""
    listed = COMMANDS.get(context.command_path.partition(" ")[2])
    return listed[1] if listed else context.command.get_short_help_str(limit=1000)


def _are_near(name: str, other: str) -> bool:
    """Whether one is the other's parent."""
    return name != other and other in (name.rpartition(" ")[0], f"{name} {other.split()[-1]}")


def _options(context: click.Context) -> Iterator[str]:
    command = context.command
    if isinstance(command, JobCommand):
        for heading, records in command.option_records(context).items():
            yield f".SS {heading}"
            for names, text in records:
                yield from _option(names, text)
        return
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and isinstance(parameter, click.Option):
            yield from _option(*record)


def _about_all() -> Iterator[str]:
    yield ".SH ENVIRONMENT"
    for name, text in _rows("Environment"):
        yield from _item(_plain(name), _plain(text))
    yield ".SH EXIT STATUS"
    for code, text in _rows("Exit codes"):
        yield from _item(code, _plain(text))


def _rows(heading: str) -> list[list[str]]:
    """Give the cells of the table below a heading of the page, without its head."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    lines = re.findall(r"(?m)^\|.*$", text.split("\n## ")[0])
    return [line.strip("| ").split(" | ") for line in lines[2:]]


def _plain(cell: str) -> str:
    """Take links and code spans off a cell of Markdown."""
    return re.sub(r"\[(.+?)\]\(.+?\)", r"\1", cell).replace("`", "")


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        if number:
            yield ".PP"
        yield _roff(" ".join(paragraph.split()))


def _option(names: str, text: str) -> Iterator[str]:
    """Write an option in bold letters, what it takes in italics."""
    fonts = [{"-": "B", "/": "R"}.get(word[0], "I") for word in names.split()]
    words = [rf"\f{font}{_roff(word)}\fR" for font, word in zip(fonts, names.split(), strict=True)]
    yield from (".TP", " ".join(words), _roff(" ".join(text.split())))


def _item(name: str, text: str) -> Iterator[str]:
    yield from (".TP", rf"\fB{_roff(name)}\fR", _roff(" ".join(text.split())))


def _roff(text: str) -> str:
    """Write text so that roff prints it as it is, and what is in backticks in bold."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"`(.+?)`", r"\\fB\1\\fR", text)
    return rf"\&{text}" if text.startswith((".", "'")) else text
