"""``neardup pairs`` by weights."""

from __future__ import annotations

import pyarrow.csv

import neardup
from tests.calls import grouped


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
