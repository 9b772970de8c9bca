"""``neardup pairs --measure weighted-jaccard``."""

from __future__ import annotations

import pyarrow.csv

import neardup
from tests.calls import grouped


def test_idf_from__files_that_are_counted_instead(run, here, texts, write_texts):
    """Given several times; a run over them is what it is by Python."""
    write_texts("a.jsonl", texts[::2])
    write_texts("b.jsonl", texts[1::4])
    write_texts("c.jsonl", texts[3::4])
    options = ("--measure", "weighted-jaccard", "--threshold", "0.6")
    job = ("pairs", "a.jsonl", "-o", "p.csv")
    found = run(*job, *options, "--idf-from", "b.jsonl", "--idf-from", "c.jsonl")
    assert found.code == 0
    assert found.out.splitlines()[0].endswith(
        "pairs with weighted-jaccard >= 0.6, weighted by tf raw and idf smooth"
    )
    reference = [here / "b.jsonl", here / "c.jsonl"]
    arguments = {"measure": "weighted-jaccard", "threshold": "0.6", "idf_from": reference}
    expected = neardup.find_pairs(here / "a.jsonl", **grouped(**arguments)).pairs.to_pylist()
    assert pyarrow.csv.read_csv("p.csv").to_pylist() == expected
    refused = run(*job, "--overwrite", "--idf-from", "b.jsonl")
    assert refused.err.startswith("error: --idf-from has no effect with --measure jaccard")
