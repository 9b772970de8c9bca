"""Commands and examples of the pages print what is shown below them."""

from __future__ import annotations

import doctest
import os
import re
import shlex

import pytest

from neardup.cli import run
from tests.docs.pages import DOCS, ROOT, UPDATE, page, section
from tests.each import each_of


def without_times(text: str) -> list[str]:
    """Leave out times, memory, and the sizes of files, which depend on the version of Arrow."""
    text = re.sub(r"[\d,]+ bytes, [\d,]+ a document$", "bytes", text, flags=re.MULTILINE)
    text = re.sub(r", [\d,]+ MB of memory at most$", "", text, flags=re.MULTILINE)
    return re.sub(r"in [\d.]+ s$", "in", text.strip(), flags=re.MULTILINE).splitlines()


@pytest.mark.slow
@each_of(
    ("name", "heading", "program"),
    [
        ("docs/tutorial-command-line.md", None, "neardup"),
        ("docs/leakage.md", "With small files", "neardup"),
        ("docs/sketches.md", "With small files", "neardup"),
        ("docs/sketches.md", "Two parties, no texts shown", "neardup"),
        ("docs/training-data.md", None, "neardup"),
        ("docs/recipes.md", None, "neardup"),
        ("docs/reports.md", "Why a document was removed or kept", "neardup"),
        ("docs/growing.md", "A weekly crawl", "neardup"),
        ("docs/editions.md", None, "neardup"),
        ("docs/repeated-passages.md", None, "neardup"),
        ("docs/records.md", None, "neardup"),
    ],
)
def test_commands__print_what_pages_show(name, heading, program, tmp_path, capsys, monkeypatch):
    """Blocks of commands, each followed by what they print, of a section or of a page."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = page(name) if heading is None else section(name, heading)
    blocks = re.findall(r"(?s)```(sh|text)\n(.*?)```", text)
    assert blocks
    assert [kind for kind, _ in blocks] == ["sh", "text"] * (len(blocks) // 2)
    capsys.readouterr()
    for (_, commands), (_, shown) in zip(blocks[::2], blocks[1::2], strict=True):
        for command in commands.replace("\\\n", " ").strip().splitlines():
            command, _, n_lines = command.partition(" | head -n ")
            first, *arguments = shlex.split(command)
            assert first == program
            assert run(arguments) == 0
        printed = capsys.readouterr().out
        if n_lines:
            printed = "".join(printed.splitlines(keepends=True)[: int(n_lines)])
        is_current = without_times(printed) == without_times(shown)
        if not is_current and os.environ.get(UPDATE) == "1":
            new = page(name).replace(f"```text\n{shown}```", f"```text\n{printed}```")
            (ROOT / name).write_text(new, encoding="utf-8")
        else:
            assert is_current, f"{printed}\nrun the tests with {UPDATE}=1 to write this"


@pytest.mark.slow
@each_of("path", DOCS, ids=lambda path: path.name)
def test_examples__give_what_they_show(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"(?s)``` *python\n *(>>>.*?)```", path.read_text(encoding="utf-8"))
    examples = doctest.DocTestParser().get_doctest("".join(blocks), {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)
