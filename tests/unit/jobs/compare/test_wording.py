"""Results as text, as a table and as plain values."""

from __future__ import annotations

import neardup
from tests.unit.jobs.compare.two_texts import NEW, OLD


def test_compare__text_for_a_terminal_obeys_nothing():
    hostile = f"\x1b[31m{OLD}\x1b]0;title\x07 \u202e abc \r rest"
    text = str(neardup.compare(hostile, hostile + " more \x1b[2J words \x9b31m that only one has"))
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "[2J words 31m" in text


def test_compare_result__repr_has_no_text():
    assert OLD not in repr(neardup.compare(OLD, NEW))


def test_compare__lines_of_texts_that_have_several():
    """One that is a line alone has characters only."""
    shared = "the quick brown fox jumps over the lazy dog again and again"
    lines = str(neardup.compare(f"one\r\ntwo {shared}\nthree", f"zero {shared}")).splitlines()
    assert f"  1  9-68 (line 2, column 5) and 5-64, similarity 1: {shared}" in lines
    assert "  69-74 (line 3, column 1): three" in lines
    assert "  0-4: zero" in lines
