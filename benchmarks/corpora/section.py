"""Facts about the documents that are read."""

from __future__ import annotations

from typing import Any

from benchmarks.corpora.files import SMALL_MB, copies_facts, corpus_facts
from benchmarks.corpora.records import given_files
from benchmarks.measuring.jobs import Settings
from benchmarks.measuring.markdown import MB, table

RECORDS = ("titles", "authors")
NAMES = ("mixed", "reviews", "instructions", "wikipedia", "licences", "prose")


def run(settings: Settings) -> dict[str, Any]:
    """Build the corpora that are missing and read their facts."""
    facts = {} if settings.quick else {name: corpus_facts(name) for name in NAMES}
    if not settings.quick:
        given = tuple(given_files())
        facts |= {name: corpus_facts(name) for name in RECORDS + given}
    small = corpus_facts("mixed", "--first", str(SMALL_MB))
    facts[f"mixed, first {SMALL_MB} MB"] = small
    for count in (10_000,) if settings.quick else (10_000, 50_000):
        facts[f"{count:,} near-copies"] = copies_facts(count)
    return facts


def format_table(figures: dict[str, Any]) -> str:
    """Lay out the facts."""
    rows = [
        (
            name,
            facts["documents"],
            facts["bytes"] / MB,
            facts["text_bytes"] / MB,
            round(facts["mean_characters"]),
            facts["repeats"],
            facts["sha256"][:12],
        )
        for name, facts in figures.items()
    ]
    header = ("corpus", "documents", "MB", "MB of text", "mean characters", "exact repeats")
    return table((*header, "SHA-256"), rows)
