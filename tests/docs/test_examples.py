"""Commands and examples of the pages print what is shown below them."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest

from neardup.cli import run
from tests.docs.pages import DOCS, ROOT, section


def without_times(text: str) -> list[str]:
    """Leave out times, and the sizes of files, which depend on the version of Arrow."""
    text = re.sub(r"[\d,]+ bytes, [\d,]+ a document$", "bytes", text, flags=re.MULTILINE)
    return re.sub(r"in [\d.]+ s$", "in", text.strip(), flags=re.MULTILINE).splitlines()


@pytest.mark.parametrize(
    ("name", "heading", "program"),
    [
        ("README.md", "Passages", ".venv/bin/neardup"),
        ("docs/leakage.md", "With small files", "neardup"),
        ("docs/sketches.md", "With small files", "neardup"),
        ("docs/sketches.md", "Two parties, no texts shown", "neardup"),
    ],
)
def test_commands__print_what_pages_show(name, heading, program, tmp_path, capsys, monkeypatch):
    """Blocks of commands, each followed by what they print."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    blocks = re.findall(r"(?s)```(sh|text)\n(.*?)```", section(name, heading))
    assert blocks
    assert [kind for kind, _ in blocks] == ["sh", "text"] * (len(blocks) // 2)
    capsys.readouterr()
    for (_, commands), (_, shown) in zip(blocks[::2], blocks[1::2], strict=True):
        for command in commands.replace("\\\n", " ").strip().splitlines():
            first, *arguments = shlex.split(command)
            assert first == program
            assert run(arguments) == 0
        assert without_times(capsys.readouterr().out) == without_times(shown)


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_examples__give_what_they_show(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"(?s)```python\n(>>>.*?)```", path.read_text(encoding="utf-8"))
    examples = doctest.DocTestParser().get_doctest("".join(blocks), {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)
