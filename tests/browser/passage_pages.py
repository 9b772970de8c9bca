"""Pages of passages, made of texts that are given, with passages where they are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from neardup.outputs.output_tables import TableRows
from neardup.reading.texts import FoundText
from neardup.reports.passages_page import passage_report, read_passages

Row = tuple[int, int, int, int, int, int]


def passage_page(
    texts: Sequence[str | None],
    rows: Sequence[Row],
    names: Sequence[str],
    cited: Sequence[tuple[str, str]] = (),
    *,
    is_search: bool = False,
) -> str:
    """Make the page of rows: a text by number, start and stop, and those of another one.

    ``cited`` are the places of each as people cite them, if the table has any.
    """
    table = pa.table(
        {
            "query_id": pa.array([names[row[0]] for row in rows], pa.string()),
            "query_start": pa.array([row[1] for row in rows], pa.int64()),
            "query_end": pa.array([row[2] for row in rows], pa.int64()),
            "doc_id": pa.array([names[row[3]] for row in rows], pa.string()),
            "doc_start": pa.array([row[4] for row in rows], pa.int64()),
            "doc_end": pa.array([row[5] for row in rows], pa.int64()),
            "similarity": np.linspace(0.5, 1, len(rows)),
        }
    )
    if cited:
        for k, side in enumerate(("query", "doc")):
            table = table.append_column(f"{side}_place", pa.array([each[k] for each in cited]))
    summary = {"threshold": 0.5, "min_tokens": 20, "predicted_recall": 0.99}
    if is_search:
        summary["queries"] = 5
    passages = read_passages(TableRows.of_table(table), summary, has_other=False)
    known = dict(zip(names, texts, strict=False))
    own = [known[name] for name in passages.ids.to_pylist()]
    found = {
        k: FoundText(text, f"{name}.jsonl", 1)
        for k, (name, text) in enumerate(zip(passages.ids.to_pylist(), own, strict=True))
        if text is not None
    }
    return passage_report(passages, found, "Name the documents.").html


def halves(texts: tuple[str, str]) -> list[Row]:
    """Say of two texts that they share both halves, in another order."""
    n, m = (len(text) // 2 for text in texts)
    return [(0, 0, n, 1, m, 2 * m), (0, n, 2 * n, 1, 0, m)] if n and m else []


def passage_cases(
    texts: dict[str, tuple[str, str]], hostile: str, long: str
) -> dict[str, Callable[[], str]]:
    """Return pages of pairs of texts, by name, and of odd numbers of texts and odd names."""

    def of_pair(pair: tuple[str, str]) -> Callable[[], str]:
        return lambda: passage_page(pair, halves(pair), ["one", "other"])

    plain = texts["plain"][0]
    three = [f"{side}\n{text}" for text in texts["plain"] for side in (hostile, long)]
    all_of = [(i, 0, len(three[i]), j, 0, len(three[j])) for i in range(3) for j in range(i + 1, 4)]
    many = [plain] * 60
    between = [(i, 0, 90, i + 1, 10, 100) for i in range(59)]
    names = [hostile, long, "c", "אב"]
    return {f"passages {name}": of_pair(pair) for name, pair in texts.items()} | {
        "passages hostile names": lambda: passage_page(
            [plain] * 3, between[:2], [hostile, long, ""]
        ),
        "passages of many texts": lambda: passage_page(many, between, [f"t{i}" for i in range(60)]),
        "passages more than are printed": lambda: passage_page(
            ["x " * 5_000] * 2,
            [(0, 4 * k, 4 * k + 4, 1, 4 * k, 4 * k + 4) for k in range(2_100)],
            ["a", "b"],
        ),
        "search": lambda: passage_page(three, all_of, names, is_search=True),
        "search without texts": lambda: passage_page([None] * 4, all_of, names, is_search=True),
        "search nothing found": lambda: passage_page([], [], ["a"], is_search=True),
        "passages without texts": lambda: passage_page([None] * 3, between[:2], ["a", "b", "c"]),
    }
