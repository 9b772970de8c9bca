"""In how many pairs each document is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.reports.charts.chart import Chart, shortened
from neardup.reports.charts.histogram import histogram
from neardup.reports.page import MOST_OF_NAME
from neardup.reports.pairs.table import PairsTable
from neardup.tables import Int64s

MOST_LISTED = 10

# Numbers of partners that are counted together: 1, 2, 3, 4, then up to twice as many each time.
_SINGLE = 4

# Documents in one bar from which on heights are logarithms, so that few can be seen beside many.
_FROM_LOG = 50


@dataclass(frozen=True)
class Partners:
    """Partners of the documents of one side: all that are in a pair.

    ``side`` is a or b, empty for documents of one collection. ``most`` has those with the most
    partners: id and number.
    """

    side: str
    n_documents: int
    n_in_all: int | None
    n_single: int
    greatest: int
    most: Sequence[tuple[str, int]]
    chart: Chart


def partners_of(pairs: PairsTable) -> list[Partners]:
    """Count the partners of each document: of two collections those of either side."""
    a, b = pairs.numbered
    documents = list(pairs.summary.get("documents", ()))
    if pairs.two_sided:
        sizes = documents if len(documents) == 2 else [None, None]
        return [
            _partners("a", pairs.ids_a, a, b, sizes[0]),
            _partners("b", pairs.ids_b, b, a, sizes[1]),
        ]
    ids = pa.concat_arrays([pairs.ids_a, pairs.ids_b])
    both, others = np.concatenate([a, b]), np.concatenate([b, a])
    return [_partners("", ids, both, others, documents[0] if len(documents) == 1 else None)]


def _partners(
    side: str, ids: pa.Array, documents: Int64s, others: Int64s, n_in_all: int | None
) -> Partners:
    # A pair may come in both directions.
    n = int(others.max(initial=0)) + 1
    different, firsts = np.unique(documents * n + others, return_index=True)
    owners = different // n
    counts: Int64s = np.bincount(owners, minlength=int(documents.max(initial=-1)) + 1)
    first_of: Int64s = np.zeros(len(counts), np.int64)
    first_of[owners[::-1]] = firsts[::-1]
    order = np.argsort(-counts, kind="stable")[:MOST_LISTED]
    listed = [
        (shortened(ids[int(first_of[d])].as_py(), MOST_OF_NAME), int(counts[d]))
        for d in order
        if counts[d] > 1
    ]
    present = counts[counts > 0]
    chart = _chart(side, present)
    greatest, n_single = int(present.max(initial=0)), int((present == 1).sum())
    return Partners(side, len(present), n_in_all, n_single, greatest, listed, chart)


def _chart(side: str, counts: Int64s) -> Chart:
    bounds, labels = [], []
    start = 1
    while start <= max(1, int(counts.max(initial=1))):
        stop = start + 1 if start <= _SINGLE else 2 * start - 1
        bounds.append(start)
        labels.append(f"{start}" if stop == start + 1 else f"{start} to {stop - 1}")
        start = stop
    heights, _ = np.histogram(counts, [*bounds, start])
    of = f" of side {side}" if side else ""
    n_single = int((counts == 1).sum())
    return histogram(
        f"partners{'-' if side else ''}{side}",
        f"Documents{of} by their partners",
        f"{len(counts):,} documents{of} are in a pair, {n_single:,} of them in one only.",
        list(range(len(labels) + 1)),
        heights.tolist(),
        x_title="partners",
        y_title="documents",
        labels=labels,
        is_log=int(heights.max()) >= _FROM_LOG,
    )
