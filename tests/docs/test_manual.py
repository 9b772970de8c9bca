"""The manual pages are current, have every option, and are what man understands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib

import click
import pytest

from neardup.cli import cli
from neardup.options.commands import COMMANDS
from tests.docs.manual import all_commands, manual_pages
from tests.docs.pages import ROOT, UPDATE, page

FOLDER = ROOT / "docs/man"
PAGES = manual_pages()


def test_pages__are_current():
    if os.environ.get(UPDATE) == "1":
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
        for name, text in PAGES.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
        return
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert found == PAGES, f"manual pages differ; run the tests with {UPDATE}=1 to write them"


def test_pages__one_a_command():
    commands = {name for name, _ in all_commands(click.Context(cli, info_name="neardup"))}
    assert commands == {"neardup", "neardup index", *(f"neardup {name}" for name in COMMANDS)}
    assert PAGES.keys() == {f"{name.replace(' ', '-')}.1" for name in commands}


def shown(name: str) -> str:
    """Show a page as a very wide terminal would, without bold letters."""
    command = ["groff", "-man", "-Tascii", "-P-c", "-rLL=2000n", FOLDER / name]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
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
    command = ["groff", "-man", "-Tutf8", "-ww", "-z", FOLDER / name]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stderr == ""


@pytest.mark.skipif(shutil.which("man") is None, reason="needs man")
def test_man__finds_them_beside_the_program(tmp_path):
    folder = tmp_path / "share/man/man1"
    shutil.copytree(FOLDER, folder)
    (tmp_path / "bin").mkdir()
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("MANPATH", None)
    command = ["man", "-w", "neardup", "dedup"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert result.stdout == f"{folder / 'neardup-dedup.1'}\n"


def test_wheel__has_them():
    settings = tomllib.loads(page("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert settings["shared-data"] == {"docs/man": "share/man/man1"}
