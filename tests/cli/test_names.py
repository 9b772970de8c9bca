"""Files of two folders that are called alike are told apart, from the first table to the page."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import neardup

TEXT = "Once more unto the breach, dear friends, once more; or close the wall up with our dead"


@pytest.fixture
def plays(write_file):
    write_file("modern/henry_v.txt", f"{TEXT}. In peace there is nothing so becomes a man")
    write_file("folio1623/henry_v.txt", f"{TEXT}: in Peace there 's nothing so becomes a man")
    write_file("folio1623/lear.txt", "Blow winds, and crack your cheeks; rage, blow, you cataracts")


def rows(here, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (here / name).read_text().splitlines()]


OWN, OTHER = "henry_v.txt", "folio1623/henry_v.txt"


def test_align__of_two_folders(run, here, plays):
    align = ("align", "modern", "--against", "folio1623", "--min-tokens", "8")
    assert run(*align, "-o", "hits.jsonl").code == 0
    [row] = rows(here, "hits.jsonl")
    assert (row["query_id"], row["doc_id"]) == (OWN, OTHER)
    assert run(*align, "-o", "hits.csv").code == 0
    both = ("modern", "--against", "folio1623")
    assert OTHER in run("report", "hits.csv", *both, "-o", "-").out
    outcome = run("report", "hits.csv", *both, "-o", "again.html")
    assert (outcome.code, outcome.err) == (0, "")
    assert OTHER in (here / "again.html").read_text()
    # In Python, too, and where both are named together.
    found = neardup.align(here / "modern", here / "folio1623", min_tokens=8).passages
    assert found["doc_id"].to_pylist() == [OTHER]
    assert run("align", "modern", "folio1623", "--min-tokens", "8", "-o", "all.jsonl").code == 0
    [row] = rows(here, "all.jsonl")
    assert {row["query_id"], row["doc_id"]} == {f"modern/{OWN}", OTHER}


def test_pairs__of_two_folders(run, here, plays):
    pairs = ("pairs", "modern", "--against", "folio1623", "--threshold", "0.3", "--ngram", "2")
    assert run(*pairs, "-o", "pairs.csv").code == 0
    [row] = neardup.find_pairs(
        here / "modern", here / "folio1623", threshold=0.3, text=neardup.TextOptions(ngram=2)
    ).pairs.to_pylist()
    assert (row["id_a"], row["id_b"]) == (OWN, OTHER)
    both = ("modern", "--against", "folio1623")
    assert OTHER in run("report", "pairs.csv", *both, "-o", "-").out
    assert run("report", "pairs.csv", *both, "-o", "page.html").code == 0
    assert OTHER in (here / "page.html").read_text()
    # What a table names of OTHER goes where both are named.
    drop = ("drop", "modern", "folio1623", "--named-in", "pairs.csv", "--column", "id_b")
    assert run(*drop, "-o", "rest").code == 0
    kept = sorted(
        path.parent.name + "/" + path.name for path in (here / "rest/kept").rglob("*.txt")
    )
    assert kept == ["folio1623/lear.txt", f"modern/{OWN}"]


def test_dedup__names_of_rows_that_stay_do_not_depend_on_others(run, here, plays):
    dedup = ("dedup", "modern", "--against", "folio1623", "--threshold", "0.3", "--ngram", "2")
    assert run(*dedup, "-o", "out").code == 0
    assert (here / "out/removed/henry_v.txt").is_file()
    [row] = pq.read_table(here / "out/removed.parquet").to_pylist()
    assert (row["id"], row["kept_id"], row["kept_in"]) == (OWN, f"against/{OWN}", "against")
