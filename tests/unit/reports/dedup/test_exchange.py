"""Whose documents went for whose."""

from __future__ import annotations

from typing import Any

from neardup.reports.dedup.model import OTHERS, exchange_of


def counts(*pairs: tuple[str | None, str | None, str, int], others: int = 0) -> dict[str, Any]:
    keys = ("file", "kept_file", "kept_in", "documents_removed")
    rest = {"groups": 2, "documents_removed": others} if others else None
    return {"pairs": [dict(zip(keys, pair, strict=True)) for pair in pairs], "other_pairs": rest}


def test_exchange_of__has_a_row_for_each_name() -> None:
    found = exchange_of(
        counts(("b", "a", "input", 2), ("a", "a", "input", 1), ("b", "c", "input", 4)),
    )
    assert found.removed_from == found.kept_in == ["a", "b", "c"]
    assert found.counts == [[1, 0, 0], [2, 0, 4], [0, 0, 0]]
    assert found.is_picture
    assert found.n_left_out == 0
    assert found.sentence == ""


def test_exchange_of__tells_collections_and_names_apart() -> None:
    found = exchange_of(
        counts(
            ("a", "a", "input", 1), ("a", "a", "against", 2), ("a", None, "against", 3), others=9
        ),
    )
    assert found.kept_in == ["a", "the other collection", "a (other collection)"]
    assert found.counts == [[1, 3, 2]]
    assert found.n_left_out == 9


def test_exchange_of__puts_the_smaller_ones_together() -> None:
    pairs = [(f"f{n}", "x", "input", n + 1) for n in range(10)]
    found = exchange_of(counts(*pairs), most=4)
    assert found.removed_from == found.kept_in == ["f8", "f9", "x", OTHERS]
    assert found.counts == [[0, 0, 9, 0], [0, 0, 10, 0], [0, 0, 0, 0], [0, 0, 36, 0]]
