"""The reference has a page for each command, function and class, with all that they take."""

from __future__ import annotations

import posixpath
import re
import warnings

import click
import pytest

import neardup
from docs.reference import (
    COLUMNS,
    FOLDER,
    CommandLine,
    all_commands,
    python_front,
    python_pages,
    slug,
)
from neardup.cli import cli, run
from tests.docs.pages import DOCS, ROOT, links, page, section, tables
from tests.each import each_of

TEXT = page("docs/command-line.md")
COMMAND_LINE = CommandLine(TEXT)
PAGES = {**COMMAND_LINE.pages(), **python_pages()}
CONTEXTS = dict(all_commands(click.Context(cli, info_name="neardup")))
FRONTS = {"command-line.md": COMMAND_LINE.front(), "api.md": python_front(page("docs/api.md"))}


def test_command_line__has_a_section_for_each_command():
    """In the order of the commands; what is around the block says what help does not."""
    described = re.findall(r"(?m)^## (neardup.*)$", TEXT)
    assert described == list(CONTEXTS)[1:]
    assert re.findall(r"(?m)^\$ (neardup.*) --help$", TEXT) == list(CONTEXTS)
    for name in described:
        section = TEXT.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert re.sub(r"(?s)```.*?```", "", section).strip(), name


@each_of("name", list(CONTEXTS)[1:])
def test_page__shows_what_help_prints(name, monkeypatch, capsys):
    # Click leaves two columns free.
    monkeypatch.setenv("COLUMNS", str(COLUMNS + 2))
    assert run([*name.split()[1:], "--help"]) == 0
    shown = PAGES[f"{name.replace(' ', '-')}.md"]
    assert shown.startswith(f"# {name}\n")
    assert f"$ {name} --help\n{capsys.readouterr().out.rstrip()}\n```" in shown


PUBLIC = [name for name in neardup.__all__ if name not in ("__version__", "types")]


@each_of("name", [name for name in PUBLIC if not hasattr(neardup.errors, name)])
def test_page__of_each_public_name(name):
    assert re.search(rf"\.\. auto\w+:: neardup\.{name}\n", PAGES[f"neardup.{name}.md"])
    assert f"| [`{name}`](reference/neardup.{name}.md) | " in FRONTS["api.md"]


def test_api__names_what_is_public():
    [rows] = tables("docs/api.md", "Functions and classes")
    errors = {name for name in PUBLIC if hasattr(neardup.errors, name)}
    assert {row[0].strip("`") for row in rows} == set(PUBLIC) - errors
    assert errors - {"NeardupError"} <= set(re.findall(r"\w+", section("docs/api.md", "Errors")))


@pytest.mark.slow
def test_api__examples_run():
    names: dict[str, object] = {}
    for block in re.findall(r"(?s)```python\n(.*?)```", page("docs/api.md"))[:2]:
        lines = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
        exec("\n".join(lines), names)
    [rows] = tables("docs/api.md", "Functions and classes")
    for name, _, example in rows:
        if name == "`connect`":  # Needs a service; tests/service has the client.
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", neardup.errors.NeardupHint)
            exec(example.strip("`"), names)


def anchors(text: str) -> set[str]:
    text = re.sub(r"(?s)```.*?```", "", text)
    made = re.findall(r'<a id="(.*?)"></a>', text)
    return {*map(slug, re.findall(r"(?m)^#+ (.*)$", text)), *made}


def test_links__lead_to_the_pages_that_sections_have_become():
    """Of pages that are made, and of all others to sections of what was one page."""
    site = {path.name: path.read_text(encoding="utf-8") for path in DOCS} | FRONTS
    site |= {f"{FOLDER}/{name}": text for name, text in PAGES.items()}
    counted = 0
    for name, text in site.items():
        for link in links(COMMAND_LINE.redirected(text)):
            target, _, anchor = link.partition("#")
            home = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            home = home if target else name
            if home not in site:
                assert "://" in link or (ROOT / "docs" / home).exists(), (name, link)
                continue
            assert not anchor or anchor in anchors(site[home]), (name, link)
            counted += FOLDER in home
    assert counted > 60


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
