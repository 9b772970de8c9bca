"""Values of the page of a deduplication: clusters, bands, similarities, counts by file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.matching.bands import Banding
from neardup.matching.measures import make_measure
from neardup.outputs.table_rows import TableRows
from neardup.tables import Int64s

# How surely a run has found what is similar: the S-curve of its bands, and what its audit saw.

# Steps of the curve, and around the threshold where it counts.
_STEPS = 100


@dataclass(frozen=True)
class Audit:
    """Recall seen on documents that were compared with all, and bounds of it."""

    recall: float
    low: float
    high: float
    n_documents: int
    n_pairs: int
    n_found: int
    n_kept: int


@dataclass(frozen=True)
class RecallCurve:
    """The probability with which a pair shares a band, by its Jaccard similarity.

    ``at`` is the least Jaccard similarity of a pair at the threshold of the measure, and
    ``promised`` the probability there.
    """

    bands: int
    rows: int
    points: Sequence[tuple[float, float]]
    at: float
    promised: float
    audit: Audit | None


def curve_of(summary: Mapping[str, Any]) -> RecallCurve | None:
    """Return the curve that a summary speaks of; None if nothing could be missed."""
    if "bands" not in summary:
        return None
    banding = Banding(summary["bands"], summary["rows"])
    least = float(make_measure(summary["measure"], str(summary["threshold"])).least_jaccard)
    similarities = sorted({least, *(step / _STEPS for step in range(_STEPS + 1))})
    audit = None
    if (seen := summary.get("audit")) and seen["recall"] is not None:
        counts = ("documents", "similar_pairs", "found_pairs", "kept_although_similar")
        audit = Audit(seen["recall"], *seen["interval"], *(seen[name] for name in counts))
    return RecallCurve(
        banding.bands,
        banding.rows,
        [(value, banding.candidate_probability(value)) for value in similarities],
        least,
        banding.candidate_probability(least),
        audit,
    )


# How similar removed documents are to those that stay for them, in bins from the threshold on.

# Widths of bins that are tried, and how many bins a chart has at most.
_WIDTHS = tuple(Fraction(1, share) for share in (200, 100, 50, 20))
_MOST_BINS = 30


@dataclass(frozen=True)
class Similarities:
    """Removed documents by their similarity to the one that stays, exact copies apart.

    ``counts[i]`` documents lie from ``edges[i]`` up to ``edges[i + 1]``, the last ones with 1 among
    them. ``n_unknown`` have no similarity, ``n_below`` of those counted are below ``threshold``,
    which happens only among connected components. ``n_copies`` is None where nobody knows it.
    """

    threshold: float | None
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    n_copies: int | None
    n_unknown: int
    n_below: int

    @property
    def n_counted(self) -> int:
        """How many documents the bins hold."""
        return sum(self.counts)


def count_similarities(removed: TableRows, threshold: float | None) -> Similarities:
    """Count the similarities of removed documents; the threshold, if any, is an edge of the bins.

    ``exact_copy`` of the table is null where it is not known.
    """
    n_nulls = n_copies = n_unknown = n_below = 0
    least = math.inf
    for batch in removed.batches("exact_copy", "similarity"):
        n_nulls += batch["exact_copy"].null_count
        n_copies += pc.sum(batch["exact_copy"]).as_py() or 0
        counted = _of_near(batch)
        n_unknown += counted.null_count
        values = counted.drop_null().to_numpy()
        least = min(least, float(values.min(initial=math.inf)))
        n_below += int((values < threshold).sum()) if threshold is not None else 0
    edges = list_edges(threshold, least if least < math.inf else None)
    counts = np.zeros(len(edges) - 1, np.int64)
    for batch in removed.batches("exact_copy", "similarity"):
        # An edge belongs to the bin above it, 1 to the last one.
        values = _of_near(batch).drop_null().to_numpy()
        places = np.searchsorted(edges[1:-1], values, side="right")
        counts += np.bincount(places, minlength=len(counts))
    return Similarities(
        threshold,
        tuple(edges),
        tuple(counts.tolist()),
        n_copies if n_nulls < len(removed) or not len(removed) else None,
        n_unknown,
        n_below,
    )


def _of_near(removed: pa.Table) -> pa.ChunkedArray:
    """Return the similarities of documents that are not known to be copies."""
    return removed["similarity"].filter(pc.invert(pc.fill_null(removed["exact_copy"], False)))


def list_edges(threshold: float | None, least: float | None) -> Sequence[float]:
    """Return the edges of bins: the threshold, and multiples of one width from there up to 1.

    They begin below the threshold where the least value does.
    """
    starts = [value for value in (threshold, least) if value is not None]
    first = Fraction(str(min(starts, default=0)))
    wide_enough = (width for width in _WIDTHS if (1 - first) / width <= _MOST_BINS)
    width = next(wide_enough, _WIDTHS[-1])
    edges = {min(math.floor(first / width) * width, 1 - width), Fraction(1)}
    edges |= {n * width for n in range(math.ceil(first / width), math.ceil(1 / width))}
    if threshold is not None:
        exact = Fraction(str(threshold))
        edges.add(exact)
        if first == exact:
            edges = {edge for edge in edges if edge >= exact}
    edges.add(Fraction(1))
    if len(edges) == 1:
        # Nothing but a similarity of 1 reaches the threshold.
        edges.add(1 - width)
    return [float(edge) for edge in sorted(edges)]


# From each on a bin begins; behind them they go on in this way, times ten.
_FIRST_BINS = (1, 2, 3, 4, 5, 10, 20, 50)


@dataclass(frozen=True)
class SizeBin:
    """So many clusters have from ``least`` to ``most`` documents."""

    least: int
    most: int
    n_clusters: int

    @property
    def label(self) -> str:
        """What an axis says."""
        return f"{self.least:,}" + (f" to {self.most:,}" if self.most > self.least else "")


@dataclass(frozen=True)
class Member:
    """A removed document of a cluster; ``exact_copy`` and ``similarity`` may be unknown."""

    id: str
    file: str
    row: int
    similarity: float | None
    exact_copy: bool | None


@dataclass(frozen=True)
class Cluster:
    """A document that stays, and those that went for it; ``members`` are the first of them.

    ``place`` is the number of its first member in the table of removed documents.
    """

    kept_id: str
    kept_in: str
    n_removed: int
    least_similarity: float | None
    place: int
    members: Sequence[Member]

    @property
    def size(self) -> int:
        """Documents in it, the one that stays among them."""
        return self.n_removed + 1


@dataclass(frozen=True)
class Clusters:
    """Clusters of a deduplication: ``n_single`` documents are like no other one.

    ``n_clusters`` have two documents or more; ``bins`` count those and the single ones.
    """

    n_single: int
    n_clusters: int
    bins: Sequence[SizeBin]
    largest: Sequence[Cluster]


def count_clusters(
    removed: TableRows,
    clusters: TableRows,
    *,
    n_largest: int = 10,
    n_members: int = 10,
    keeps_none: bool = False,
) -> Clusters:
    """Count groups of documents, of which one stays, by their size.

    So many of the largest are listed, with so many members each, in the order of the table.

    Parameters
    ----------
    removed, clusters
        The tables of a deduplication: a row for each document that went, and for each of all.
    n_largest, n_members
        How many are listed.
    keeps_none
        Documents that represent a cluster may have gone, too. They are no members then, either.
    """
    largest = _Largest(n_largest)
    n_single = n_before = 0
    # Of all clusters of a size those that went, one less than its size in each.
    gone: Counter[int] = Counter()
    ids = ("id", "representative_id") if keeps_none else ()
    for batch in clusters.batches("cluster_id", "cluster_size", "is_duplicate", *ids):
        sizes, went = batch["cluster_size"].to_numpy(), batch["is_duplicate"].to_numpy()
        n_single += int((sizes[~went] == 1).sum())
        members = np.flatnonzero(went)
        if keeps_none:
            own = batch["id"].cast(batch["representative_id"].type)
            is_own = pc.equal(own, batch["representative_id"]).to_numpy()
            members = members[~is_own[members]]
        found, n_found = np.unique(sizes[members], return_counts=True)
        gone.update(dict(zip(found.tolist(), n_found.tolist(), strict=True)))
        places = n_before + np.cumsum(went)[members] - 1
        largest.add(batch["cluster_id"].to_numpy()[members], sizes[members], places)
        n_before += int(went.sum())
    if n_before != len(removed) or any(n < 2 or gone[n] % (n - 1) for n in gone):
        raise _not_of_one_run()
    counts = {n: gone[n] // (n - 1) for n in sorted(gone)}
    listed = _list_members(removed, largest.places, n_members)
    return Clusters(n_single, sum(counts.values()), _bin_sizes(counts, n_single), listed)


class _Largest:
    """The largest clusters so far: those with the most documents, the first ones of one size."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._found: list[tuple[int, int, int]] = []

    def add(self, clusters: Int64s, sizes: Int64s, places: Int64s) -> None:
        """Add members of clusters, given their places among all removed documents."""
        # A cluster that was left out is no larger than the least one, which only grows.
        least = -self._found[-1][0] if len(self._found) == self._n else 0
        rows = np.flatnonzero(sizes > least)
        _, firsts = np.unique(clusters[rows], return_index=True)
        known = {cluster for _, _, cluster in self._found}
        rows = rows[firsts]
        new = zip(*(each[rows].tolist() for each in (sizes, places, clusters)), strict=True)
        self._found += [
            (-size, place, cluster) for size, place, cluster in new if cluster not in known
        ]
        self._found = sorted(self._found)[: self._n]

    @property
    def places(self) -> list[int]:
        """The first member of each, among all removed documents."""
        return [place for _, place, _ in self._found]


