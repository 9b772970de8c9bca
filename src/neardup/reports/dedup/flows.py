"""What came in and what went, of each file or of each value of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    """Flows by ``what``, a file or a column; the last one may stand for ``n_others`` names."""

    what: str
    rows: Sequence[Flow]
    n_others: int = 0


def flows_of(what: str, label: str, counts: Mapping[str, Any], *, most: int = 40) -> Flows:
    """Take what came in and what went from a summary.

    Parameters
    ----------
    what
        What names are of: a file, or a column.
    label
        What a summary calls a name.
    counts
        As a summary has them by file, or by the values of a column.
    most
        Rows at most; the last one sums up the rest.
    """

    def flow(name: str, found: Mapping[str, Any]) -> Flow:
        n_in, n_removed = found["documents_in"], found["documents_removed"]
        return Flow(name, n_in, n_removed, found.get("exact_copies"))

    rows = [flow(str(each[label] or NAMELESS), each) for each in counts["counts"]]
    if label != "file":
        # Files are in the order of the input, which readers know; values have none.
        rows.sort(key=lambda row: (-row.n_removed, -row.n_in))
    flows = Flows(what, rows)
    if others := counts["others"]:
        # One more name than rows, so that the sums become a part of the last row.
        most = min(most, len(rows))
        flows = shorten_flows(flows, most)
        *shown, last = flows.rows
        summed = _sum_flows([last, flow(OTHERS, others)])
        # What is last stands for one name, or for all that were summed up.
        return Flows(what, [*shown, summed], max(flows.n_others, 1) + others["groups"])
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
    return Flows(flows.what, [*(named[i] for i in shown), row], len(rest) + flows.n_others)


def _sum_flows(rows: Sequence[Flow]) -> Flow:
    copies = [row.n_copies for row in rows]
    return Flow(
        OTHERS,
        sum(row.n_in for row in rows),
        sum(row.n_removed for row in rows),
        None if None in copies else sum(n or 0 for n in copies),
    )
