"""The block of data in which removed documents are looked up."""

from __future__ import annotations

import json
from itertools import pairwise

import pyarrow as pa
import pytest

from neardup.reports.dedup.page import MOST_CHARACTERS, Lookup, list_removed
from tests.each import each_of
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


@pytest.mark.slow
@each_of("most_bytes", [0, 100, 1_000, 20_000])
def test_list_removed__samples_evenly_what_is_too_much(most_bytes: int) -> None:
    table = removed_table([(f"document {n}", f"k{n % 9}", 0.9, False) for n in range(2_000)])
    found = list_removed(in_blocks(table), most_bytes=most_bytes)
    assert found.is_sample
    assert _n_bytes(found) <= max(most_bytes, 150)
    ids = [int(name.split()[1]) for name in found.columns["id"]]
    assert len(ids) == found.n_listed == len(set(ids))
    if most_bytes == 20_000:
        assert ids[0] == 0
        assert ids[-1] == 1_999
        gaps = {b - a for a, b in pairwise(ids)}
        assert max(gaps) - min(gaps) <= 1
        assert _n_bytes(found) > 0.9 * most_bytes


def test_list_removed__takes_whole_numbers() -> None:
    table = removed_table([(7, 8, 0.9, False)], ids=pa.int64())
    block = list_removed(in_blocks(table)).columns
    assert (block["id"], block["keeper"]["id"]) == (["7"], ["8"])


def test_list_removed__cuts_long_ids() -> None:
    found = list_removed(in_blocks(removed_table([("x" * 10_000, "🙂" * 300, 0.9, False)])))
    block = found.columns
    assert block["id"] == ["x" * MOST_CHARACTERS]
    assert block["keeper"]["id"] == ["🙂" * MOST_CHARACTERS]
    assert found.n_cut == 2


def _n_bytes(found: Lookup) -> int:
    return len(json.dumps(found.columns, ensure_ascii=False, separators=(",", ":")).encode())
