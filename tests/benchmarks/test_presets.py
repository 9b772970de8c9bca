"""Copies that are made on purpose: as much is changed as said, and nothing else."""

from __future__ import annotations

import ast
import io
import keyword
import random
import tokenize

import pytest
from rapidfuzz.distance import Levenshtein

from benchmarks.presets.noise import sections, with_errors
from benchmarks.presets.renaming import rename_braces, rename_python
from benchmarks.presets.texts import read_programs
from tests.each import each_of

pytestmark = pytest.mark.slow

STATUTE = (
    "The plaintiff may, at any time before trial, dismiss his action upon payment of costs. " * 40
)


@each_of("share", [0.01, 0.03, 0.05, 0.1])
def test_with_errors__as_many_as_said(share):
    changed = with_errors(STATUTE, share, random.Random(5))
    # An error makes one edit or two.
    edits = Levenshtein.distance(STATUTE, changed) / len(STATUTE)
    assert 0.8 * share <= edits <= 1.8 * share
    assert changed == with_errors(STATUTE, share, random.Random(5))


def test_sections__are_those_of_a_length():
    text = f"Preface.\n§ 1. {'a ' * 500}\nSEC. 2. Short.\nSection 3. {'b ' * 600}\n"
    assert [part[:6] for part in sections(text)] == ["§ 1. a", "Sectio"]


def test_rename_python__all_names_and_comments():
    for text in list(read_programs().values())[:20]:
        copy = rename_python(text, 3)
        ast.parse(copy)
        names = [
            {
                token.string
                for token in tokenize.generate_tokens(io.StringIO(each).readline)
                if token.type in (tokenize.NAME, tokenize.COMMENT)
            }
            for each in (text, copy)
        ]
        assert {name for name in names[0] & names[1] if not keyword.iskeyword(name)} == set()


def test_rename_braces__all_names_and_comments():
    text = 'int add(int a) { /* sum */ return a + "a" + 0x1f; } // done\n#include <a.h>\n'
    copy = rename_braces(text, 3)
    assert {"add", "sum", "done"}.isdisjoint(copy.replace("(", " ").split())
    assert '"a"' in copy
    assert "0x1f" in copy
    assert copy.endswith("#include <a.h>\n")