def _list_members(removed: TableRows, firsts: Sequence[int], n_members: int) -> list[Cluster]:
    """List clusters by the places of their first members."""
    keys = removed.take(np.array(firsts, np.int64), "kept_in", "kept_id")
    found = [_Found(*key) for key in zip(keys["kept_in"], keys["kept_id"], strict=True)]
    keepers, start = keys["kept_id"].combine_chunks(), 0
    for batch in removed.batches("kept_in", "kept_id", "similarity") if found else ():
        places = np.flatnonzero(pc.is_in(batch["kept_id"], value_set=keepers).to_numpy())
        if len(places):
            some = batch.take(pa.array(places))
            for each in found:
                each.add(some, start + places, n_members)
        start += len(batch)
    columns = ["id", "file", "row", "similarity", "exact_copy"]
    return [
        Cluster(
            str(each.kept_id.as_py()),
            each.kept_in.as_py(),
            each.n,
            each.least,
            first,
            [
                Member(**{**member, "id": str(member["id"])})
                for member in removed.take(np.array(each.places), *columns).to_pylist()
            ],
        )
        for first, each in zip(firsts, found, strict=True)
    ]


@dataclass
class _Found:
    """Members of a cluster: how many, the least similarity, and the places of the first ones."""

    kept_in: pa.Scalar
    kept_id: pa.Scalar
    n: int = 0
    least: float | None = None
    places: list[int] = field(default_factory=list)

    def add(self, some: pa.Table, places: Int64s, n_members: int) -> None:
        is_member = pc.and_(
            pc.equal(some["kept_id"], self.kept_id), pc.equal(some["kept_in"], self.kept_in)
        )
        members = np.flatnonzero(is_member.to_numpy())
        self.n += len(members)
        self.places += places[members[: n_members - len(self.places)]].tolist()
        values = some["similarity"].take(pa.array(members))
        known = [each for each in (self.least, pc.min(values).as_py()) if each is not None]
        self.least = min(known, default=None)


