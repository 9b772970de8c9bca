"""Charts of a deduplication: what they are made of, and what they leave out."""

from __future__ import annotations

from neardup.reports.dedup.model import (
    OTHERS,
    Audit,
    Exchange,
    Flow,
    Flows,
    RecallCurve,
    count_clusters,
    count_similarities,
)
from neardup.reports.dedup.page import (
    draw_clusters,
    draw_curve,
    draw_exchange,
    draw_flows,
    draw_similarities,
)
from tests.removed_tables import cluster_rows, in_blocks, removed_table

_ROWS = [("a", "k", 0.8, False), ("b", "k", 0.95, False), ("c", "k", 1.0, True)]


def test_draw_similarities__has_the_counts_as_a_table() -> None:
    chart = draw_similarities(count_similarities(in_blocks(removed_table(_ROWS)), 0.8))
    assert chart.description == "2 removed documents by similarity, without 1 exact copy."
    counts = [row[1] for row in chart.table.rows]
    assert (counts[0], counts[15], counts.count("0")) == ("1", "1", 18)
    assert "threshold 0.8" in chart.svg


def test_draw_clusters__has_a_bar_for_each_size() -> None:
    removed = removed_table(_ROWS)
    chart = draw_clusters(count_clusters(in_blocks(removed), cluster_rows(removed, 5)))
    assert [tuple(row) for row in chart.table.rows] == [
        ("1", "4"),
        ("2", "0"),
        ("3", "0"),
        ("4", "1"),
    ]


def test_draw_curve__says_what_the_audit_saw() -> None:
    audit = Audit(0.98, 0.91, 0.995, 100, 50, 49, 0)
    curve = RecallCurve(16, 6, [(0.0, 0.0), (0.8, 0.99), (1.0, 1.0)], 0.8, 0.99, audit)
    chart = draw_curve(curve, {"measure": "jaccard"})
    assert chart.description.replace("\xa0", " ") == (
        "16 bands of 6 rows: a pair at the threshold is found with probability 0.9900. The audit "
        "saw 0.9800, with 95 % confidence 91.0 % to 99.5 %."
    )
    assert "0.9800" in str(chart.table.rows[-1])


def test_draw_flows__leaves_others_out() -> None:
    rows = [Flow(f"f{n}", 10, n, n // 2) for n in range(20)]
    chart = draw_flows(Flows(rows))
    names = [row[0] for row in chart.table.rows]
    assert names == [f"f{n}" for n in range(9, 20)]
    assert OTHERS not in chart.svg
    assert "9 others, 90 documents, are left out" in chart.description
    assert tuple(chart.table.rows[0][1:]) == ("1", "5", "4")


def test_draw_flows__of_pairs_has_no_copies() -> None:
    chart = draw_flows(Flows([Flow("x", 5, 2, None), Flow("y", 5, 0, None)]))
    assert tuple(chart.table.head) == ("file", "stay", "removed")
    assert tuple(chart.table.rows[0]) == ("x", "3", "2")


def test_draw_exchange__says_what_it_leaves_out() -> None:
    chart = draw_exchange(Exchange(["x", "y"], ["x"], [[3], [4]], 7))
    assert chart.description.endswith("Rarer pairs, 7 documents, are left out.")
    assert [tuple(row) for row in chart.table.rows] == [("x", "3"), ("y", "4")]
