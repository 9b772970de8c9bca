"""All sets of the section ``alignment``, and what each is an example of."""

from __future__ import annotations

from benchmarks.alignment.editions import bible, civil_codes, frankenstein, rfcs, shakespeare
from benchmarks.alignment.rewording import quotations, rewording

ALIGNED = {
    "frankenstein": frankenstein,
    "shakespeare": shakespeare,
    "bible": bible,
    "quotations": quotations,
    "rewording": rewording,
}
GRADED = {"civil codes": civil_codes, "rfcs": rfcs}

# The preset that is made for a set; the others are editions.
_OTHER_PRESETS = {"quotations": "quotations", "rewording": "rewording"}


def preset_of(name: str) -> str:
    """Return the preset for a set."""
    return _OTHER_PRESETS.get(name, "editions")
