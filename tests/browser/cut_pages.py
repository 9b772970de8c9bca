"""Pages of cuts, made of texts that are given, of which halves went for each other."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

import neardup
from neardup.outputs.output_tables import TableRows
from neardup.reports.cut_page import CutTable, cut_report


def cut_page(texts: list[str], names: list[str], similarities: list[float]) -> str:
    """Make a page in which the beginning of each text but the first goes for that of the first."""
    n = len(texts) - 1
    stops = [len(text) // 2 for text in texts[1:]]
    rows = pa.table(
        {
            "id": names[1:],
            "start": [0] * n,
            "end": stops,
            "kept_id": pa.array(names[:1] * n, pa.string()),
            "kept_start": [0] * n,
            "kept_end": [len(texts[0]) // 2] * n,
            "similarity": similarities,
            "file": [f"{name}.jsonl" for name in names[1:]],
            "row": range(2, n + 2),
            "kept_in": ["input"] * n,
        }
    )
    summary = {
        "documents_in": n + 1,
        "documents_cut": n,
        "spans": n,
        "characters_removed": sum(stops),
        "unit": "passages",
        "threshold": 0.5,
        "keep": names[0],
    }
    known = {("input", name): text for name, text in zip(names, texts, strict=True)}
    table = CutTable.read(TableRows.of_table(rows), summary)
    return cut_report(table, known, "Name the inputs.").html


def cut_cases(
    texts: dict[str, tuple[str, str]], hostile: str, long: str
) -> dict[str, Callable[[], str]]:
    """Return pages by name."""
    all_texts = [text for pair in texts.values() for text in pair if text]
    names = [hostile, long, "", *(f"d{k}" for k in range(len(all_texts) - 3))]
    return {
        "cut": lambda: cut_page(all_texts, names, [0.9] * (len(all_texts) - 1)),
        "cut nothing": lambda: neardup.cut(["text"]).report().html,
    }
