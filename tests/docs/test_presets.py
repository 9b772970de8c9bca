"""What the guide says of presets is what they are."""

from __future__ import annotations

import re
from pathlib import Path

from neardup.options.presets import PRESETS

GUIDE = Path(__file__).parents[2] / "docs" / "presets.md"


def test_guide__has_the_options_of_passages():
    rows = re.findall(r"(?m)^\| `(\w+)` \| passages \| (.+) \|$", GUIDE.read_text("utf-8"))
    told = {
        name: (
            re.findall(r"--threshold (\S+)`", options),
            re.findall(r"--min-tokens (\S+)`", options),
        )
        for name, options in rows
    }
    assert told == {
        name: ([str(preset.passages.threshold)], [str(preset.passages.min_tokens)])
        for name, preset in PRESETS.items()
        if preset.passages is not None
    }
