"""Whose documents went for whose."""

from __future__ import annotations

import pyarrow as pa

from neardup.reports.dedup.exchange import NOT_KNOWN, OTHERS, count_exchange


def test_count_exchange__has_a_row_for_each_name() -> None:
    found = count_exchange("file", pa.array(["b", "a", "b", "b"]), pa.array(["a", "a", "a", "c"]))
    assert (found.removed_from, found.kept_in) == (["b", "a"], ["a", "c"])
    assert found.counts == [[2, 1], [1, 0]]
    assert found.is_picture


def test_count_exchange__names_what_is_in_no_file() -> None:
    found = count_exchange("file", pa.array(["a"]), pa.array([None], pa.string()))
    assert (found.kept_in, found.counts) == ([NOT_KNOWN], [[1]])
    assert not found.is_picture


def test_count_exchange__puts_the_smaller_ones_together() -> None:
    names = [f"f{n}" for n in range(10) for _ in range(n + 1)]
    kept = pa.chunked_array([["x"] * 30, ["x"] * 25])
    found = count_exchange("file", pa.chunked_array([names]), kept, most=4)
    assert found.removed_from == ["f7", "f8", "f9", OTHERS]
    assert found.counts == [[8], [9], [10], [28]]
    assert (found.n_other_rows, found.n_other_columns) == (7, 0)


def test_count_exchange__of_nothing() -> None:
    found = count_exchange("file", pa.array([], pa.string()), pa.array([], pa.string()))
    assert (found.counts, found.is_picture) == ([], False)