def _not_of_one_run() -> InvalidInputError:
    message = (
        "removed.parquet and clusters.parquet do not have the same groups of documents; they have "
        "been changed since: run `neardup dedup` again"
    )
    return InvalidInputError(message)


def _bin_sizes(clusters: Mapping[int, int], n_single: int) -> Sequence[SizeBin]:
    """Count clusters in bins that widen as sizes do, so that the axis is logarithmic."""
    largest = max(clusters, default=1)
    starts = list(_FIRST_BINS)
    while starts[-1] <= largest:
        # 100, 200, 500, 1,000 and so on.
        starts.append(10 * starts[-3])
    starts = [start for start in starts if start <= largest] + [
        min(start for start in starts if start > largest)
    ]
    numbers = np.fromiter(clusters.values(), np.int64, len(clusters))
    counts = np.histogram(list(clusters), starts, weights=numbers)[0].tolist()
    counts[0] += n_single
    return [
        SizeBin(least, following - 1, count)
        for least, following, count in zip(starts, starts[1:], counts, strict=False)
    ]


# What came in and what went, of each file.

# What a row is called that stands for all beyond the largest, and documents without a name.
OTHERS = "all others"
NAMELESS = "(no value)"


@dataclass(frozen=True)
class Flow:
    """Documents of one name: so many came in, went, and of these were copies.

    ``n_copies`` is None where nobody knows it.
    """

    name: str
    n_in: int
    n_removed: int
    n_copies: int | None

    @property
    def n_kept(self) -> int:
        """Documents that stay."""
        return self.n_in - self.n_removed

    @property
    def n_near(self) -> int:
        """Documents that went and are not known to be copies."""
        return self.n_removed - (self.n_copies or 0)

    @property
    def share(self) -> float:
        """Which share of them went."""
        return self.n_removed / self.n_in if self.n_in else 0.0


