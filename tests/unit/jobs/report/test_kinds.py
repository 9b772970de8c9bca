"""Which job has made a result."""

from __future__ import annotations

import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.stages.result_tables import kind_of_folder, kind_of_table
from tests.each import each_of

PLACES = ["query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end", "similarity"]


@each_of(
    ("columns", "kind"),
    [
        (PLACES, "passages"),
        ([*PLACES, "query_text", "doc_text"], "passages"),
        (["query_id", "doc_id", "similarity"], "documents"),
        (["id_a", "id_b", "similarity", "overlap"], "pairs"),
        (["id_a", "id_b", "distance"], "pairs"),
        (["id_a", "id_b", "similarity", "low", "high"], "estimate"),
    ],
)
def test_kind_of_table(columns, kind):
    assert kind_of_table(columns, "table.csv") == kind


def test_kind_of_table__says_what_to_give():
    with pytest.raises(InvalidInputError, match=r"\ba, b\b") as caught:
        kind_of_table(["a", "b"], "table.csv")
    assert caught.value.path == "table.csv"


def test_kind_of_folder(tmp_path):
    texts = ["a b c d e f", "a b c d e f"]
    neardup.deduplicate(texts).write(tmp_path / "dedup")
    neardup.cut(texts, min_tokens=2).write(tmp_path / "cut")
    assert kind_of_folder(str(tmp_path / "dedup")) == "dedup"
    assert kind_of_folder(f"file://{tmp_path}/cut") == "cut"
    assert kind_of_folder(str(tmp_path)) is None
    assert kind_of_folder("memory://tables/pairs.parquet") is None
