"""Pages of passages, made of texts that are given, with passages where they are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from neardup.reports.passages.leakage import leakage_report
from neardup.reports.passages.model import About, Document, Documents, Passages, Spans, StoredSpans
from neardup.reports.passages.page import passage_report

Row = tuple[int, int, int, int, int, int]


def passages_of(
    texts: Sequence[str | None],
    rows: Sequence[Row],
    names: Sequence[str],
    *,
    is_one: bool = True,
    cited: Sequence[tuple[str, str]] = (),
) -> Passages:
    """Make passages of rows: a text by number, start and stop, and those of another one.

    ``cited`` are the places of each as people cite them, if the table has any.
    """
    columns = [np.array([row[k] for row in rows], np.int64) for k in range(6)]
    documents = [
        Document(name, f"{name}.jsonl", len(text or "") or 10_000, text, place)
        for place, (name, text) in enumerate(zip(names, texts, strict=False))
    ]
    spans = Spans(*columns, np.linspace(0.5, 1, len(rows)), np.arange(len(rows)))
    stored = StoredSpans(lambda: [spans], len(rows))
    passages = Passages(Documents.of(documents), stored, is_one)
    if not cited:
        return passages
    return replace(passages, places_of_rows=lambda rows: [cited[row] for row in rows.tolist()])


def passage_page(
    texts: Sequence[str | None],
    rows: Sequence[Row],
    names: Sequence[str],
    cited: Sequence[tuple[str, str]] = (),
) -> str:
    summary = {"threshold": 0.5, "min_tokens": 20, "predicted_recall": 0.99, "id_column": names[0]}
    about = About(summary, [len(texts)], "Name the documents.")
    return passage_report(passages_of(texts, rows, names, cited=cited), about).html


def leakage_page(texts: Sequence[str | None], rows: Sequence[Row], names: Sequence[str]) -> str:
    about = About({"threshold": 0.5, "id_column": names[0]}, (), "Name the documents.")
    return leakage_report(passages_of(texts, rows, names, is_one=False), about).html


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
    many = [plain] * 40
    between = [(i, 0, 90, i + 1, 10, 100) for i in range(39)]
    return {f"passages {name}": of_pair(pair) for name, pair in texts.items()} | {
        "passages hostile names": lambda: passage_page(
            [plain] * 3, between[:2], [hostile, long, ""]
        ),
        "passages of many texts": lambda: passage_page(many, between, [f"t{i}" for i in range(40)]),
        "passages more than are printed": lambda: passage_page(
            ["x " * 5_000] * 2,
            [(0, 4 * k, 4 * k + 4, 1, 4 * k, 4 * k + 4) for k in range(2_100)],
            ["a", "b"],
        ),
        "passages of three": lambda: passage_page(three, all_of, [hostile, long, "c", "אב"]),
        "leakage": lambda: leakage_page(three, all_of, [hostile, long, "c", "אב"]),
        "leakage without texts": lambda: leakage_page([None] * 4, all_of, ["a", "b", "c", "d"]),
        "leakage nothing found": lambda: leakage_page([], [], ["a"]),
        "passages without texts": lambda: passage_page([None] * 3, between[:2], ["a", "b", "c"]),
    }
