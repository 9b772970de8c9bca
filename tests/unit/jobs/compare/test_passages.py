"""Passages that two texts share, and what differs."""

from __future__ import annotations

import random
import re
from collections import Counter

import numpy as np
import pytest

import neardup
from neardup.errors import InvalidParameterError
from neardup.jobs.compare import compare as compare_passages
from neardup.jobs.compare.compare import TokenPlaces, find_differences
from tests.oracles import comparison
from tests.unit.jobs.compare.two_texts import NEW, OLD, words_of


def test_compare__passages_have_places_in_both_texts():
    filler = ["nothing of the kind stands here at all 🙂 "] * 2
    a = filler[0] + OLD + " -- and so on"
    b = "Ø: " + NEW
    result = neardup.compare(a, b)
    [passage] = result.passages
    assert a[slice(*passage.a)].startswith("It was the best of times")
    assert b[slice(*passage.b)].startswith("IT WAS THE BEST OF DAYS")
    x, y = (Counter(words_of(text)) for text in (a[slice(*passage.a)], b[slice(*passage.b)]))
    assert passage.similarity == (x & y).total() / (x | y).total()
    changes = [a[slice(*place)] for place in passage.changes_a]
    assert changes[:2] == ["times", "times"]
    assert "WIT AND" in [b[slice(*place)] for place in passage.changes_b]
    for text, ranges, own, share in (
        (a, result.differences.a, passage.a, result.differences.share_a),
        (b, result.differences.b, passage.b, result.differences.share_b),
    ):
        places = [match.span() for match in re.finditer(r"\w+", text)]
        assert list(ranges) == comparison.uncovered(places, [own])
        inside = sum(own[0] <= start and stop <= own[1] for start, stop in places)
        assert share == inside / len(places)


def test_compare__several_passages_and_options_of_theirs():
    rng = random.Random(2)
    blocks = [" ".join(f"w{rng.randrange(10**6)}" for _ in range(30)) for _ in range(4)]
    a, b = f"{blocks[0]} {blocks[1]}. {blocks[2]}", f"{blocks[2]}; {blocks[3]} {blocks[0]}"
    result = neardup.compare(a, b)
    assert [a[slice(*p.a)] for p in result.passages] == [blocks[0], blocks[2]]
    assert [b[slice(*p.b)] for p in result.passages] == [blocks[0], blocks[2]]
    assert [a[slice(*place)] for place in result.differences.a] == [blocks[1]]
    assert [b[slice(*place)] for place in result.differences.b] == [blocks[3]]
    # In one, blocks in another order would be half of it.
    assert neardup.compare(a, b, min_tokens=31, threshold="0.6").passages == ()
    assert result.differences.share_a == 60 / 90


def test_compare__passages_of_short_texts():
    [passage] = neardup.compare("a few words", "but a few words more").passages
    assert (passage.a, passage.b) == ((0, 11), (4, 15))
    assert neardup.compare("a few words", "but a few words more", min_tokens=20).passages == ()
    a, b = (f"{x} one two three four five {y}" for x, y in ("ab", "cd"))
    [passage] = neardup.compare(a, b).passages
    assert a[slice(*passage.a)] == "one two three four five"


@pytest.mark.slow
def test_compare__options_of_passages(monkeypatch):
    told, others = [], []
    align = compare_passages.align

    def spy(*arguments, **options):
        told.append(options["min_tokens"])
        others.append(options)
        return align(*arguments, **options)

    monkeypatch.setattr(compare_passages, "align", spy)
    for n, m in ((0, 50), (1, 50), (9, 50), (50, 39), (50, 40), (60, 70)):
        neardup.compare(*(" ".join(f"w{i}" for i in range(k)) for k in (n, m)))
    neardup.compare("a b c", "a b d", min_tokens=7)
    # A text without tokens is not aligned.
    assert told == [1, 4, 19, 20, 20, 7]
    chosen = {"threshold": "0.7", "tokenizer": "whitespace"}
    chosen |= {"casefold": True, "unicode_form": "NFC", "strip_accents": True, "workers": 1}
    neardup.compare("a b c", "a b d", **chosen)
    assert chosen.items() <= others[-1].items()


def test_compare__passages_too_long_for_changes(monkeypatch):
    a, b = (f"{OLD} {x} and {y} {OLD}" for x, y in (("one", "two"), ("three", "four")))
    monkeypatch.setattr(compare_passages, "_MOST_CELLS", 9)
    [passage] = neardup.compare(a, b).passages
    assert [a[slice(*place)] for place in passage.changes_a] == ["one", "two"]
    assert [b[slice(*place)] for place in passage.changes_b] == ["three", "four"]
    monkeypatch.setattr(compare_passages, "_MOST_CELLS", 8)
    result = neardup.compare(a, b)
    assert (result.passages[0].changes_a, result.passages[0].changes_b) == (None, None)
    assert "changed in" not in str(result)
    assert result.html()
    assert neardup.compare(OLD, OLD).passages[0].changes_a == ()


def test_compare__bytes_of_one_character():
    """Bytes of a character that differ on their own are one change."""
    assert ("\u6f22".encode(), "\u7f23".encode()) == (b"\xe6\xbc\xa2", b"\xe7\xbc\xa3")
    a, b = (f"abcdefghij{c}abcdefghij" for c in ("\u6f22", "\u7f23"))
    [passage] = neardup.compare(a, b, tokenizer="bytes").passages
    assert (passage.changes_a, passage.changes_b) == (((10, 11),), ((10, 11),))


def test_find_differences__overlapping_passages():
    starts = np.arange(0, 50, 5)
    tokens = TokenPlaces(np.zeros(10, np.uint64), starts, starts + 4)
    shared = [(5, 19), (10, 14), (15, 29), (40, 44)]
    assert find_differences(tokens, shared) == (((0, 4), (30, 39), (45, 49)), 0.6)
    assert find_differences(tokens, []) == (((0, 49),), 0.0)
    assert find_differences(tokens, [(0, 49)]) == ((), 1.0)


def test_compare__nothing_to_align(monkeypatch):
    """Texts that share no token are not aligned, and what that would refuse is refused."""
    monkeypatch.setattr("neardup.jobs.compare.compare.align", None)
    found = neardup.compare("one two three", "four five", min_tokens=2)
    assert found.passages == ()
    assert found.differences.a == ((0, 13),)
    assert found.differences.share_a == found.differences.share_b == 0.0
    with pytest.raises(InvalidParameterError, match="threshold"):
        neardup.compare("one", "two", threshold=0)
