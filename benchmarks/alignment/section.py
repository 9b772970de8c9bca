"""Section ``alignment``: quality of shared passages in texts with known alignments.

Its tables are in docs/editions.md.
"""

from __future__ import annotations

import textwrap
from functools import partial
from typing import Any

from benchmarks.alignment.editions import FOLDER_VARIABLE, HALVES, folder
from benchmarks.alignment.rewording import ALIGNED, GRADED, options_for
from benchmarks.measuring.jobs import Settings, own_report
from benchmarks.measuring.markdown import decimals, table

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
    aligned = figures["aligned"]
    # The half that options were chosen on is measured, but is no evidence for other texts.
    reported = HALVES[1]
    parts["Passages"] = _passages(aligned, reported, "preset")
    parts["Passages with default options"] = _passages(aligned, reported, "default")
    parts["Parts in their places"] = _places(aligned, reported)
    if figures["graded"]:
        parts["Shared text of whole documents"] = _graded(figures["graded"])
    return "\n\n".join(f"### {heading}\n\n{part}" for heading, part in parts.items())


def _sets(aligned: Figures, half: str, options: str) -> list[tuple[str, str, Figures]]:
    """List the sets, with what is made for them, and their figures with some options."""
    return [
        (*options_for(name).values(), part, found)
        for name, halves in aligned.items()
        for part, found in halves[half][options].items()
    ]


def _passages(aligned: Figures, half: str, options: str) -> str:
    rows = []
    for preset, name, found in _sets(aligned, half, options):
        macro, micro = found["macro"], found["micro"]
        quality = [macro["precision"], macro["recall"], macro["granularity"], macro["plagdet"]]
        both = [*quality, micro["precision"], micro["recall"], micro["plagdet"]]
        row = (name, found["cases"], found["passages"], *map(_decimals, both))
        rows.append((row[0], preset, *row[1:]) if options == "preset" else row)
    header = ("cases", "reported", "precision", "recall", "granularity", "plagdet")
    micro_header = ("micro precision", "micro recall", "micro plagdet")
    first = ("set", "for") if options == "preset" else ("set",)
    return table((*first, *header, *micro_header), rows)


def _places(aligned: Figures, half: str) -> str:
    rows = [
        (name, _decimals(found["placed"]), _decimals(found["found"]))
        for _, name, found in _sets(aligned, half, "preset")
        if found["found"] is not None
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
