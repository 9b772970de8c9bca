"""Which rows a page shows, and two documents side by side as HTML and as text."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.differences import side_by_side
from neardup.reports.examples import (
    Document,
    choose_rows,
    compare_documents,
    example_lines,
    mark_runs,
    with_context,
)

SIMILARITIES = st.sampled_from([0.5, 0.6, 0.75, 0.9, 1.0, float("nan")])


@given(st.lists(st.tuples(SIMILARITIES, st.integers(0, 5)), max_size=40), st.integers(1, 3))
def test_choose_rows__from_the_least_similar_to_certain(rows, n):
    values = np.array([value for value, _ in rows], np.float64)
    chosen = choose_rows(values, [np.array([d for _, d in rows], np.int64)], n)
    shown = [values[row] for row in chosen]
    assert shown == sorted(shown)
    near = sorted(value for value in values.tolist() if value < 1)
    if near:
        assert chosen[next(iter(chosen))] == "Least similar"
        assert shown[0] == near[0]
        assert len(near) == 1 or near[-1] in shown
    assert len([value for value in shown if value == 1]) == min(1, int((values == 1).sum()))
    assert len(chosen) <= 3 * n + 1


def test_choose_rows__of_different_documents_if_there_are_others():
    values = np.array([0.5, 0.5, 0.5, 0.6])
    first = choose_rows(values, [np.array([1, 1, 2, 3])], 2)
    assert [row for row, title in first.items() if title == "Least similar"] == [0, 2]
    same = choose_rows(values, [np.array([1, 1, 1, 1])], 2)
    assert [row for row, title in same.items() if title == "Least similar"] == [0, 1]


def test_compare_documents__code_has_numbered_lines():
    text = "import os\n\ndef main():\n    return 1\n"
    other = text.replace("return 1", "return 2")
    example = compare_documents(
        "t", Document("a", "a.py", 1, text), Document("b", None, None, other)
    )
    assert example.is_code
    assert re.findall(r'data-n="(\d+)"', example.marked(0)) == ["1", "2", "3", "4", "5"]
    assert "<del>1</del>" in example.marked(0)
    # Lines after a part that is left out have the numbers of the file.
    long = "\n".join(f"line{k}" for k in range(1, 200))
    other = long.replace("line150", "changed")
    example = compare_documents(
        "t", Document("a.py", None, None, long), Document("b", None, None, other)
    )
    assert re.search(r'data-n="150"></span><del>line150</del>', example.marked(0))
    prose = compare_documents("t", Document("a", None, None, text), Document("b", None, None, text))
    assert not prose.is_code
    assert compare_documents("t", prose_of(text), prose_of(other), is_code=True).is_code


def prose_of(text):
    return Document("x", None, None, text)


@given(st.text("ab <&>\n\r\x00", max_size=30), st.text("ab <&>\n\r\x00", max_size=30))
def test_mark_runs__has_the_text_and_nothing_else(a, b):
    for has_lines in (False, True):
        found = side_by_side(a, b, context=None, has_lines=has_lines)
        for text, runs, tag in ((a, found.a, "del"), (b, found.b, "ins")):
            html = mark_runs(runs, tag)
            assert set(re.findall(r"</?(\w+)", html)) <= {tag, "span"}
            shown = unescape(re.sub(r"<[^>]+>", "", html).replace("&#13;", "\r"))
            assert shown == text.replace("\x00", "\u2400")


def test_compare_documents__without_a_text():
    known, unknown = Document("a", "f", 1, "some text"), Document("b", None, None, None)
    example = compare_documents("t", known, unknown, roles=("Removed", "Stays"))
    assert example.names == ("Removed: a", "Stays: b")
    assert (example.marked(0), example.marked(1)) == ("some text", "")
    assert "del" not in example.marked(0)


def test_with_context__shows_the_text_around():
    example = compare_documents("t", prose_of("two"), prose_of("two"))
    html = with_context(example, 0, "one two three", (4, 7)).marked(0)
    assert html == '<span class="around">one </span>two<span class="around"> three</span>'


def test_example_lines__marks_words_and_hides_controls():
    example = compare_documents("t", prose_of("one two\x1b"), prose_of("one three"), note="n")
    lines = list(example_lines(example))
    assert lines[2] == "    one {-two-}"
    assert lines[4] == "    one {+three+}"
    assert all("\x1b" not in line for line in lines)
