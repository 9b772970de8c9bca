"""Section ``alignment``: how well passages are found in texts of which it is known what goes with
what.

Its tables are in docs/alignment.md.
"""

from __future__ import annotations

import textwrap
from functools import partial
from typing import Any

from benchmarks.alignment.editions import ALIGNED, FOLDER_VARIABLE, GRADED, HALVES, folder
from benchmarks.measuring.figures import decimals
from benchmarks.measuring.jobs import Settings, own_report
from benchmarks.measuring.markdown import table

Figures = dict[str, Any]

QUICK = ("frankenstein",)

_decimals = partial(decimals, places=3)


def run(settings: Settings) -> Figures:
    """Measure both halves of each set in processes of their own."""
    names = [*ALIGNED, *GRADED] if folder() else []
    if settings.quick:
        names = [name for name in names if name in QUICK]
    figures: Figures = {"aligned": {}, "graded": {}}
    for name in names:
        kind = "aligned" if name in ALIGNED else "graded"
        figures[kind][name] = {
            half: own_report(settings, "alignment/quality.py", name, half) for half in HALVES
        }
    return figures


def format_table(figures: Figures) -> str:
    """Lay out all tables, each under its heading."""
    if not figures["aligned"]:
        note = f"Nothing measured: the texts are read from the folder that {FOLDER_VARIABLE} names."
        return textwrap.fill(note, 100)
    parts = {}
    for half in reversed(HALVES):
        parts[f"Passages, the half {half}"] = _passages(figures["aligned"], half)
    for half in reversed(HALVES):
        parts[f"Parts in their places, the half {half}"] = _places(figures["aligned"], half)
    if figures["graded"]:
        parts["Shared text of whole documents"] = _graded(figures["graded"])
    return "\n\n".join(f"### {heading}\n\n{part}" for heading, part in parts.items())


def _sets(aligned: Figures, half: str) -> list[tuple[str, Figures]]:
    return [
        (name, found) for halves in aligned.values() for name, found in halves.get(half, {}).items()
    ]


def _passages(aligned: Figures, half: str) -> str:
    rows = []
    for name, found in _sets(aligned, half):
        macro, micro = found["macro"], found["micro"]
        quality = [macro["precision"], macro["recall"], macro["granularity"], macro["plagdet"]]
        counts = (found["cases"], found["passages"])
        both = [*quality, micro["precision"], micro["recall"], micro["plagdet"]]
        rows.append((name, *counts, *map(_decimals, both)))
    header = ("set", "cases", "told", "precision", "recall", "granularity", "plagdet")
    return table((*header, "micro precision", "micro recall", "micro plagdet"), rows)


def _places(aligned: Figures, half: str) -> str:
    rows = [
        (name, _decimals(found["placed"]), _decimals(found["found"]))
        for name, found in _sets(aligned, half)
    ]
    return table(("set", "in the right place", "found"), rows)


def _graded(graded: Figures) -> str:
    rows = []
    for name, halves in graded.items():
        for half in reversed(HALVES):
            found = halves.get(half, {"documents": 0})
            if not found["documents"]:
                continue
            counts = (found["documents"], found["listed"], found["kept"])
            ranks = (found["rank_listed"], found["rank_smaller"], found["rank_all"])
            is_relation = found["related"] > 0
            areas = (found["auc_related"], found["auc_kept"]) if is_relation else (None, None)
            best = found["best_f1_kept"] if is_relation else (None, None)
            rows.append((name, half, *counts, *map(_decimals, (*ranks, *areas, *best))))
    header = ("set", "half", "documents", "graded pairs", "of them close")
    measures = ("rank, both texts", "rank, smaller text", "rank, all pairs")
    return table((*header, *measures, "AUC", "AUC, close", "best F1, close", "at a share of"), rows)
