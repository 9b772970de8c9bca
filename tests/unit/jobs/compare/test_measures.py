"""Values of measures against their definitions."""

from __future__ import annotations

import neardup
from neardup.jobs import compare
from tests.unit.jobs.compare.two_texts import OLD


def test_compare__empty_texts_are_similar_to_nothing():
    for a, b in (("", ""), ("?", "?"), ("", OLD), (OLD, "!")):
        result = neardup.compare(a, b)
        assert not any(v for name, v in result.measures.items() if not name.startswith("edit-"))
        assert result.passages == ()
        assert (result.differences.share_a, result.differences.share_b) == (0, 0)
        empty = [places for text, places in zip((a, b), ("a", "b"), strict=True) if text != OLD]
        assert all(getattr(result.differences, side) == () for side in empty)
        assert result["edit-distance"] == (max(len(a), len(b)) if a != b else 0)
    assert neardup.compare("", OLD).differences.b == ((0, len(OLD)),)
    assert neardup.compare("?", "?")["edit-similarity"] == 1
    assert neardup.compare("", "")["edit-similarity"] == 0


def test_compare__too_long_for_edits(monkeypatch):
    a, b = "x" * 30, "y" * 20
    monkeypatch.setattr(compare, "_MOST_EDITED", 25)
    assert neardup.compare(a, b)["edit-distance"] == 30
    monkeypatch.setattr(compare, "_MOST_EDITED", 24)
    result = neardup.compare(a, b)
    assert result["edit-distance"] is result["edit-similarity"] is None
    assert "too long" in result.report().html
    assert neardup.compare(a, a)["edit-distance"] == 0
    assert neardup.compare("", b)["edit-distance"] == 20
