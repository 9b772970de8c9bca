"""Pages of cuts, made of texts that are given, of which halves went for each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.reports.cut import CutDocument, CutTable, cut_report


def cut_page(texts: list[str], names: list[str], similarities: list[float]) -> str:
    """Make a page in which the beginning of each text but the first goes for that of the first."""
    documents = [
        CutDocument(name, f"{name}.jsonl", row, text)
        for row, (name, text) in enumerate(zip(names, texts, strict=True), 1)
    ]
    n = len(texts) - 1
    own = np.arange(1, n + 1)
    stops = np.array([len(text) // 2 for text in texts[1:]], np.int64)
    starts = np.zeros(n, np.int64)
    kept_stops = np.full(n, len(texts[0]) // 2)
    summary = {
        "documents_in": n + 1,
        "documents_cut": n,
        "spans": n,
        "characters_removed": int(stops.sum()),
        "unit": "passages",
        "threshold": 0.5,
        "keep": names[0],
    }
    table = CutTable(
        documents, own, starts, stops, starts, starts, kept_stops, np.array(similarities), summary
    )
    return cut_report(table, "Name the inputs.").html


def cut_cases(
    texts: dict[str, tuple[str, str]], hostile: str, long: str
) -> dict[str, Callable[[], str]]:
    """Return pages by name."""
    all_texts = [text for pair in texts.values() for text in pair if text]
    names = [hostile, long, "", *(f"d{k}" for k in range(len(all_texts) - 3))]
    nothing = {"documents_in": 1, "documents_cut": 0, "spans": 0, "characters_removed": 0}
    return {
        "cut": lambda: cut_page(all_texts, names, [0.9] * (len(all_texts) - 1)),
        "cut nothing": lambda: cut_report(CutTable.of_none(nothing), "").html,
    }
