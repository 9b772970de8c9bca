"""The manual pages have every option, and are what man understands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import click
import pytest

from native.manual import all_commands, manual_pages, write_pages
from neardup.cli import cli
from neardup.options.commands import COMMANDS

PAGES = manual_pages()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return where all pages are, as the wheel puts them."""
    folder = tmp_path_factory.mktemp("environment") / "share/man/man1"
    folder.mkdir(parents=True)
    write_pages(folder)
    assert {path.name for path in folder.iterdir()} == set(PAGES)
    return folder


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


@groff
def test_page__of_the_program():
    text = shown("neardup.1")
    for word in (
        "--no-config",
        "dedup",
        "NEARDUP_CACHE_DIR",
        "neardup.toml",
        "143",
        "neardup-dedup(1)",
    ):
        assert word in text
    assert "neardup-index-build(1)" not in text
    assert "neardup-index-build(1)" in shown("neardup-index.1")


@groff
@pytest.mark.parametrize("name", PAGES)
def test_page__without_warnings(name):
    command = ["groff", "-man", "-Tutf8", "-ww", "-z"]
    result = subprocess.run(command, input=PAGES[name], capture_output=True, text=True, check=True)
    assert result.stderr == ""


@pytest.mark.skipif(shutil.which("man") is None, reason="needs man")
def test_man__finds_them_beside_the_program(folder):
    environment_folder = folder.parents[2]
    (environment_folder / "bin").mkdir()
    path = f"{environment_folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    environment.pop("MANPATH", None)
    command = ["man", "-w", "neardup", "dedup"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert result.stdout == f"{folder / 'neardup-dedup.1'}\n"
