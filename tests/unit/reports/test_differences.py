"""Two texts side by side: runs, what is left out, and what is counted."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports import differences
from neardup.reports.differences import Run, find_words, side_by_side
from tests.each import each_of


def shown(runs: list[Run]) -> str:
    """Write runs as a reader would: brackets around what only one text has, dots for the rest."""
    forms = {"same": "{}", "changed": "[{}]", "omitted": "<{}>"}
    return "".join(forms[r.kind].format(r.n_words if r.kind == "omitted" else r.text) for r in runs)


def test_side_by_side__leaves_long_equal_stretches_out():
    words = [f"w{i}" for i in range(100)]
    other = [*words]
    other[50] = "changed"
    found = side_by_side(" ".join(words), " ".join(other), context=3)
    assert shown(found.a) == "<47>w47 w48 w49 [w50 ]w51 w52 w53 <46>"
    assert shown(found.b) == "<47>w47 w48 w49 [changed ]w51 w52 w53 <46>"
    assert (found.n_common, found.n_only) == (99, (1, 1))


def test_side_by_side__equal_runs_are_the_same_on_both_sides():
    """Also at the end of one text that goes on in the other."""
    words = " ".join(f"w{i}" for i in range(60))
    found = side_by_side(words, f"{words} more", context=3)
    same_a, same_b = (
        [r.text.strip() for r in runs if r.kind == "same"] for runs in (found.a, found.b)
    )
    assert same_a == same_b == ["w57 w58 w59"]


def test_side_by_side__bounds_what_is_shown():
    a = " ".join(f"a{i} c{i}" for i in range(3000))
    b = " ".join(f"b{i} c{i}" for i in range(3000))
    found = side_by_side(a, b)
    assert sum(run.n_words for run in found.a if run.kind != "omitted") <= 801
    assert sum(run.n_words for run in found.a) == 6000


@pytest.mark.slow
def test_side_by_side__long_texts_are_as_short_ones(monkeypatch):
    """What both begin with is counted, and the rest compared as if it were all."""
    words = [f"w{i}" for i in range(15_000)]
    other = [*words]
    other[14_000:14_002] = ["Changed"]
    text, changed = " ".join(words), " ".join(other)
    for pair in [(text, changed), (changed, text), (text, text + " more"), ("x", text)]:
        found = side_by_side(*pair)
        with monkeypatch.context() as patch:
            patch.setattr(differences, "_first_difference", lambda *_: 0)
            assert side_by_side(*pair) == found


def test_side_by_side__texts_that_are_too_long():
    text = "word " * differences.MOST_WORDS
    found = side_by_side(f"one {text}", f"two {text} and more")
    assert not found.is_whole
    assert found.n_only == (1, 1)
    assert side_by_side(text, text).is_whole


def test_side_by_side__lines_are_numbered():
    found = side_by_side("a\nb\nc", "a\nb\nd", has_lines=True)
    assert [(run.text, run.line) for run in found.a] == [("a\nb\n", 1), ("c", 3)]
    assert [run.line for run in side_by_side("a\nb", "a\nc").a] == [0, 0]


def test_side_by_side__symbols_of_code_are_words():
    found = side_by_side("a = b + c", "a = b - c", has_lines=True)
    assert [run.text for run in found.a if run.kind == "changed"] == ["+ "]
    assert side_by_side("a = b + c", "a = b - c").n_only == (0, 0)


@each_of(
    ("text", "found"),
    [
        ("It's a dog-day.", ["It", "s", "a", "dog", "day"]),
        ("春眠 ab", ["春", "眠", "ab"]),
        ("", []),
        ("x" * 42, ["x", "x", "x" * 40]),
    ],
)
def test_find_words(text, found):
    assert [text[start:stop] for start, stop in find_words(text)] == found


texts = st.lists(st.sampled_from(["a", "b", "c ", " ", "d ", ", ", "中"])).map("".join)


@given(texts, texts)
def test_side_by_side__has_all_of_both_texts(a, b):
    """Laws: without a context nothing is lost; equal runs are equal, and as many as a subsequence
    that is found by another way."""
    found = side_by_side(a, b, context=None)
    assert "".join(run.text for run in found.a) == a
    assert "".join(run.text for run in found.b) == b
    words_a, words_b = (re.findall(r"中|[a-d]+", text) for text in (a, b))
    same_a, same_b = (
        [word for run in runs if run.kind == "same" for word in re.findall(r"中|[a-d]+", run.text)]
        for runs in (found.a, found.b)
    )
    assert same_a == same_b
    assert found.n_common == len(same_a) == longest_common(words_a, words_b)
    assert found.n_only == (len(words_a) - len(same_a), len(words_b) - len(same_b))


def longest_common(a: list[str], b: list[str]) -> int:
    """Count the longest common subsequence, by the table of the textbooks."""
    row = [0] * (len(b) + 1)
    for x in a:
        above = row
        row = [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
    return row[-1]
