"""Passages that two texts share, and what differs."""

from __future__ import annotations

import random
import re
from collections import Counter

import neardup
from neardup.jobs import compare as compare_passages
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


def test_compare__passages_too_long_for_changes(monkeypatch):
    a, b = (f"{OLD} {x} and {y} {OLD}" for x, y in (("one", "two"), ("three", "four")))
    [passage] = neardup.compare(a, b).passages
    assert [a[slice(*place)] for place in passage.changes_a] == ["one", "two"]
    assert [b[slice(*place)] for place in passage.changes_b] == ["three", "four"]
    monkeypatch.setattr(compare_passages, "_MOST_CELLS", 8)
    result = neardup.compare(a, b)
    assert (result.passages[0].changes_a, result.passages[0].changes_b) == (None, None)
    assert "changed in" not in str(result)
    assert result.report().html
    assert neardup.compare(OLD, OLD).passages[0].changes_a == ()
