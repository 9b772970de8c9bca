"""Items go to partitions by their numbers, and Spark has no more to do for it than it must."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from neardup.spark import cluster as module
from neardup.spark.session import cluster_of

ITEMS = [("an item", 1), None, [2.5, "x" * 3000], (4, b"yyy"), "the last"]


def listed(rows: Iterator[Any]) -> Iterator[tuple[list[Any], bytes]]:
    yield list(rows), b""


@pytest.mark.parametrize("sent_bytes", [1_000_000, 500, 1])
def test_items__each_in_its_partition(in_process, monkeypatch, sent_bytes):
    monkeypatch.setattr(module, "_SENT_BYTES", sent_bytes)
    cluster = cluster_of(in_process)
    laid_out = cluster.lay_out(ITEMS)
    assert laid_out.getNumPartitions() == len(ITEMS)
    assert [rows for rows, _ in cluster.bring(cluster.work(listed, laid_out))] == [
        [item] for item in ITEMS
    ]


def test_items__are_sent_in_parts_that_are_not_too_large(in_process, monkeypatch):
    sent = []
    parallelize = in_process.parallelize
    monkeypatch.setattr(
        in_process, "parallelize", lambda rows, n: sent.append(n) or parallelize(rows, n)
    )
    cluster = cluster_of(in_process)
    cluster.lay_out(ITEMS)
    cluster.lay_out(["x" * 1_500_000] * 10)
    cluster.lay_out(["x" * 5_000_000] * 3)
    cluster.lay_out([])
    assert sent == [1, 10, 3, 1]


def test_items__in_front_of_rows(session):
    """Rows that were placed stay as they are: Python does not see them before they are used."""
    cluster = cluster_of(session)
    placed = cluster.place(cluster.context.parallelize([(k % 3, k) for k in range(7)], 2), 3)
    attached = cluster.attach(ITEMS[:3], placed)
    # What brings the items, and the rows, to their partitions, and nothing behind that.
    assert attached.toDebugString().decode().count(" PythonRDD[") == 2
    found = [rows for rows, _ in cluster.bring(cluster.work(listed, attached))]
    assert [rows[0] for rows in found] == ITEMS[:3]
    assert [sorted(rows[1:]) for rows in found] == [
        [(0, 0), (0, 3), (0, 6)],
        [(1, 1), (1, 4)],
        [(2, 2), (2, 5)],
    ]
