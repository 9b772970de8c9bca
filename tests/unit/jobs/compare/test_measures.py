"""Values of measures against their definitions."""

from __future__ import annotations

import neardup
from tests.unit.jobs.compare.two_texts import OLD


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
