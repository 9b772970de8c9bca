"""The block of data in which removed documents are looked up."""

from __future__ import annotations

from neardup.reports.dedup.page import MOST_CHARACTERS, list_removed
from tests.removed_tables import in_blocks, removed_table


def test_list_removed__lists_all_columns() -> None:
    rows = [("a", "k", 0.81234, False), ("b", "m", 1.0, True), ("c", "k", None, None)]
    found = list_removed(in_blocks(removed_table(rows, kept_files=["z.csv", None, "z.csv"])))
    assert found.columns == {
        "id": ["a", "b", "c"],
        "file": [0, 0, 0],
        "row": [11, 12, 13],
        "similarity": [8123, 10000, None],
        "copy": [0, 1, 0],
        "kept": [0, 1, 0],
        "keeper": {"id": ["k", "m"], "file": [1, 2], "row": [1, None], "against": [0, 0]},
        "files": ["a.jsonl", "z.csv", None],
    }
    assert (found.n_listed, found.n_removed, found.n_cut, found.is_sample) == (3, 3, 0, False)


def test_list_removed__no_near_duplicate_is_rounded_to_one() -> None:
    rows = [("a", "k", 0.99999, False), ("b", "k", 0.57, False)]
    assert list_removed(in_blocks(removed_table(rows))).columns["similarity"] == [9999, 5700]


def test_list_removed__cuts_long_ids() -> None:
    found = list_removed(in_blocks(removed_table([("x" * 10_000, "🙂" * 300, 0.9, False)])))
    block = found.columns
    assert block["id"] == ["x" * MOST_CHARACTERS]
    assert block["keeper"]["id"] == ["🙂" * MOST_CHARACTERS]
    assert found.n_cut == 2
