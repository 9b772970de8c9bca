"""Which job has made a result."""

from __future__ import annotations

import pytest

from neardup.errors import InvalidInputError
from neardup.jobs.report.kinds import kind_of_folder, kind_of_table

PLACES = ["query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end", "similarity"]


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("columns", "advice"),
    [
        (["id", "kept_id", "similarity", "file"], "give the folder"),
        (["id", "cluster_id", "cluster_size"], "give the folder"),
        (["query_id", "doc_id", "passages"], "without --summary"),
        (["a", "b"], r"columns: a, b\)"),
        ([], "the table is empty"),
    ],
)
def test_kind_of_table__says_what_to_give(columns, advice):
    with pytest.raises(InvalidInputError, match=advice) as caught:
        kind_of_table(columns, "table.csv")
    assert caught.value.path == "table.csv"


def test_kind_of_folder():
    assert kind_of_folder(["id", "kept_id", "similarity"], "clean") == "dedup"
    assert kind_of_folder(["id", "start", "end", "kept_id", "similarity"], "clean") == "cut"
    with pytest.raises(InvalidInputError, match="make a report of that table"):
        kind_of_folder(["id", "file", "row"], "clean")
