"""Section ``linkage``: precision and recall of thresholds on labelled records.

docs/records.md has the important figures.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from benchmarks.linkage.labelled import FOLDER_VARIABLE, KINDS, available
from benchmarks.measuring.jobs import Settings, own_report

if TYPE_CHECKING:
    from benchmarks.measuring.results import Row, Tables

HEADINGS = {
    "best": "The best threshold",
    "one_to_one": "The best threshold, one to one",
    "wide": "Candidates for a second step",
}


def run(settings: Settings) -> Tables:
    """Join each set in a process of its own."""
    names = available(quick=settings.quick)
    if len(names) < len(KINDS):
        sys.stderr.write(f"other sets are read from the folder that {FOLDER_VARIABLE} names\n")
    sets = {name: own_report(settings, "linkage/thresholds.py", name) for name in names}
    tables: Tables = {heading: _best(sets, which) for which, heading in HEADINGS.items()}
    tables["Jaccard over words"] = [
        {"set": name, "text": facts["main"], **_quality(outcome, facts["matches"])}
        for name, facts in sets.items()
        for outcome in facts["curve"]
    ]
    tables["With the defaults"] = [
        {"set": name, "text": facts["main"], **_quality(facts["defaults"], facts["matches"])}
        for name, facts in sets.items()
    ]
    return tables


def _quality(outcome: dict[str, Any], matches: int) -> Row:
    """Return threshold, precision, recall and F1, the harmonic mean of the last two."""
    pairs, correct = outcome["pairs"], outcome["correct"]
    quality = (correct / max(1, pairs), correct / matches, 2 * correct / (pairs + matches))
    names = zip(("precision", "recall", "F1"), quality, strict=True)
    row: Row = {"threshold": f"{outcome['threshold']:.2f}", "pairs": pairs}
    return row | {name: f"{value:.2f}" for name, value in names}


def _best(sets: dict[str, dict[str, Any]], which: str) -> list[Row]:
    """Lay out the best tokens, measure and threshold for each text."""
    rows = []
    for name, facts in sets.items():
        for text in KINDS[name].texts:
            cases = [case for case in facts["cases"] if case["text"] == text and case.get(which)]
            if cases:
                found = [({"set": name, "text": text}, case) for case in cases]
                quality = [_quality(case[which], facts["matches"]) for case in cases]
                key = (lambda q: -q["pairs"]) if which == "wide" else (lambda q: q["F1"])
                number = max(range(len(cases)), key=lambda i: key(quality[i]))
                row, case = found[number]
                row |= {"tokens": case["tokens"], "measure": case["measure"]}
                rows.append(row | quality[number])
    return rows
