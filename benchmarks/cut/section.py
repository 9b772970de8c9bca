"""Section ``repeats``: runs of equal tokens found in one thread, beside a suffix array."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.jobs import Settings, own_report, report_of_script
from benchmarks.scale.collections import Made

if TYPE_CHECKING:
    from benchmarks.measuring.results import Row, Tables

MIN_TOKENS, PASSES = 50, 3
# Made-up text in which copies of documents are; bytes of the file.
KIND, BYTES, QUICK_BYTES = "ordinary", (100_000_000, 1_000_000_000), (5_000_000,)


def run(settings: Settings) -> Tables:
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
    return {f"Runs of {MIN_TOKENS} equal tokens": [_row(**case) for case in cases]}


def _row(neardup: dict[str, Any], suffix_array: dict[str, Any]) -> Row:
    seconds = statistics.median(neardup["seconds"])
    size = neardup["bytes"]
    row: Row = {"MB of text": round(size / 1e6), "tokens": neardup["tokens"]}
    row["removed"] = neardup["removed"] / neardup["tokens"]
    row |= {"hashing, s": neardup["hashing"], "finding, s": seconds, "MB/s": size / seconds / 1e6}
    row["memory, of the text"] = neardup["added"] / size
    row |= {"suffix array, s": suffix_array["seconds"]}
    row["its memory, of the text"] = suffix_array["added"] / suffix_array["bytes"]
    row["times as long"] = suffix_array["seconds"] / (neardup["hashing"] + seconds)
    return row
