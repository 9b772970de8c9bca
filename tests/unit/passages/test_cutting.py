"""Near cuts: copies, joints, repeats of one text, and passages that many texts have."""

from __future__ import annotations

import random

import pytest

from neardup.passages import cutting
from tests.cutting import cut_similar


def words(rng, n):
    return [rng.randrange(10**9) for _ in range(n)]


def test_cutter__within_a_text():
    rng = random.Random(2)
    passage = words(rng, 30)
    text = [*passage, *words(rng, 9), *passage, *words(rng, 9), *passage]
    rows = cut_similar([text, passage], 20, "0.8")
    assert rows == [
        (0, 39, 69, 0, 0, 30, 1.0),
        (0, 78, 108, 0, 0, 30, 1.0),
        (1, 0, 30, 0, 0, 30, 1.0),
    ]
    assert cut_similar([text, passage], 20, "0.8", min_documents=2) == rows
    assert cut_similar([text], 20, "0.8", min_documents=2) == []


@pytest.mark.slow
@pytest.mark.parametrize("most_back", [1, 3, 20])
@pytest.mark.parametrize("period", [1, 3, 8])
def test_cutter__periodic_text(monkeypatch, most_back, period):
    """A passage that stays for one that went is not taken itself."""
    monkeypatch.setattr(cutting, "_MOST_PUT_BACK", most_back)
    for _, start, stop, _, kept_start, kept_stop, similarity in (
        rows := cut_similar([list(range(period)) * (48 // period)], 4, "0.5")
    ):
        assert kept_stop <= start < stop
        assert similarity >= 0.5
        for other in rows:
            assert other[2] <= kept_start or kept_stop <= other[1]
