"""How many documents there were of one content: sizes of clusters, and the largest ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.tables import Int64s

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
        if self.least == self.most:
            return f"{self.least:,}"
        return f"{self.least:,} to {self.most:,}"


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
    removed: pa.Table, n_kept: int, *, n_largest: int = 10, n_members: int = 10
) -> Clusters:
    """Group removed documents by the one that stays for them.

    Parameters
    ----------
    removed
        The table of removed documents.
    n_kept
        Documents that stay.
    n_largest, n_members
        Clusters that are listed, and members of each; ties and members in the order of the table.
    """
    numbered = removed.select(["kept_in", "kept_id", "similarity"]).append_column(
        "place", pa.array(np.arange(len(removed)))
    )
    groups = numbered.group_by(["kept_in", "kept_id"]).aggregate(
        [("place", "count"), ("place", "min"), ("similarity", "min")]
    )
    sizes = groups["place_count"].to_numpy() + 1
    in_input = pc.sum(pc.equal(groups["kept_in"], "input")).as_py() or 0
    n_single = n_kept - in_input
    order = np.lexsort((groups["place_min"].to_numpy(), -sizes))[:n_largest]
    largest = [
        _list_members(removed, group, n_members)
        for group in groups.take(pa.array(order)).to_pylist()
    ]
    return Clusters(n_single, len(groups), _bin_sizes(sizes, n_single), largest)


def _list_members(removed: pa.Table, group: dict[str, Any], n_members: int) -> Cluster:
    first = group["place_min"]
    # No member is before the first one.
    behind = removed.slice(first)
    kept_id = pa.scalar(group["kept_id"], removed["kept_id"].type)
    is_member = pc.and_(
        pc.equal(behind["kept_id"], kept_id), pc.equal(behind["kept_in"], group["kept_in"])
    )
    columns = ["id", "file", "row", "similarity", "exact_copy"]
    places = np.flatnonzero(is_member.to_numpy())[:n_members]
    members = behind.select(columns).take(pa.array(places)).to_pylist()
    return Cluster(
        str(group["kept_id"]),
        group["kept_in"],
        group["place_count"],
        group["similarity_min"],
        first,
        [Member(**{**member, "id": str(member["id"])}) for member in members],
    )


def _bin_sizes(sizes: Int64s, n_single: int) -> Sequence[SizeBin]:
    """Count clusters in bins that widen as sizes do, so that the axis is logarithmic."""
    largest = int(sizes.max(initial=1))
    starts = list(_FIRST_BINS)
    while starts[-1] <= largest:
        # 100, 200, 500, 1,000 and so on.
        starts.append(10 * starts[-3])
    starts = [start for start in starts if start <= largest] + [
        min(start for start in starts if start > largest)
    ]
    counts = np.histogram(sizes, starts)[0].tolist()
    counts[0] += n_single
    return [
        SizeBin(least, following - 1, count)
        for least, following, count in zip(starts, starts[1:], counts, strict=False)
    ]
