"""What came in and went, by name."""

from __future__ import annotations

import pyarrow as pa

from neardup.reports.dedup.flows import OTHERS, Flow, Flows, flows_by_file, shorten_flows
from tests.removed_tables import removed_table


def test_flows_by_file__counts_each_file() -> None:
    rows = [("a", "k", 1.0, True), ("b", "k", 0.9, False), ("c", "k", 0.9, False)]
    table = removed_table(rows, files=["x", "x", "z"])
    found = flows_by_file({"x": 5, "y": 3, "z": 1}, table)
    assert found == Flows("file", [Flow("x", 5, 2, 1), Flow("y", 3, 0, 0), Flow("z", 1, 1, 0)])
    assert [row.n_kept for row in found.rows] == [3, 3, 0]
    assert [row.n_near for row in found.rows] == [1, 0, 1]
    assert [row.share for row in found.rows] == [0.4, 0, 1]


def test_flows_by_file__of_pairs_knows_no_copies() -> None:
    found = flows_by_file({"a.jsonl": 2}, removed_table([("a", "k", 1.0, None)]))
    assert found.rows == [Flow("a.jsonl", 2, 1, None)]


def test_flows_by_file__of_nothing() -> None:
    assert flows_by_file({}, removed_table([])).rows == []
    assert flows_by_file({"e": 0}, removed_table([])).rows[0].share == 0


def test_shorten_flows__sums_up_what_lost_least() -> None:
    rows = [Flow(f"f{n}", 10, n % 5, 1) for n in range(10)]
    found = shorten_flows(Flows("source", rows), 4)
    assert [row.name for row in found.rows] == ["f3", "f4", "f9", OTHERS]
    assert sum(row.n_in for row in found.rows) == 100
    assert found.rows[-1] == Flow(OTHERS, 70, 9, 7)
    assert found.n_others == 7
    # Once more, as a chart does.
    assert shorten_flows(found, 3).n_others == 9


def test_flows_by_file__reads_chunks() -> None:
    one = removed_table([("a", "k", 1.0, True)])
    found = flows_by_file({"a.jsonl": 4}, pa.concat_tables([one, one]))
    assert found.rows == [Flow("a.jsonl", 4, 2, 2)]
