"""Values of a column of removed documents and of those that stay."""

from __future__ import annotations

import pyarrow as pa

from neardup.reports.dedup.model import Agreement, agreement_of
from tests.removed_tables import Row, in_blocks, removed_table


def table(rows: list[Row], own: list[str | None], kept: list[str | None]) -> pa.Table:
    found = removed_table(rows)
    for name, values in (("by", own), ("kept_by", kept)):
        found = found.append_column(name, pa.array(values, pa.large_string()))
    return found


def test_agreement_of__counts_what_differs() -> None:
    rows: list[Row] = [(str(n), "k", 1.0, n % 2 == 0) for n in range(6)]
    found = table(rows, ["x", "x", None, None, "y", "z"], ["x", "y", None, "x", None, "z"])
    assert agreement_of("label", in_blocks(found).batches()) == Agreement("label", 6, 3, 1)


def test_agreement_of__another_collection_is_not_compared() -> None:
    one = table([("a", "k", 1.0, True)], ["x"], ["y"])
    place = one.column_names.index("kept_in")
    other = one.set_column(place, "kept_in", pa.array(["against"]))
    assert agreement_of("label", [one, other]) == Agreement("label", 1, 1, 1)


def test_agreement_of__pairs_knows_no_copies() -> None:
    assert agreement_of("label", [table([("a", "k", 1.0, None)], ["x"], ["y"])]).n_copies is None
    assert agreement_of("label", [table([], [], [])]) == Agreement("label", 0, 0, 0)
