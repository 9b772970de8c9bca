"""``neardup pairs`` by Hamming distances and by weights."""

from __future__ import annotations

import json

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import neardup
from tests.calls import grouped

TEXTS = {
    "a": "one two three four five six seven",
    "b": "one two three four five six",
    "c": "one two three four five six eight",
    "d": "nothing",
    "e": "else",
    "f": "",
}


@pytest.fixture
def rows(write_file):
    lines = [json.dumps({"id": key, "text": text}) for key, text in TEXTS.items()]
    return write_file("rows.jsonl", "\n".join(lines) + "\n")


def distances_of(path):
    return {(r["id_a"], r["id_b"]): r["distance"] for r in pyarrow.csv.read_csv(path).to_pylist()}


def test_pairs__hamming(run, here, rows):
    options = ("--measure", "hamming", "--max-distance", "2", "--ngram", "1")
    outcome = run("pairs", "rows.jsonl", "-o", "p.csv", *options)
    assert outcome.code == 0
    assert outcome.out.splitlines()[0] == "6 documents: 4 pairs within a Hamming distance of 2"
    # The last two share nothing, and are small enough.
    expected = {("a", "b"): 1, ("a", "c"): 2, ("b", "c"): 1, ("d", "e"): 2}
    assert distances_of(here / "p.csv") == expected
    outcome = run("pairs", "rows.jsonl", "-o", "q.csv", *options, "--top", "2")
    assert "within a Hamming distance of 2, the 2 nearest\n" in outcome.out
    assert distances_of(here / "q.csv") == {("a", "b"): 1, ("b", "c"): 1}


def test_dedup__by_pairs_within_a_hamming_distance(run, rows):
    options = ("--measure", "hamming", "--max-distance", "1", "--ngram", "1")
    run("pairs", "rows.jsonl", "-o", "p.parquet", *options)
    assert run("dedup", "rows.jsonl", "--pairs", "p.parquet", "-o", "out").code == 0
    assert pq.read_table("out/removed.parquet")["id"].to_pylist() == ["b"]
    refused = run("dedup", "rows.jsonl", "--pairs", "p.parquet", "--threshold", "0.9", "-o", "no")
    assert "are those within --max-distance 1" in refused.err


def test_weighted(run, here, texts, write_texts):
    write_texts("a.jsonl", texts[::2])
    options = ("--measure", "weighted-jaccard", "--threshold", "0.6")
    found = run("pairs", "a.jsonl", "-o", "p.csv", *options)
    assert found.code == 0
    assert found.out.splitlines()[0].endswith(
        "pairs with weighted-jaccard >= 0.6, weighted by tf raw and idf smooth"
    )
    arguments = {"measure": "weighted-jaccard", "threshold": "0.6"}
    expected = neardup.find_pairs(here / "a.jsonl", **grouped(**arguments)).pairs.to_pylist()
    assert pyarrow.csv.read_csv("p.csv").to_pylist() == expected
