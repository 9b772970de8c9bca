"""Charts of passages: how alike and how long they are, and who shares with whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from neardup.reports.charts import (
    OTHERS,
    Chart,
    Table,
    histogram,
    matrix,
    threshold_mark,
)
from neardup.reports.page import percent
from neardup.reports.passages.model import About, Pairs, Passages
from neardup.tables import Floats, Int64s

# How alike passages are, and how long.


def similarity_chart(
    similarities: Iterable[Floats], about: About, title: str, description: str, what: str
) -> Chart | None:
    """Draw how many have which similarity, given some at a time; None where fewer than two do."""
    edges = np.linspace(0, 1, 21)
    counts, n_known = np.zeros(20, np.int64), 0
    for some in similarities:
        known = some[~np.isnan(some)]
        n_known += len(known)
        counts += np.histogram(known, edges)[0]
    if n_known < 2:
        return None
    return histogram(
        "similarities",
        title,
        description,
        [round(float(edge), 2) for edge in edges],
        counts.tolist(),
        x_title="similarity",
        y_title=what,
        marked=threshold_mark(about.summary.get("threshold")),
    )


def length_chart(lengths: Iterable[Int64s]) -> Chart | None:
    """Draw how many passages have how many characters, given some at a time.

    None where there are fewer than two.
    """
    of_powers = np.zeros(64, np.int64)
    for some in lengths:
        logarithms = np.log2(np.maximum(some, 1)).astype(np.int64)
        of_powers += np.bincount(logarithms, minlength=len(of_powers))
    if of_powers.sum() < 2:
        return None
    there = np.flatnonzero(of_powers)
    powers = np.arange(there[0], there[-1] + 2)
    counts = of_powers[powers[:-1]]
    return histogram(
        "lengths",
        "Lengths of passages",
        "How many passages have so many characters in the first text; each bar goes up to twice "
        "where it begins.",
        powers.astype(float).tolist(),
        counts.tolist(),
        x_title="characters, from",
        y_title="passages",
        labels=[f"{2**k:,}" for k in powers[:-1].tolist()],
    )


# Who shares with whom: a matrix of texts or files, and a list of pairs.

# Rows and columns of a matrix that can be read, and pairs that are listed.
_MOST_ROWS = _MOST_COLUMNS = 60
MOST_LISTED = 200


def who_with_whom(passages: Passages, name: str) -> Chart | None:
    """Draw how many characters texts share; where these are many, how many files do.

    None where there is but one pair.
    """
    if passages.n_pairs < 2:
        return None
    documents, is_one = passages.documents, passages.is_one
    of_labels = np.arange(len(documents))
    n_labels, label_of = len(documents), passages.name
    kind = "text"
    rows, columns = _weights(passages, of_labels, n_labels)
    numbers, firsts, of_documents = np.unique(
        documents.files, return_index=True, return_inverse=True
    )
    is_large = len(rows[0]) > _MOST_ROWS or len(columns[0]) > _MOST_COLUMNS
    if is_large and len(numbers) > 1:
        kind = "file"
        # In the order in which documents have them.
        order = np.argsort(firsts)
        names = ["" if n < 0 else documents.file_names[n] for n in numbers[order].tolist()]
        n_labels, label_of = len(names), lambda number: names[number]
        of_labels = np.argsort(order)[of_documents.reshape(-1)]
        rows, columns = _weights(passages, of_labels, n_labels)
    most = _MOST_COLUMNS if is_one else _MOST_ROWS
    row_ids, row_labels = _most(*rows, n_labels, label_of, most)
    column_ids, column_labels = _most(*columns, n_labels, label_of, _MOST_COLUMNS)
    counts = np.zeros((len(row_labels), len(column_labels)), np.int64)
    for row_cells, column_cells, shared in _cells_of(passages, of_labels):
        np.add.at(counts, (row_ids[row_cells], column_ids[column_cells]), shared)
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


def _cells_of(passages: Passages, of_labels: Int64s) -> Iterator[tuple[Int64s, Int64s, Int64s]]:
    """Yield rows and columns that pairs are in, and what they share, some pairs at a time."""
    for pairs in passages.pairs():
        a, b, shared = of_labels[pairs.queries], of_labels[pairs.docs], pairs.shared
        if passages.is_one:
            # A pair stands on both sides of the diagonal.
            off = a != b
            a, b = np.concatenate([a, b[off]]), np.concatenate([b, a[off]])
            shared = np.concatenate([shared, shared[off]])
        yield a, b, shared


def _weights(
    passages: Passages, of_labels: Int64s, n_labels: int
) -> tuple[tuple[Int64s, Int64s], tuple[Int64s, Int64s]]:
    """Return which rows there are and how much they share, and the same of columns."""
    weights = np.zeros((2, n_labels), np.int64)
    are_there = np.zeros((2, n_labels), np.bool_)
    for *sides, shared in _cells_of(passages, of_labels):
        for k, side in enumerate(sides):
            np.add.at(weights[k], side, shared)
            are_there[k, side] = True
    rows, columns = (np.flatnonzero(each) for each in are_there)
    return (rows, weights[0, rows]), (columns, weights[1, columns])


def _most(
    present: Int64s, weights: Int64s, n_labels: int, label_of: Callable[[int], str], most: int
) -> tuple[Int64s, list[str]]:
    """Choose what is shown by its weight; returns the place of each number, and the labels.

    What is left has a place together, at the end.
    """
    chosen = present
    if len(present) > most:
        chosen = np.sort(present[np.argsort(-weights, kind="stable")[: most - 1]])
    places: Int64s = np.full(n_labels, len(chosen), np.int64)
    places[chosen] = np.arange(len(chosen))
    shown = [label_of(each) for each in chosen.tolist()]
    return places, shown if len(present) <= most else [*shown, OTHERS]


@dataclass(frozen=True)
class Looked:
    """What is listed of a pair: how many passages it has, and how many of them have moved.

    ``shared`` is for either text what ``Passages.measure`` returns.
    """

    n_passages: int
    n_moved: int
    shared: tuple[tuple[int, float | None], tuple[int, float | None]]


def pair_rows(passages: Passages, pairs: Pairs, looked_at: Sequence[Looked]) -> Table:
    """List the first of some pairs with what they share."""
    rows = []
    for query, doc, looked in zip(
        pairs.queries.tolist(), pairs.docs.tolist(), looked_at, strict=False
    ):
        shares = ["" if share is None else percent(share) for _, share in looked.shared]
        counts = looked.n_passages, looked.n_moved, max(n for n, _ in looked.shared)
        names = passages.name(query), passages.name(doc)
        rows.append((*names, *(f"{n:,}" for n in counts), *shares))
    head = "first text,second text,passages,moved,characters,of the first,of the second"
    return Table(head.split(","), rows)
