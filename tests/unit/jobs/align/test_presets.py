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
