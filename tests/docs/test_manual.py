"""There is a manual page for each command, with every option."""

from __future__ import annotations

import re
import shutil
import subprocess

import click
import pytest

from native.manual import all_commands, manual_pages
from neardup.cli import cli
from tests.commands import COMMANDS

PAGES = manual_pages()


def test_pages__one_a_command():
    commands = {name for name, _ in all_commands(click.Context(cli, info_name="neardup"))}
    assert commands == {"neardup", "neardup index", *(f"neardup {name}" for name in COMMANDS)}
    assert PAGES.keys() == {f"{name.replace(' ', '-')}.1" for name in commands}


def shown(name: str) -> str:
    """Show a page as a very wide terminal would, without bold letters."""
    command = ["groff", "-man", "-Tascii", "-P-c", "-rLL=2000n"]
    result = subprocess.run(command, input=PAGES[name], capture_output=True, text=True, check=True)
    return re.sub(r".\x08", "", result.stdout)


groff = pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")


@groff
@pytest.mark.parametrize("command", COMMANDS)
def test_page__every_option(command):
    text = shown(f"neardup-{command.replace(' ', '-')}.1")
    assert text.count(f"neardup {command}") >= 1
    words = " ".join(text.split())
    for option in COMMANDS[command]:
        assert re.search(rf"(?<!\S){re.escape(option.spelling[-1])}\b", text), option.name
        assert " ".join(option.help.split()).replace("`", "") in words
