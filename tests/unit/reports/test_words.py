"""Words, and those that two texts have in the same order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports import differences
from neardup.reports.differences import equal_words, find_words
from tests.each import each_of

WORDS = st.lists(st.sampled_from("abc"), max_size=12)


def longest(a, b) -> int:
    """Count the words of a longest common subsequence, by the textbook's table."""
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            rows[i + 1][j + 1] = rows[i][j] + 1 if x == y else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


def check(a, b, blocks):
    """Blocks ascend, part, and have the same words."""
    ends = (0, 0)
    for block in blocks:
        assert block.n > 0
        assert block.a >= ends[0]
        assert block.b >= ends[1]
        assert (block.a, block.b) != ends or ends == (0, 0)
        assert a[block.a : block.a + block.n] == b[block.b : block.b + block.n]
        ends = block.end


@given(WORDS, WORDS)
def test_equal_words__is_a_longest_common_subsequence(a, b):
    blocks = equal_words(a, b)
    check(a, b, blocks)
    assert sum(block.n for block in blocks) == longest(a, b)


@pytest.mark.parametrize("changed", [0.0, 0.05, 0.3])
def test_equal_words__of_long_texts(monkeypatch, changed):
    """Cut at runs that both have once, the words found are nearly as many as without."""
    rng = random.Random(5)
    a = [f"w{rng.randrange(400)}" for _ in range(1500)]
    b = [word if rng.random() >= changed else "other" for word in a]
    b[700:700] = a[100:160]
    whole = sum(block.n for block in equal_words(a, b))
    monkeypatch.setattr(differences, "_AT_ONCE", 1000)
    blocks = equal_words(a, b)
    check(a, b, blocks)
    assert sum(block.n for block in blocks) >= 0.97 * whole


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
