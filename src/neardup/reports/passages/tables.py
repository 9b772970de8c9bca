"""Who shares with whom: a matrix of texts or files, and a list of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.reports.charts.chart import Chart, Table
from neardup.reports.charts.matrix import matrix
from neardup.reports.page import percent
from neardup.reports.passages.model import Passages
from neardup.tables import Int64s

# Rows and columns of a matrix that can be read, and pairs that are listed.
_MOST_ROWS, _MOST_COLUMNS = 24, 16
MOST_LISTED = 200

_REST = "others"


def who_with_whom(passages: Passages, name: str) -> Chart | None:
    """Draw how many characters texts share; where these are many, how many files do.

    None where there is but one pair.
    """
    queries, docs, _ = passages.pair_numbers
    if len(queries) < 2:
        return None
    shared = np.maximum(*passages.shared)
    rows, columns = np.unique(queries), np.unique(docs)
    if passages.is_one:
        rows = columns = np.union1d(rows, columns)
    labels = [passages.name(each) for each in range(len(passages.documents))]
    of_rows = of_columns = np.arange(len(labels))
    kind = "text"
    files = [document.file for document in passages.documents]
    if (len(rows) > _MOST_ROWS or len(columns) > _MOST_COLUMNS) and len(set(files)) > 1:
        kind = "file"
        labels = list(dict.fromkeys(file or "" for file in files))
        numbers = {file: k for k, file in enumerate(labels)}
        of_rows = of_columns = np.array([numbers[file or ""] for file in files], np.int64)
    cells = of_rows[queries], of_columns[docs]
    if passages.is_one:
        # A pair stands on both sides of the diagonal.
        off = cells[0] != cells[1]
        cells = (
            np.concatenate([cells[0], cells[1][off]]),
            np.concatenate([cells[1], cells[0][off]]),
        )
        shared = np.concatenate([shared, shared[off]])
    most = _MOST_COLUMNS if passages.is_one else _MOST_ROWS
    row_ids, row_labels = _most(cells[0], shared, labels, most)
    column_ids, column_labels = _most(cells[1], shared, labels, _MOST_COLUMNS)
    counts = np.zeros((len(row_labels), len(column_labels)), np.int64)
    np.add.at(counts, (row_ids[cells[0]], column_ids[cells[1]]), shared)
    sides = (kind, f"other {kind}") if passages.is_one else (f"first {kind}", f"second {kind}")
    return matrix(
        name,
        f"Characters that {kind}s share",
        f"Each cell is a pair of {kind}s; the darker, the more characters are in passages of both.",
        row_labels,
        column_labels,
        counts.tolist(),
        row_title=sides[0],
        column_title=sides[1],
    )


def _most(
    numbers: Int64s, weights: Int64s, labels: Sequence[str], most: int
) -> tuple[Int64s, list[str]]:
    """Choose what is shown by its weight; returns the place of each number, and the labels.

    What is left has a place together, at the end.
    """
    totals = np.bincount(numbers, weights, len(labels))
    present = np.flatnonzero(np.bincount(numbers, minlength=len(labels)))
    chosen = present
    if len(present) > most:
        chosen = np.sort(present[np.argsort(-totals[present], kind="stable")[: most - 1]])
    places: Int64s = np.full(len(labels), len(chosen), np.int64)
    places[chosen] = np.arange(len(chosen))
    shown = [labels[each] for each in chosen.tolist()]
    return places, shown if len(present) <= most else [*shown, _REST]


def pair_rows(passages: Passages, numbers: Sequence[int]) -> Table:
    """List some pairs with what they share."""
    rows = []
    for number in numbers:
        pair = passages.pair(number)
        n_moved = int(pair.moved.sum())
        rows.append(
            (
                passages.name(pair.query),
                passages.name(pair.doc),
                f"{len(pair.rows):,}",
                f"{n_moved:,}",
                f"{max(pair.shared):,}",
                *(
                    _share(shared, passages.documents[each].length)
                    for shared, each in zip(pair.shared, (pair.query, pair.doc), strict=True)
                ),
            )
        )
    head = (
        "first text",
        "second text",
        "passages",
        "moved",
        "characters",
        "of the first",
        "of the second",
    )
    return Table(head, rows)


def _share(shared: int, length: int) -> str:
    return percent(min(shared / length, 1.0)) if length else ""
