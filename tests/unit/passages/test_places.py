"""Where passages begin as people cite it, against definitions by Python's own means."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidParameterError
from neardup.passages.passage_matches import Placer
from tests.oracles.places import line_and_column
from tests.strategies import any_text

# In all of these RE2 and Python's regular expressions are of one mind.
PATTERNS = {
    "verse": r"^([A-Z][a-z]+ [0-9]+:[0-9]+)",
    "no group": r"[0-9]+:[0-9]+",
    "a group that may be empty": r"<([a-z]*)>",
    "one in another": r"((?:[a-z]+)) =",
    "alternatives": r"^Act ([IV]+)|^Scene ([0-9])",
    "any case": r"(?i)(chapter [0-9])",
    "end of a line": r"([a-z]+)$",
}
marked_texts = st.lists(
    st.sampled_from(
        [
            *(
                "Gen 1:1",
                "Ex 12:3",
                "<>",
                "<abc>",
                "abc =",
                "Act IV",
                "Scene 2",
                "cHapter 1",
                "é🙂",
            ),
            *("é🙂", "\n", "\n", " ", "x", "\ufdd0", "\ufdd1", r"\1", r"\0"),
        ]
    ),
    max_size=30,
).map("".join)


@given(any_text, st.data())
def test_line__as_counting_tells_it(text, data):
    place = data.draw(st.integers(0, len(text)))
    assert Placer().place_in(text)(place) == line_and_column(text, place)


def check_marker(pattern, text):
    """Compare the places of all characters with those by Python's regular expressions."""
    groups = re.compile(pattern).groups
    found = [
        (match.start(), " ".join((match[1 if groups else 0] or "").split()))
        for match in re.compile(pattern, re.MULTILINE).finditer(text)
    ]
    found = [(start, name) for start, name in found if name]
    starts, names = Placer(pattern).markers(text)
    assert list(zip(starts, names, strict=True)) == found
    place_of, usual = Placer(pattern).place_in(text), Placer().place_in(text)
    for place in range(len(text) + 1):
        before = [name for start, name in found if start <= place]
        assert place_of(place) == (before[-1] if before else usual(place))
    return found


@given(st.sampled_from(sorted(PATTERNS)), marked_texts)
def test_marker__the_last_one_at_or_before(name, text):
    check_marker(PATTERNS[name], text)


def test_marker__no_regular_expression():
    for pattern in ("(", "a)(b", "(?=x)", "[", r"\2"):
        with pytest.raises(InvalidParameterError):
            neardup.align(["a b c"], place_marker=pattern)


def test_marker__time_grows_with_the_text_alone():
    """Python's own engine would not come back from this one."""
    assert Placer(r"^(a|a|aa)+$").markers("a" * 50_000 + "b") == ([], [])
