"""How messages name options: with dashes on the command line, as arguments in Python."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from pathlib import Path

import pytest

import neardup
from neardup.errors import InvalidInputError, ReadError, in_python, on_command_line
from tests.commands import COMMANDS
from tests.digests.cases import REFUSALS
from tests.digests.inputs import make_inputs
from tests.each import each_of

OPTIONS = {option.name: option for options in COMMANDS.values() for option in options}
FLAGS = {flag for option in OPTIONS.values() for flag in option.spelling}
# As Python alone writes options: names of two words and more, and arguments with values.
_OF_PYTHON = [name for name in OPTIONS if "_" in name]
_NAME = rf"(?<![\w'./-])(?:{'|'.join([*_OF_PYTHON, 'with_columns'])})(?![\w'./-])"
_ARGUMENT = rf"(?<![\w'./-])(?:{'|'.join(OPTIONS)})=(?:'|True|None|\[)"


def python_names(message):
    """Return the options of a message that are written as in Python."""
    return re.findall(f"{_NAME}|{_ARGUMENT}", message)


@pytest.mark.parametrize(
    ("message", "of_python", "of_commands"),
    [
        ("choose another keep (--keep)", "choose another keep", "choose another --keep"),
        ("with with_columns (--columns), x", "with with_columns, x", "with --columns, x"),
        ("encoding is encoding cp1252 (--encoding cp1252); so",
         "encoding is encoding cp1252; so", "encoding is --encoding cp1252; so"),
        ("on_error='skip' (--on-error skip) and format='jsonl' (--format jsonl)",
         "on_error='skip' and format='jsonl'", "--on-error skip and --format jsonl"),
        ("replace it with overwrite=True (--overwrite)",
         "replace it with overwrite=True", "replace it with --overwrite"),
        ("(side (--side) says) (--side) dir (--keep)/a.txt: --keep (--format is from a.toml)",
         "(side says) (--side) dir (--keep)/a.txt: --keep (--format is from a.toml)",
         "(--side says) (--side) dir (--keep)/a.txt: --keep (--format is from a.toml)"),
    ],
)  # fmt: skip
def test_spelling(message, of_python, of_commands):
    assert in_python(message) == of_python
    assert on_command_line(message) == of_commands
    for error in (InvalidInputError(message, path="a"), ReadError(message, path="a")):
        assert str(error) == f"a: {in_python(message, with_read=True)}"
        assert on_command_line(error.in_both) == f"a: {of_commands}"
    assert InvalidInputError(message, path="a").reason == of_python


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("name another with text_column (--text-column)", "text_column=..."),
        ("skip with on_error='skip' (--on-error skip)", "on_error='skip'"),
        ("give delimiter ';' (--delimiter ';')", "delimiter=';'"),
    ],
)
def test_spelling__options_of_files(message, said):
    """Functions take them as ``read``."""
    assert str(InvalidInputError(message)).endswith(f" read=neardup.ReadOptions({said})")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs") / "inputs"
    folder.mkdir()
    make_inputs(folder)
    return folder


@pytest.mark.slow
@each_of("case", REFUSALS)
def test_commands__name_options_with_dashes(run, inputs, tmp_path, monkeypatch, case):
    """Each refusal and each hint that the digests record."""
    folder = tmp_path / "inputs"
    shutil.copytree(inputs, folder)
    monkeypatch.chdir(folder)
    for step in case.split(" ; "):
        if not step.startswith("@"):
            said = run(*shlex.split(step)).err
            assert not python_names(re.sub(r"'[^'\n]*'", "''", said)), said
            assert in_python(said) == said


ROOT = Path(neardup.__file__).parent
# The command line has its own words, options their help, and pages name whole commands.
_NO_MESSAGES = ("cli/", "options/", "reports/", "service/")


def _texts_of(tree):
    """Yield the line and the text of each string that is no docstring, {} for what is put in."""
    inner = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            inner.add(node.value)
        if isinstance(node, ast.JoinedStr):
            inner.update(node.values)
        if node in inner:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_messages__name_options_by_both_names():
    """An option with dashes is beside its name in Python, which ``in_python`` keeps."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(_NO_MESSAGES):
            continue
        for line, text in _texts_of(ast.parse(path.read_text(encoding="utf-8"))):
            # Whole commands are written as in a terminal.
            said = re.sub(r"`[^`]*`", "", text)
            is_command = re.search(r"neardup (report|review) ", said)
            # A value that is put in may be behind the name, as it is in the flag.
            said = in_python(said.replace("{!r}", "{}"))
            if not is_command and FLAGS & set(re.findall(r"--[a-z][a-z-]*", said)):
                found.append(f"{name}:{line}: {text}")
    assert not found


def test_errors__are_made_of_messages_with_both_names():
    """``reason`` has lost the names of the command line; ``reason_in_both`` has not."""
    for path in sorted(ROOT.rglob("*.py")):
        assert "error.reason," not in path.read_text(encoding="utf-8"), path
        assert "{error.reason}" not in path.read_text(encoding="utf-8"), path
