"""What came in and what went, of each file or of each value of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

# What a row is called that stands for all beyond the largest.
OTHERS = "all others"


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
    """Flows by ``what``, a file or a column; the last one may stand for ``n_others`` names."""

    what: str
    rows: Sequence[Flow]
    n_others: int = 0


def flows_by_file(documents: Mapping[str, int], removed: pa.Table, *, most: int = 40) -> Flows:
    """Count what came in and what went by file.

    Parameters
    ----------
    documents
        How many documents each file had, in the order of the input.
    removed
        The table of removed documents.
    most
        Rows at most; the last one sums up the rest.
    """
    counts = removed.select(["file", "exact_copy"]).group_by("file")
    counted = counts.aggregate([([], "count_all"), ("exact_copy", "sum")]).to_pydict()
    are_known = removed["exact_copy"].null_count < len(removed) or not len(removed)
    n_removed = dict(zip(counted["file"], counted["count_all"], strict=True))
    n_copies = dict(zip(counted["file"], counted["exact_copy_sum"], strict=True))
    rows = [
        Flow(
            name,
            n_in,
            n_removed.get(name, 0),
            (n_copies.get(name) or 0) if are_known else None,
        )
        for name, n_in in documents.items()
    ]
    return shorten_flows(Flows("file", rows), most)


def shorten_flows(flows: Flows, most: int) -> Flows:
    """Sum up all names but those of which most documents went, which stay in their order."""
    rows = flows.rows
    if len(rows) <= most:
        return flows
    order = sorted(range(len(rows)), key=lambda i: (-rows[i].n_removed, -rows[i].n_in, i))
    shown = sorted(order[: most - 1])
    rest = [rows[i] for i in order[most - 1 :]]
    copies = [row.n_copies for row in rest]
    summed = Flow(
        OTHERS,
        sum(row.n_in for row in rest),
        sum(row.n_removed for row in rest),
        None if None in copies else sum(n or 0 for n in copies),
    )
    return Flows(flows.what, [*(rows[i] for i in shown), summed], len(rest) + flows.n_others)
