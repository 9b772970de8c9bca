"""A table of pairs as its page looks at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.ids import as_text
from neardup.reports.charts import Chart, histogram, threshold_mark
from neardup.reports.page import shortened
from neardup.tables import Floats, Int64s

_IDS = (("id_a", "id_b"), ("query_id", "doc_id"))
_SCORES = ("overlap", "distance")


@dataclass(frozen=True)
class PairsTable:
    """Pairs of documents with their similarities, and what is known of how they were found.

    Rows whose similarity is not known are left out; there were ``n_unknown``. ``ids_a`` and
    ``ids_b`` are large strings; ``a`` and ``b`` number them, which with ``two_sided`` are those of
    two collections, numbered apart. ``shown`` has the columns of both documents, by name.
    ``summary`` is what the job says of itself, and may say nothing.
    """

    ids_a: pa.Array
    ids_b: pa.Array
    similarities: Floats
    scores: Int64s | None
    score_name: str | None
    intervals: tuple[Floats, Floats] | None
    names: tuple[str, str]
    two_sided: bool
    shown: Mapping[str, tuple[pa.ChunkedArray, pa.ChunkedArray]]
    n_unknown: int
    summary: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids_a)

    @property
    def by_distance(self) -> bool:
        """Whether pairs were limited by a distance, and so are ranked by it."""
        return self.score_name == "distance" and self.summary.get("max_distance") is not None

    @property
    def values(self) -> Floats:
        """What pairs are ranked by, the best highest."""
        if self.by_distance and self.scores is not None:
            return -self.scores.astype(np.float64)
        return self.similarities

    @property
    def is_count(self) -> bool:
        """Whether what stands for similarities are numbers of shingles."""
        return bool(
            self.summary.get("measure") == "overlap" or self.similarities.max(initial=0) > 1
        )

    @cached_property
    def numbered(self) -> tuple[Int64s, Int64s]:
        """Numbers of the documents a and b of each pair; the same id is the same number."""
        if self.two_sided:
            return number_ids(self.ids_a), number_ids(self.ids_b)
        both = number_ids(pa.concat_arrays([self.ids_a, self.ids_b]))
        return both[: len(self)], both[len(self) :]


def pairs_table(
    table: pa.Table, summary: Mapping[str, Any] | None, *, two_sided: bool | None = None
) -> PairsTable:
    """Take a table of pairs, estimates or matches apart.

    ``two_sided`` says whether its documents are of two collections; None where the summary, or
    what the table is, has to say so. An id on both sides of a pair says it, too.
    """
    summary = dict(summary or {})
    name_a, name_b = next(names for names in _IDS if set(names) <= set(table.column_names))
    is_known = pc.invert(pc.is_null(table["similarity"].cast(pa.float64()), nan_is_null=True))
    n_unknown = len(table) - int(pc.sum(is_known).as_py() or 0)
    table = table.filter(is_known) if n_unknown else table
    ids_a, ids_b = (as_text(table[name]).combine_chunks() for name in (name_a, name_b))
    if two_sided is None:
        two_sided = name_a == "query_id" or len(summary.get("documents", ())) == 2
    two_sided = two_sided or bool(pc.any(pc.equal(ids_a, ids_b)).as_py())
    score_name = next((name for name in _SCORES if name in table.column_names), None)
    intervals = None
    # Of sketches of edit distances the bounds are those of the distance.
    if {"low", "high"} <= set(table.column_names) and score_name is None:
        intervals = (_floats(table["low"]), _floats(table["high"]))
    own = {name_a, name_b, "similarity", *_SCORES}
    stems = [name.removesuffix("_a") for name in table.column_names if name not in own]
    shown = {
        stem: (table[f"{stem}_a"], table[f"{stem}_b"])
        for stem in stems
        if {f"{stem}_a", f"{stem}_b"} <= set(table.column_names) and intervals is None
    }
    return PairsTable(
        ids_a,
        ids_b,
        _floats(table["similarity"]),
        None if score_name is None else _wholes(table[score_name]),
        score_name,
        intervals,
        (name_a, name_b),
        two_sided,
        shown,
        n_unknown,
        summary,
    )


def number_ids(ids: pa.Array) -> Int64s:
    """Return a number for each id, the same for the same."""
    numbers: Int64s = ids.dictionary_encode().indices.to_numpy().astype(np.int64)
    return numbers


def _floats(column: pa.ChunkedArray) -> Floats:
    values: Floats = column.cast(pa.float64()).to_numpy()
    return values


def _wholes(column: pa.ChunkedArray) -> Int64s:
    values: Int64s = pc.fill_null(column.cast(pa.int64()), 0).to_numpy()
    return values


# How similar the pairs are.

# Bars of a histogram at most, and widths of them that are easily read.
_MOST_BARS = 40
_WIDTHS = (0.005, 0.01, 0.02, 0.05)


def similarity_chart(pairs: PairsTable) -> Chart:
    """Draw how many pairs are how similar; of pairs limited by a distance, how many how far."""
    values = pairs.similarities
    if pairs.by_distance and pairs.scores is not None:
        most = int(max(pairs.scores.max(initial=0), pairs.summary.get("max_distance") or 0))
        what = "edits" if pairs.summary.get("measure") != "hamming" else "shingles that one lacks"
        said = f"{len(pairs):,} pairs; the median distance is {np.median(pairs.scores):g}."
        return _whole_numbers("Pairs by distance", said, pairs.scores, (0, most), what)
    if pairs.is_count:
        said = f"{len(values):,} pairs; the median has {np.median(values):g} shingles in common."
        ends = int(values.min()), int(values.max())
        title = "Pairs by common shingles"
        return _whole_numbers(title, said, values, ends, "shingles in common")
    threshold = pairs.summary.get("threshold")
    least = float(values.min()) if threshold is None else min(float(values.min()), threshold)
    # Round edges up to 1, from the least similarity on or a little below.
    width = next((w for w in _WIDTHS if (1 - least) / w <= _MOST_BARS), _WIDTHS[-1])
    first = floor(round(least / width, 9)) * width
    n_bars = max(1, round((1 - first) / width))
    edges: Floats = np.round(1 - width * np.arange(n_bars, -1, -1), 6)
    counts, _ = np.histogram(values, edges)
    n_equal = int((values == 1).sum())
    kind = "estimated similarity" if pairs.intervals is not None else "similarity"
    description = f"{len(values):,} pairs; their median is {np.median(values):.3f}"
    description += f", and {n_equal:,} are at 1 exactly." if n_equal else "."
    return histogram(
        "similarities",
        "Pairs by similarity",
        description,
        edges.tolist(),
        counts.tolist(),
        x_title=kind,
        y_title="pairs",
        marked=threshold_mark(threshold),
    )


def _whole_numbers(
    title: str, said: str, values: Floats | Int64s, ends: tuple[int, int], what: str
) -> Chart:
    """Draw how many pairs have which whole number, with labels where each has a bar of its own."""
    least, most = ends
    width = max(1, ceil((most - least + 1) / _MOST_BARS))
    starts = np.arange(least, most + 1, width)
    edges: Floats = np.append(starts, starts[-1] + width).astype(np.float64)
    counts, _ = np.histogram(values, edges)
    return histogram(
        "similarities",
        title,
        said,
        edges.tolist(),
        counts.tolist(),
        x_title=what,
        y_title="pairs",
        labels=list(map(str, starts.tolist())) if width == 1 else None,
    )


# In how many pairs each document is.

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
        (shortened(ids[int(first_of[d])].as_py()), int(counts[d])) for d in order if counts[d] > 1
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
        range(len(labels) + 1),
        heights.tolist(),
        x_title="partners",
        y_title="documents",
        labels=labels,
        is_log=int(heights.max()) >= _FROM_LOG,
    )
