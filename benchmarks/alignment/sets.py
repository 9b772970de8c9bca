"""All sets of the section ``alignment``, and what each is an example of."""

from __future__ import annotations

from benchmarks.alignment.editions import bible, civil_codes, frankenstein, rfcs, shakespeare
from benchmarks.alignment.rewording import quotations, rewording, summaries

ALIGNED = {
    "frankenstein": frankenstein,
    "shakespeare": shakespeare,
    "bible": bible,
    "quotations": quotations,
    "rewording": rewording,
    "summaries": summaries,
}
GRADED = {"civil codes": civil_codes, "rfcs": rfcs}

# What is made for a set; for the others, editions.
_OTHERS = {
    "quotations": {"preset": "quotations"},
    "rewording": {"preset": "rewording"},
    "summaries": {"measure": "containment"},
}


def options_for(name: str) -> dict[str, str]:
    """Return the option that says what a set is."""
    return _OTHERS.get(name, {"preset": "editions"})
