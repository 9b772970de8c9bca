"""``neardup pairs --measure weighted-jaccard``."""

from __future__ import annotations

import re
from fractions import Fraction

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import neardup
from tests.calls import grouped
from tests.cli.documents import numbered
from tests.oracles import weighted


def weigh_texts(texts: list[str], tf: str, idf: str) -> list[dict[str, int]]:
    words = [re.findall(r"\w+", text.casefold()) for text in texts]
    counts = weighted.document_frequencies(words)
    return [weighted.weigh(each, tf, idf, counts, len(words)) for each in words]


@pytest.mark.slow
@pytest.mark.parametrize("is_against", [False, True])
@pytest.mark.parametrize(("tf", "idf"), [("raw", "smooth"), ("log", "standard")])
def test_pairs__weighted(run, texts, write_texts, tf, idf, is_against):
    own, other = (texts[::2], texts[1::2]) if is_against else (texts, [])
    write_texts("a.jsonl", own)
    options = ["--measure", "weighted-jaccard", "--tf", tf, "--idf", idf, "--threshold", "0.7"]
    if is_against:
        write_texts("b.jsonl", other)
        options += ["--against", "b.jsonl"]
    outcome = run("pairs", "a.jsonl", "-o", "p.parquet", *options)
    assert outcome.code == 0
    documents = numbered("a.jsonl", own) | numbered("b.jsonl", other)
    weights = dict(zip(documents, weigh_texts([*own, *other], tf, idf), strict=True))
    left, right = ([d for d in documents if d.startswith(name)] for name in ("a.jsonl", "b.jsonl"))
    expected = {
        (a, b): float(weighted.weighted_jaccard(weights[a], weights[b]))
        for k, a in enumerate(left)
        for b in (right if is_against else left[k + 1 :])
        if weights[a]
        and weights[b]
        and weighted.weighted_jaccard(weights[a], weights[b]) >= Fraction("0.7")
    }
    table = pq.read_table("p.parquet")
    assert table.column_names == ["id_a", "id_b", "similarity"]
    found = {(row["id_a"], row["id_b"]): row["similarity"] for row in table.to_pylist()}
    assert found == pytest.approx(expected, rel=1e-15)
    assert list(found) == list(expected)
    assert len(found) > 10
    assert outcome.out.splitlines()[0].endswith(
        f"{len(found)} pairs with weighted-jaccard >= 0.7, weighted by tf {tf} and idf {idf}"
    )


def test_pairs__decided_again_by_weights(run, texts, write_texts):
    """The table says what its pairs are by."""
    write_texts("a.jsonl", texts)
    options = ("--measure", "weighted-jaccard", "--threshold", "0.6")
    run("pairs", "a.jsonl", "-o", "p.parquet", *options)
    outcome = run("dedup", "a.jsonl", "--pairs", "p.parquet", "--threshold", "0.8", "-o", "out")
    assert outcome.code == 0
    run("dedup", "a.jsonl", *options[:3], "0.8", "--bands", "100x1", "-o", "expected")
    found, expected = (pq.read_table(f"{name}/removed.parquet") for name in ("out", "expected"))
    assert found["id"] == expected["id"]


def test_idf_from__files_that_are_counted_instead(run, here, texts, write_texts):
    """Given several times; a run over them is what it is by Python."""
    write_texts("a.jsonl", texts[::2])
    write_texts("b.jsonl", texts[1::4])
    write_texts("c.jsonl", texts[3::4])
    options = ("--measure", "weighted-jaccard", "--threshold", "0.6", "--json")
    job = ("pairs", "a.jsonl", "-o", "p.csv")
    found = run(*job, *options, "--idf-from", "b.jsonl", "--idf-from", "c.jsonl")
    assert found.code == 0
    reference = [here / "b.jsonl", here / "c.jsonl"]
    arguments = {"measure": "weighted-jaccard", "threshold": "0.6", "idf_from": reference}
    expected = neardup.find_pairs(here / "a.jsonl", **grouped(**arguments)).pairs.to_pylist()
    assert pyarrow.csv.read_csv("p.csv").to_pylist() == expected
    refused = run(*job, "--overwrite", "--idf-from", "b.jsonl")
    assert refused.err.startswith("error: --idf-from has no effect with --measure jaccard")
