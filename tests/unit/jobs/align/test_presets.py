"""Presets: what they choose, what is given instead, and what an index decides."""

from __future__ import annotations

import pytest

import neardup
from neardup.options.presets import PRESETS, passages_for
from tests.calls import grouped
from tests.each import each_of

TEXTS = [
    "it was the best of times it was the worst of times it was the age of wisdom " * 6,
    "it was the best of days it was the worst of days it was the age of fools " * 6,
    "nothing of the kind " * 12,
]


NAMES = [name for name, preset in PRESETS.items() if preset.passages]


@pytest.mark.slow
@each_of("name", [None, *NAMES])
def test_align__takes_what_a_preset_says(name):
    preset = passages_for(name)
    explicit = {
        "threshold": preset.threshold,
        "recall": preset.recall,
        "min_tokens": preset.min_tokens,
        **preset.scheme,
    }
    of_preset, given = (
        neardup.align(TEXTS, TEXTS, **grouped(**options))
        for options in ({"preset": name}, explicit)
    )
    if preset.gap is None:
        assert of_preset.passages.equals(given.passages)
    for key in ("threshold", "min_tokens", "windows", "hits", "certain_tokens"):
        assert of_preset.summary[key] == given.summary[key], key
    assert of_preset.summary["threshold"] == float(preset.threshold)
    assert of_preset.summary["gap"] == preset.gap


@pytest.mark.slow
def test_align__what_is_given_stands():
    options = {"threshold": "0.8", "min_tokens": 9}
    summary = neardup.align(TEXTS, TEXTS, **grouped(preset="quotations", **options)).summary
    assert [summary[name] for name in options] == [0.8, 9]
    # With unary weights as without the preset: a weight that is given stands, too.
    unary = neardup.align(
        TEXTS, TEXTS, preset="rewording", min_tokens=9, text=neardup.TextOptions(idf="unary")
    )
    plain = neardup.align(TEXTS, TEXTS, threshold="0.4", recall="0.99", min_tokens=9)
    assert unary.passages.equals(plain.passages)
    smooth = neardup.align(TEXTS, TEXTS, preset="rewording", min_tokens=9)
    given = neardup.align(
        TEXTS,
        TEXTS,
        threshold="0.4",
        recall="0.99",
        min_tokens=9,
        text=neardup.TextOptions(idf="smooth"),
    )
    assert smooth.passages.equals(given.passages)
    assert not smooth.passages.equals(plain.passages)