@dataclass(frozen=True)
class Flows:
    """Flows by file; the last one may stand for ``n_others`` files."""

    rows: Sequence[Flow]
    n_others: int = 0


def flows_of(counts: Mapping[str, Any], *, most: int = 40) -> Flows:
    """Take what came in and what went by file from a summary.

    Of so many rows at most the last one sums up the rest.
    """

    def flow(name: str, found: Mapping[str, Any]) -> Flow:
        n_in, n_removed = found["documents_in"], found["documents_removed"]
        return Flow(name, n_in, n_removed, found.get("exact_copies"))

    rows = [flow(str(each["file"] or NAMELESS), each) for each in counts["counts"]]
    flows = Flows(rows)
    if others := counts["others"]:
        # One more name than rows, so that the sums become a part of the last row.
        most = min(most, len(rows))
        flows = shorten_flows(flows, most)
        *shown, last = flows.rows
        summed = _sum_flows([last, flow(OTHERS, others)])
        # What is last stands for one name, or for all that were summed up.
        return Flows([*shown, summed], max(flows.n_others, 1) + others["groups"])
    return shorten_flows(flows, most)


def shorten_flows(flows: Flows, most: int) -> Flows:
    """Sum up all names but those of which most documents went, which stay in their order."""
    rows = flows.rows
    if len(rows) <= most:
        return flows
    named, summed = list(rows), []
    if flows.n_others:
        summed = [named.pop()]
    order = sorted(range(len(named)), key=lambda i: (-named[i].n_removed, -named[i].n_in, i))
    shown = sorted(order[: most - 1])
    rest = [named[i] for i in order[most - 1 :]]
    row = _sum_flows([*rest, *summed])
    return Flows([*(named[i] for i in shown), row], len(rest) + flows.n_others)


def _sum_flows(rows: Sequence[Flow]) -> Flow:
    copies = [row.n_copies for row in rows]
    return Flow(
        OTHERS,
        sum(row.n_in for row in rows),
        sum(row.n_removed for row in rows),
        None if None in copies else sum(n or 0 for n in copies),
    )
