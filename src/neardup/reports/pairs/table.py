"""A table of pairs as its page looks at it: some rows at a time, whatever their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest
from math import ceil, floor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.ids import as_text, digest_ids
from neardup.outputs.ranking import Ranking
from neardup.outputs.table_rows import TableRows
from neardup.reports.charts import Chart, histogram, threshold_mark
from neardup.reports.page import shortened
from neardup.runs.totals import Totals
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.tables import Floats, Int64s

_IDS = (("id_a", "id_b"), ("query_id", "doc_id"))
_SCORES = ("overlap", "distance")


@dataclass(frozen=True)
class PairsTable:
    """Pairs of documents with their similarities, and what is known of how they were found.

    Pairs are known by the places of their rows. Rows whose similarity is not known are passed over;
    there are ``n_unknown``, and ``n_pairs`` others, with similarities from ``least`` to
    ``greatest`` and scores up to ``greatest_score``. ``names`` are the columns of the ids, which
    with ``two_sided`` are those of two collections. ``stems`` are the names of the columns of both
    documents. ``summary`` is what the job says of itself, and may say nothing. ``workspace`` is
    where partners are counted.
    """

    rows: TableRows
    names: tuple[str, str]
    two_sided: bool
    n_pairs: int
    n_unknown: int
    least: float
    greatest: float
    greatest_score: int
    summary: Mapping[str, Any] = field(default_factory=dict)
    workspace: Workspace = IN_MEMORY

    def __len__(self) -> int:
        return self.n_pairs

    @cached_property
    def score_name(self) -> str | None:
        """The column of a count of shingles or edits, if there is one."""
        return next((name for name in _SCORES if name in self.rows.schema.names), None)

    @cached_property
    def has_intervals(self) -> bool:
        """Whether similarities are estimates, with bounds ``low`` and ``high``."""
        # Of sketches of edit distances the bounds are those of the distance.
        return {"low", "high"} <= set(self.rows.schema.names) and self.score_name is None

    @cached_property
    def stems(self) -> list[str]:
        """Names of the columns that both documents of a pair have."""
        names = self.rows.schema.names
        own = {*self.names, "similarity", *_SCORES}
        stems = dict.fromkeys(name.removesuffix("_a") for name in names if name not in own)
        if self.has_intervals:
            return []
        return [stem for stem in stems if {f"{stem}_a", f"{stem}_b"} <= set(names)]

    @property
    def by_distance(self) -> bool:
        """Whether pairs were limited by a distance, and so are ranked by it."""
        return self.score_name == "distance" and self.summary.get("max_distance") is not None

    @property
    def is_count(self) -> bool:
        """Whether what stands for similarities are numbers of shingles."""
        return bool(
            self.summary.get("measure") == "overlap" or (len(self) > 0 and self.greatest > 1)
        )

    def batches(self, *names: str) -> Iterator[tuple[Int64s, pa.Table]]:
        """Yield places of pairs and some of their columns, some at a time."""
        start = 0
        for batch in self.rows.batches(*dict.fromkeys(("similarity", *names))):
            is_known = _is_known(batch)
            known: Int64s = np.flatnonzero(is_known.to_numpy(zero_copy_only=False))
            table = batch if len(known) == len(batch) else batch.filter(is_known)
            yield start + known, table
            start += len(batch)

    def similarities(self) -> Iterator[tuple[Int64s, Floats]]:
        """Yield places and similarities, some at a time."""
        for places, table in self.batches():
            yield places, as_floats(table["similarity"])

    def scores(self) -> Iterator[tuple[Int64s, Int64s]]:
        """Yield places and scores, some at a time, where the table has them."""
        assert self.score_name is not None
        for places, table in self.batches(self.score_name):
            yield places, as_wholes(table[self.score_name])

    def values(self) -> Iterator[tuple[Int64s, Floats]]:
        """Yield places, and what pairs are ranked by, the best highest; some at a time."""
        if not self.by_distance:
            yield from self.similarities()
            return
        for places, scores in self.scores():
            yield places, -scores.astype(np.float64)

    def ids(self, places: Int64s) -> tuple[pa.Array, pa.Array]:
        """Return the ids of the documents a and b of some pairs."""
        table = self.rows.take(places, *self.names)
        ids_a, ids_b = (as_text(table[name].combine_chunks()) for name in self.names)
        return ids_a, ids_b

    def look(self, places: Int64s) -> dict[int, dict[str, Any]]:
        """Return all that is known of some pairs, by their places; ids as ``a`` and ``b``."""
        places = np.unique(places)
        table = self.rows.take(places)
        names = dict(zip(self.names, "ab", strict=True))
        columns = [
            (names.get(name, name), as_text(column) if name in names else column)
            for name, column in zip(table.column_names, table.columns, strict=True)
        ]
        found: dict[int, dict[str, Any]] = {place: {} for place in places.tolist()}
        for name, column in columns:
            for row, value in zip(found.values(), column.to_pylist(), strict=True):
                row[name] = value
        return found

    def all_ids(self) -> tuple[Int64s, pa.Array, pa.Array]:
        """Return the places and ids of all pairs, which are in memory then."""
        places, ids_a, ids_b = [np.empty(0, np.int64)], [], []
        for here, table in self.batches(*self.names):
            places.append(here)
            ids_a += as_text(table[self.names[0]]).chunks
            ids_b += as_text(table[self.names[1]]).chunks
        none = pa.array([], pa.large_string())
        sides = (pa.concat_arrays([none, *parts]) for parts in (ids_a, ids_b))
        return np.concatenate(places), *sides


def pairs_table(
    rows: TableRows,
    summary: Mapping[str, Any] | None,
    workspace: Workspace,
    *,
    two_sided: bool | None = None,
) -> PairsTable:
    """Take a table of pairs, estimates or matches apart.

    ``two_sided`` says whether its documents are of two collections; None where the summary, or
    what the table is, has to say so. An id on both sides of a pair says it, too.
    """
    summary = dict(summary or {})
    names = next(names for names in _IDS if set(names) <= set(rows.schema.names))
    if two_sided is None:
        two_sided = names[0] == "query_id" or len(summary.get("documents", ())) == 2
    wanted = ["similarity", *(() if two_sided else names)]
    score_name = next((name for name in _SCORES if name in rows.schema.names), None)
    n_pairs, greatest_score = 0, 0
    least, greatest = np.inf, -np.inf
    for batch in rows.batches(*wanted, *(() if score_name is None else (score_name,))):
        known = batch.filter(_is_known(batch))
        n_pairs += len(known)
        similarities = as_floats(known["similarity"])
        least = min(least, similarities.min(initial=np.inf))
        greatest = max(greatest, similarities.max(initial=-np.inf))
        if score_name is not None:
            greatest_score = max(greatest_score, as_wholes(known[score_name]).max(initial=0))
        if not two_sided:
            two_sided = bool(pc.any(pc.equal(*(as_text(known[name]) for name in names))).as_py())
    return PairsTable(
        rows,
        names,
        two_sided,
        n_pairs,
        len(rows) - n_pairs,
        float(least),
        float(greatest),
        int(greatest_score),
        summary,
        workspace,
    )


def number_ids(ids: pa.Array) -> Int64s:
    """Return a number for each id, the same for the same."""
    numbers: Int64s = ids.dictionary_encode().indices.to_numpy().astype(np.int64)
    return numbers


def as_floats(column: pa.ChunkedArray) -> Floats:
    """Return shares as numbers, NaN where they are not known."""
    values: Floats = column.cast(pa.float64()).to_numpy()
    return values


def as_wholes(column: pa.ChunkedArray) -> Int64s:
    """Return whole numbers, 0 where they are not known."""
    values: Int64s = pc.fill_null(column.cast(pa.int64()), 0).to_numpy()
    return values


def _is_known(batch: pa.Table) -> pa.Array:
    similarities = batch["similarity"].cast(pa.float64()).combine_chunks()
    return pc.invert(pc.is_null(similarities, nan_is_null=True))


# How similar the pairs are.

# Bars of a histogram at most, and widths of them that are easily read.
_MOST_BARS = 40
_WIDTHS = (0.005, 0.01, 0.02, 0.05)


def similarity_chart(pairs: PairsTable) -> Chart:
    """Draw how many pairs are how similar; of pairs limited by a distance, how many how far."""
    if pairs.by_distance:
        most = int(max(pairs.greatest_score, pairs.summary.get("max_distance") or 0))
        what = "edits" if pairs.summary.get("measure") != "hamming" else "shingles that one lacks"
        # Ranked are distances that are turned round.
        median = -Ranking(pairs.values).median(len(pairs)) + 0.0
        said = f"{len(pairs):,} pairs; the median distance is {median:g}."
        return _whole_numbers("Pairs by distance", said, pairs.scores(), (0, most), what)
    median = Ranking(pairs.values).median(len(pairs))
    if pairs.is_count:
        said = f"{len(pairs):,} pairs; the median has {median:g} shingles in common."
        ends = int(pairs.least), int(pairs.greatest)
        title = "Pairs by common shingles"
        return _whole_numbers(title, said, pairs.similarities(), ends, "shingles in common")
    threshold = pairs.summary.get("threshold")
    least = pairs.least if threshold is None else min(pairs.least, threshold)
    # Round edges up to 1, from the least similarity on or a little below.
    width = next((w for w in _WIDTHS if (1 - least) / w <= _MOST_BARS), _WIDTHS[-1])
    first = floor(round(least / width, 9)) * width
    n_bars = max(1, round((1 - first) / width))
    edges: Floats = np.round(1 - width * np.arange(n_bars, -1, -1), 6)
    counts, n_equal = np.zeros(n_bars, np.int64), 0
    for _, values in pairs.similarities():
        counts += np.histogram(values, edges)[0]
        n_equal += int((values == 1).sum())
    kind = "estimated similarity" if pairs.has_intervals else "similarity"
    description = f"{len(pairs):,} pairs; their median is {median:.3f}"
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
    title: str,
    said: str,
    values: Iterator[tuple[Int64s, Floats]] | Iterator[tuple[Int64s, Int64s]],
    ends: tuple[int, int],
    what: str,
) -> Chart:
    """Draw how many pairs have which whole number, with labels where each has a bar of its own."""
    least, most = ends
    width = max(1, ceil((most - least + 1) / _MOST_BARS))
    starts = np.arange(least, most + 1, width)
    edges: Floats = np.append(starts, starts[-1] + width).astype(np.float64)
    counts = np.zeros(len(starts), np.int64)
    for _, some in values:
        counts += np.histogram(some, edges)[0]
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
    documents = list(pairs.summary.get("documents", ()))
    if pairs.two_sided:
        sizes = documents if len(documents) == 2 else [None, None]
        return [
            _partners(pairs, side, [ways], size)
            for side, ways, size in zip("ab", ((0, 1), (1, 0)), sizes, strict=True)
        ]
    n_in_all = documents[0] if len(documents) == 1 else None
    return [_partners(pairs, "", [(0, 1), (1, 0)], n_in_all)]


def _partners(
    pairs: PairsTable, side: str, ways: Sequence[tuple[int, int]], n_in_all: int | None
) -> Partners:
    """Count partners; ``ways`` has for each the column of a document and that of its partner."""
    # An id is first met in a row, as a document of the first way before those of the second.
    first = {"first": np.minimum}
    n_rows, n_ids = len(pairs) * len(ways), len(pairs.rows)
    names = pairs.names
    with Totals(f"pairs-{side}", pairs.workspace, 4, first, n_rows=n_rows) as different:
        # A pair may come in both directions, and more than once.
        for places, table in pairs.batches(*names):
            digests = [digest_ids(as_text(table[name].combine_chunks())) for name in names]
            for turn, (own, other) in enumerate(ways):
                keys = (*digests[own], *digests[other])
                different.add(keys, first=places + turn * n_ids)
        kinds = {"n": np.add, **first}
        with Totals(f"partners-{side}", pairs.workspace, 2, kinds, n_rows=n_rows) as documents:
            for found_keys, found in different.read():
                ones = np.ones(len(found_keys[0]), np.int64)
                documents.add(found_keys[:2], n=ones, first=found["first"])
            counts: Counter[int] = Counter()
            most: list[tuple[int, int]] = []
            for _, found in documents.read():
                n, firsts = found["n"], found["first"]
                values, times = np.unique(n, return_counts=True)
                counts.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
                best = np.lexsort((firsts, -n))[:MOST_LISTED]
                some = zip((-n[best]).tolist(), firsts[best].tolist(), strict=True)
                most = nsmallest(MOST_LISTED, [*most, *some])
    firsts = np.array([place for _, place in most], np.int64)
    sides = pairs.ids(firsts % max(1, n_ids))
    listed = [
        (shortened(sides[ways[turn][0]][k].as_py()), -minus_n)
        for k, (turn, (minus_n, _)) in enumerate(
            zip((firsts // max(1, n_ids)).tolist(), most, strict=True)
        )
        if minus_n < -1
    ]
    n_documents, n_single = sum(counts.values()), counts[1]
    chart = _chart(side, counts)
    greatest = max(counts, default=0)
    return Partners(side, n_documents, n_in_all, n_single, greatest, listed, chart)


def _chart(side: str, counts: Mapping[int, int]) -> Chart:
    """Draw how many documents have how many partners, of which there are so many."""
    bounds, labels = [], []
    start = 1
    while start <= max(1, *counts):
        stop = start + 1 if start <= _SINGLE else 2 * start - 1
        bounds.append(start)
        labels.append(f"{start}" if stop == start + 1 else f"{start} to {stop - 1}")
        start = stop
    heights, _ = np.histogram(list(counts), [*bounds, start], weights=list(counts.values()))
    of = f" of side {side}" if side else ""
    return histogram(
        f"partners{'-' if side else ''}{side}",
        f"Documents{of} by their partners",
        f"{sum(counts.values()):,} documents{of} are in a pair, {counts.get(1, 0):,} of them in "
        "one only.",
        range(len(labels) + 1),
        heights.tolist(),
        x_title="partners",
        y_title="documents",
        labels=labels,
        is_log=int(heights.max()) >= _FROM_LOG,
    )
