"""Section ``linkage``: precision and recall of thresholds on labelled records.

Its tables are in docs/records.md.
"""

from __future__ import annotations

import textwrap
from functools import partial
from typing import Any

from benchmarks.linkage.labelled import FOLDER_VARIABLE, KINDS, available
from benchmarks.measuring.jobs import Settings, own_report
from benchmarks.measuring.markdown import decimals, table

Set = dict[str, Any]
Case = dict[str, Any]
Outcome = dict[str, Any]

QUALITY = ("threshold", "precision", "recall", "F1")

_decimals = partial(decimals, places=2)


def run(settings: Settings) -> dict[str, Any]:
    """Join each set in a process of its own."""
    names = available(quick=settings.quick)
    sets = {name: own_report(settings, "linkage/thresholds.py", name) for name in names}
    return {"sets": sets, "skipped": [name for name in KINDS if name not in names]}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out all tables, each under its heading."""
    sets = figures["sets"]
    parts = {
        "The records": _records(sets),
        "The best threshold": _best(sets, "best"),
        "The best threshold, one to one": _best(sets, "one_to_one"),
        "Every threshold": _curves(sets),
        "Candidates for a second step": _candidates(sets),
        "With the defaults": _defaults(sets),
    }
    text = "\n\n".join(f"### {heading}\n\n{part}" for heading, part in parts.items())
    if figures["skipped"]:
        left_out = ", ".join(figures["skipped"])
        note = f"Left out: {left_out}. They are read from the folder that {FOLDER_VARIABLE} names."
        text += "\n\n" + textwrap.fill(note, 100)
    return text


def _quality(outcome: Outcome, matches: int) -> tuple[float, float | None, float, float]:
    """Return threshold, precision, recall and F1."""
    pairs, correct = outcome["pairs"], outcome["correct"]
    precision = correct / pairs if pairs else None
    return outcome["threshold"], precision, correct / matches, _f1(outcome, matches)


def _f1(outcome: Outcome, matches: int) -> float:
    """Return the harmonic mean of precision and recall."""
    return 2 * outcome["correct"] / (outcome["pairs"] + matches)


def _records(sets: dict[str, Set]) -> str:
    rows = [
        (name, facts["about"], facts["left"], facts["right"], facts["matches"])
        for name, facts in sets.items()
    ]
    return table(("set", "what", "records", "of the other side", "pairs that are the same"), rows)


def _best(sets: dict[str, Set], which: str) -> str:
    """Lay out the best tokens, measure and threshold for each text."""
    rows = []
    for name, facts in sets.items():
        matches = facts["matches"]
        for text in KINDS[name].texts:
            cases = [case for case in facts["cases"] if case["text"] == text and which in case]
            if cases:
                top = max(cases, key=lambda case: _f1(case[which], matches))
                quality = map(_decimals, _quality(top[which], matches))
                rows.append((name, text, top["tokens"], top["measure"], *quality))
    return table(("set", "text", "tokens", "measure", *QUALITY), rows)


def _curves(sets: dict[str, Set]) -> str:
    """Lay out precision and recall of jaccard over words at each tenth."""
    rows = []
    for outcomes in zip(*(facts["curve"] for facts in sets.values()), strict=True):
        cells = []
        for outcome, facts in zip(outcomes, sets.values(), strict=True):
            _, precision, recall, _ = _quality(outcome, facts["matches"])
            cells.append(f"{_decimals(precision)} / {_decimals(recall)}")
        rows.append((_decimals(outcomes[0]["threshold"]), *cells))
    return table(("threshold", *sets), rows)


def _candidates(sets: dict[str, Set]) -> str:
    """Lay out for each set the fewest pairs with nearly all matches among them."""
    rows = []
    for name, facts in sets.items():
        cases = [case for case in facts["cases"] if case["wide"] is not None]
        if not cases:
            rows.append((name, *[None] * 7))
            continue
        case = min(cases, key=lambda case: case["wide"]["pairs"])
        outcome = case["wide"]
        right = (facts["left"] - 1) / 2 if facts["right"] is None else facts["right"]
        share = outcome["pairs"] / (facts["left"] * right)
        recall = outcome["correct"] / facts["matches"]
        threshold, pairs = _decimals(outcome["threshold"]), outcome["pairs"]
        options = (case["text"], case["tokens"], case["measure"], threshold)
        rows.append((name, *options, _decimals(recall), pairs, f"{share:.2%}"))
    header = ("set", "text", "tokens", "measure", "threshold", "recall", "pairs", "of all pairs")
    return table(header, rows)


def _defaults(sets: dict[str, Set]) -> str:
    """Lay out what words, 5-grams and 0.8 give, which are meant for documents."""
    rows = []
    for name, facts in sets.items():
        _, *quality = _quality(facts["defaults"], facts["matches"])
        rows.append((name, facts["main"], *map(_decimals, quality)))
    return table(("set", "text", *QUALITY[1:]), rows)
