"""Section ``join_growth``: how the time of exact joins grows with the number of records."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.joins.shapes import (
    ALL_TITLES,
    EDIT_JOIN,
    SENTENCES,
    SET_JOIN,
    prepare_sets,
    source_of,
)
from benchmarks.measuring.figures import exponent
from benchmarks.measuring.jobs import Settings, own_report
from benchmarks.measuring.markdown import table

SHARES = (8, 4, 2, 1)  # of the records, the eighth first
THRESHOLD, DISTANCE = "0.8", "2"
PASSES = 3


def run(settings: Settings) -> dict[str, Any]:
    """Join larger and larger parts of the records on all cores."""
    how = ("--workers", str(settings.cores), "--passes", str(settings.repeats(PASSES)))
    cases = []
    for shape in (ALL_TITLES, SENTENCES):
        sets, records = prepare_sets(settings, shape)
        parts = [
            own_report(settings, SET_JOIN, str(sets), THRESHOLD, "--records", str(part), *how)
            for part in (records // share for share in SHARES)
        ]
        label = f"{shape.corpus}, {shape.elements}, Jaccard similarity {THRESHOLD}"
        cases.append({"case": label, "parts": parts})
    source = source_of(settings, "authors")
    whole = own_report(settings, EDIT_JOIN, str(source), DISTANCE, *how)
    parts = [
        own_report(settings, EDIT_JOIN, str(source), DISTANCE, "--records", str(part), *how)
        for part in (whole["records"] // share for share in SHARES[:-1])
    ]
    cases.append({"case": f"authors, edit distance {DISTANCE}", "parts": [*parts, whole]})
    return {"cases": cases}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out times and the exponents of their growth."""
    rows = []
    for case in figures["cases"]:
        parts = case["parts"]
        records = [part["records"] for part in parts]
        times = [statistics.median(part["seconds"]) for part in parts]
        rows.append((case["case"], records[-1], *times, exponent(records, times)))
    parts_header = [f"1/{share} of them, s" for share in SHARES[:-1]]
    return table(("join", "records", *parts_header, "all, s", "exponent"), rows)
