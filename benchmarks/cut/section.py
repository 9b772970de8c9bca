"""Section ``repeats``: runs of equal tokens found in one thread, beside a suffix array."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.measuring.jobs import Settings, own_report, report_of_script
from benchmarks.measuring.markdown import table
from benchmarks.scale.collections import Made

MIN_TOKENS, PASSES = 50, 3
# Made-up text in which copies of documents are; bytes of the file.
KIND, BYTES, QUICK_BYTES = "ordinary", (100_000_000, 1_000_000_000), (5_000_000,)
# Millions of bytes a second that finding is to reach, and memory besides tokens, of the text.
SPEED, MEMORY = 250.0, 0.3


def run(settings: Settings) -> dict[str, Any]:
    """Find repeats in made-up text of several sizes."""
    cases = []
    for n_bytes in QUICK_BYTES if settings.quick else BYTES:
        with Made(KIND, bytes=n_bytes).file() as path:
            passes = str(settings.repeats(PASSES))
            arguments = (str(path), "--min-tokens", str(MIN_TOKENS), "--passes", passes)
            cases.append(
                {
                    "neardup": own_report(settings, "cut/find.py", *arguments),
                    "suffix_array": report_of_script(
                        settings.peers, "cut/suffix_array.py", str(path)
                    ),
                }
            )
    return {"min_tokens": MIN_TOKENS, "cases": cases}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out seconds, speeds and memory, and the suffix array's beside them."""
    header = ("MB of text", "tokens", "removed", "hashing, s", "finding, s", "MB/s", "at least")
    header += ("reached", "memory, of the text", "suffix array, s", "memory", "times as long")
    return table(header, map(_row, figures["cases"]))


def _row(case: dict[str, Any]) -> tuple[object, ...]:
    own, other = case["neardup"], case["suffix_array"]
    seconds = statistics.median(own["seconds"])
    speed = own["bytes"] / seconds / 1e6
    return (
        round(own["bytes"] / 1e6),
        own["tokens"],
        own["removed"] / own["tokens"],
        own["hashing"],
        seconds,
        speed,
        SPEED,
        speed >= SPEED and own["added"] <= MEMORY * own["bytes"],
        own["added"] / own["bytes"],
        other["seconds"],
        other["added"] / other["bytes"],
        other["seconds"] / (own["hashing"] + seconds),
    )
