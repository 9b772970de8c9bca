"""Programs as tokens: which count, and their places."""

from __future__ import annotations

import pytest

import neardup
from neardup.errors import InvalidParameterError, SketchMismatchError
from neardup.index.open_index import check_restored
from neardup.text import code
from neardup.text.code import cut_programs
from neardup.text.shingles import make_shingle_scheme
from tests.calls import grouped
from tests.each import each_of
from tests.oracles.programs import program_tokens

PYTHON = '''\
#!/usr/bin/python3
"""What the module is for."""
import os.path as paths

class Tree(Base):
    """Of leaves."""
    'and of branches'

    @property
    def size(self, depth: int = 0x1F) -> str:
        # Count them.
        names = ["one", f"{depth!r} two",
            "three"]
        text = (
            "one"
            "two"
        )
        return len(names) + 1.5e3 if depth is not None else u""
'''
C = """\
#include <stdio.h>
/* Adds. */
static unsigned long add(const char *text, size_t n) {
    for (int i = 0; i < n; ++i) { total += text[i] == 'x' ? 0x10 : -1.5f; } // all
    return total;
}
"""
JAVASCRIPT = """\
'use strict';
const found = require('x').of(/a[/]b/g); // here
export default function run({ items }) { return items.map(each => `${each} of ${found}`); }
"""
JAVA = """\
package org.example.trees;
import java.util.List;
/** A tree. */
public final class Tree<T> {
    private int size = 0;
    @Override public String toString() { return "tree" + size; }
}
"""
SAMPLES = {
    "python": PYTHON,
    "cpp": C,
    "javascript": JAVASCRIPT,
    "java": JAVA,
    "csharp": "using System.Text;\nnamespace Trees\n{\n  public int Size { get; set; }\n}\n",
    "go": 'package main\n\nimport (\n\t"fmt"\n)\n\nfunc main() {\n\tx := 1\n}\n',
    "rust": "use std::fmt;\n\npub fn add(a: u32) -> u32 {\n    let mut b = a;\n    b + 1\n}\n",
    "ruby": "require 'set'\n\nclass Tree\n  def size?\n    @a.each do |x|\n    end\n  end\nend\n",
    "php": "<?php\n$found = $this->find($name); // here\n",
    "perl": "use strict;\nmy ($a, %b) = @_;\nsub add {\n  return $a =~ /x/;\n}\n1;\n",
    "bash": 'set -e\nfor each in *.txt; do\n  if [ "$a" ]; then\n    echo $each\n  fi\ndone\n',
    "sql": "-- all\nSELECT name FROM trees\nWHERE size > 10\nORDER BY name;\nDROP TABLE x;\n",
    "lua": "local x = 1\nfunction Tree:size(a)\n  if a then\n  end\nend\n",
}


def words(text: str, language: str = "python") -> list[str]:
    return [token for token, _, _ in cut_programs([text], [language])[0]]


def test_code__language_is_checked():
    for call in (neardup.deduplicate, neardup.align, neardup.sketch):
        with pytest.raises(InvalidParameterError, match=r"^tokenizer .*language"):
            call(["a"], text=neardup.TextOptions(tokenizer="code:nonsense"))


def test_code__names_of_one_language_are_one():
    described = [
        make_shingle_scheme(f"code:{name}").describe() for name in ("python", "py", "Python")
    ]
    assert {each["tokenizer"] for each in described} == {"code:python"}


@pytest.mark.slow
@each_of("language", SAMPLES)
def test_cut_programs__as_oracle(language):
    text = SAMPLES[language]
    for each in (text, text.replace("\n", "\r\n"), text.replace("\n", "\r"), text.rstrip()):
        found = [token.encode() for token in words(each, language)]
        assert found == program_tokens(each, language)


@each_of("language", SAMPLES)
def test_cut_programs__places(language):
    """What stands there is the token, but for names and values, in any form of line ends."""
    for text in (SAMPLES[language], SAMPLES[language].replace("\n", "\r\n")):
        last = 0
        for token, start, stop in cut_programs([text], [language])[0]:
            assert last <= start < stop <= len(text)
            there = text[start:stop]
            if token == code.NUMBER:
                assert there.strip("-")[0].isdigit()
            elif token == code.NAME:
                assert there.strip() == there
            elif token != code.STRING:
                assert there == token
            last = stop


@pytest.mark.slow
@each_of("language", SAMPLES)
def test_cut_programs__broken_ones(language):
    """Wherever a program breaks off, it has tokens, and those before are as they were."""
    text = SAMPLES[language]
    for cut in range(0, len(text), 7):
        for part in (text[:cut], text[cut:], text[:cut] + "\0\ufffd\"'`/*" + text[cut:]):
            for _, start, stop in cut_programs([part], [language])[0]:
                assert 0 <= start < stop <= len(part)


def test_cut_programs__of_python():
    found = words(PYTHON)
    expected = (
        "import N . N as N class N ( N ) : N def N ( N , N : N = 1 ) - > N : "
        "N = [ S , S N S , S ] N = ( S S ) return N ( N ) + 1 if N is not None else S"
    )
    short = {code.NAME: "N", code.NUMBER: "1", code.STRING: "S"}
    assert [short.get(token, token) for token in found] == expected.split()


RENAMED = """\
#!/usr/bin/python3
import x . y as z
# Not what it was.
class Wood (Plant):

    @thing
    def number_of_all(this, q: float = 7) -> bytes:
        w = ['other', f'{q!r}', # four
             'more']; z = ('three' 'four'); return size(w)+2 if q is not None else ''
"""


def test_cut_programs__renamed_commented_and_laid_out_anew():
    of_copy = words(RENAMED)
    # A semicolon stands for the end of a line.
    assert [token for token in of_copy if token != ";"] == words(PYTHON)


def test_code__of_passages_and_documents():
    programs = [PYTHON, RENAMED, C, JAVA]
    found = neardup.deduplicate(
        programs, threshold="0.6", text=neardup.TextOptions(tokenizer="code", ngram=5)
    )
    assert found.removed["id"].to_pylist() == ["1"]
    options = {"tokenizer": "code", "min_tokens": 30, "threshold": "0.7"}
    [passage] = neardup.align(programs[:1], programs[1:], **grouped(**options)).passages.to_pylist()
    assert passage["doc_id"] == "0"
    assert RENAMED[passage["doc_start"] : passage["doc_end"]].startswith("import")


def test_code__an_index_knows_by_which_lexers(tmp_path, monkeypatch):
    index = neardup.DocumentIndex.create(tmp_path / "index", preset="code", threshold="0.3")
    index.add([PYTHON])
    assert len(neardup.DocumentIndex.open(tmp_path / "index").query(RENAMED)) == 1
    described = make_shingle_scheme("code").describe()
    assert described["lexers"].startswith("pygments ")
    monkeypatch.setattr(code, "LEXERS", "pygments 99")
    with pytest.raises(SketchMismatchError, match="lexers"):
        check_restored(make_shingle_scheme("code").describe(), described)
