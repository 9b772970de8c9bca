"""What came in and went, by name."""

from __future__ import annotations

from typing import Any

from neardup.reports.dedup.model import NAMELESS, OTHERS, Flow, Flows, flows_of
from tests.each import each_of


def counts(names: list[str | None], *, others: int = 0, copies: bool = True) -> dict[str, Any]:
    """Return what a summary has of names, of which the first lost 1 of 10, the second 2."""
    known = {"exact_copies": 1} if copies else {}
    sums = {"groups": others, "documents_in": 50, "documents_removed": 7} | known
    return {
        "counts": [
            {"file": name, "documents_in": 10, "documents_removed": n} | known
            for n, name in enumerate(names, 1)
        ],
        "others": sums if others else None,
    }


def test_flows_of__has_a_row_for_each_name() -> None:
    found = flows_of(counts(["x", "y", None]))
    rows = [Flow("x", 10, 1, 1), Flow("y", 10, 2, 1), Flow(NAMELESS, 10, 3, 1)]
    assert found == Flows(rows)
    assert [row.n_kept for row in found.rows] == [9, 8, 7]
    assert [row.n_near for row in found.rows] == [0, 1, 2]
    assert [row.share for row in found.rows] == [0.1, 0.2, 0.3]


@each_of("most", [3, 4, 5, 40])
def test_flows_of__sums_up_the_others(most: int) -> None:
    found = flows_of(counts(["a", "b", "c", "d"], others=6), most=most)
    assert len(found.rows) == min(most, 4)
    assert found.rows[-1].name == OTHERS
    assert len(found.rows) - 1 + found.n_others == 10
    assert sum(row.n_in for row in found.rows) == 90
    assert sum(row.n_removed for row in found.rows) == 17
    assert sum(row.n_copies or 0 for row in found.rows) == 5
