"""What an alignment is for, and the options that suit it where they are not given.

Chosen on one half of the texts in docs/alignment.md, which has the figures of the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neardup.options.choices import PresetName


@dataclass(frozen=True)
class Preset:
    """Options of an alignment; ``scheme`` are those that decide an index."""

    threshold: str = "0.5"
    min_tokens: int = 50
    gap: int | None = None
    scheme: Mapping[str, Any] = field(default_factory=dict)


NO_PRESET = Preset()
PRESETS: dict[PresetName | None, Preset] = {
    None: NO_PRESET,
    # Long texts in few pieces; what is shorter is mostly phrases that recur.
    "editions": Preset(min_tokens=75),
    # A line or two, each by itself, hardly changed; shorter or less similar ones are chance.
    "quotations": Preset(threshold="0.6", min_tokens=15, gap=15),
    # Whole sentences in other words; rare words weigh more, because everybody has the others.
    "rewording": Preset(threshold="0.4", scheme={"idf": "smooth"}),
}
