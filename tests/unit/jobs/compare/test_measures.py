"""Values of measures against their definitions."""

from __future__ import annotations

import pytest

import neardup
from tests.calls import grouped
from tests.each import each_of
from tests.oracles import comparison, edits
from tests.unit.jobs.compare.two_texts import NEW, OLD, words_of


def check_measures(a: str, b: str, *, ngram: int = 5, weighted_ngram: int = 1) -> None:
    given = {} if (ngram, weighted_ngram) == (5, 1) else {"ngram": ngram}
    result = neardup.compare(a, b, **grouped(**given))
    x, y = words_of(a), words_of(b)
    expected = comparison.of_shingles(x, y, ngram)
    found = {
        (measured.name, measured.elements): measured.exact
        for measured in result.measures
        if measured.elements in ("set", "numbered")
    }
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert comparison.is_close(found[key], value), key
    value, totals = comparison.of_weights(x, y, weighted_ngram, "raw", "unary")
    assert comparison.is_close(result["weighted-jaccard"].exact, value)
    assert [round(size.weight * 2**20) for size in result.sizes] == totals
    distance = edits.distance(a, b)
    longer = max(len(a), len(b))
    assert result["edit-distance"].exact == distance
    assert result["edit-similarity"].exact == ((longer - distance) / longer if longer else 0)
    assert [size.characters for size in result.sizes] == [len(a), len(b)]
    assert [size.tokens for size in result.sizes] == [len(x), len(y)]


@pytest.mark.slow
@each_of(
    ("a", "b"),
    [
        (OLD, NEW),
        (NEW, OLD),
        (OLD, OLD),
        ("a b a b a b a b", "b a b a b a"),
        ("one two", "one two"),
        ("one two", "one two three four five six"),
        ("", ""),
        ("...", "..."),
        ("", OLD),
        ("...", OLD),
        ("\0\r\n\t🙂 漢字", "🙂 漢字\x1b[31m"),
    ],
)
def test_compare__exact_values(a, b):
    check_measures(a, b)
    check_measures(a, b, ngram=2, weighted_ngram=2)


def test_compare__empty_texts_are_similar_to_nothing():
    for a, b in (("", ""), ("?", "?"), ("", OLD), (OLD, "!")):
        result = neardup.compare(a, b)
        for measured in result.measures:
            if measured.elements != "characters":
                assert measured.exact == 0
        assert result.passages == ()
        assert (result.differences.share_a, result.differences.share_b) == (0, 0)
        empty = [places for text, places in zip((a, b), ("a", "b"), strict=True) if text != OLD]
        assert all(getattr(result.differences, side) == () for side in empty)
        assert result["edit-distance"].exact == (max(len(a), len(b)) if a != b else 0)
    assert neardup.compare("", OLD).differences.b == ((0, len(OLD)),)
    assert neardup.compare("?", "?")["edit-similarity"].exact == 1
    assert neardup.compare("", "")["edit-similarity"].exact == 0


def test_compare__edit_limit():
    a, b = "x" * 30, "y" * 20
    assert neardup.compare(a, b, edit_limit=25)["edit-distance"].exact == 30
    assert neardup.compare(a, b, edit_limit=24)["edit-distance"].exact is None
    result = neardup.compare(a, b, edit_limit=0)
    assert result["edit-distance"].exact is result["edit-similarity"].exact is None
    assert "too long" in result.to_text(full=True)
    assert neardup.compare(a, a, edit_limit=0)["edit-distance"].exact == 0
    assert neardup.compare("", b, edit_limit=0)["edit-distance"].exact == 20
