"""``neardup dedup --measure weighted-jaccard``."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.documents import numbered
from tests.oracles import weighted


def weigh_texts(texts: list[str], others: list[str], tf: str, idf: str) -> list[dict[str, int]]:
    """Weigh the words of some texts as those of all, the others included."""
    words = [re.findall(r"\w+", text.casefold()) for text in [*texts, *others]]
    counts = weighted.document_frequencies(words)
    return [weighted.weigh(each, tf, idf, counts, len(words)) for each in words]


@pytest.mark.slow
@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize(("tf", "idf"), [("log", "standard"), ("squared", "probabilistic")])
def test_dedup__weighted(run, here, texts, write_texts, read_content, tf, idf, against):
    own, other = (texts[::2], texts[1::2]) if against else (texts, [])
    rows = write_texts("a.jsonl", own)
    options = ["--measure", "weighted-jaccard", "--tf", tf, "--idf", idf, "--threshold", "0.7"]
    if against:
        write_texts("b.jsonl", other)
        options += ["--against", "b.jsonl"]
    assert run("dedup", "a.jsonl", "-o", "out", *options).code == 0
    documents = numbered("a.jsonl", own) | numbered("b.jsonl", other)
    weights = dict(zip(documents, weigh_texts(own, other, tf, idf), strict=True))
    removed = pq.read_table("out/removed.parquet").to_pylist()
    gone = {row["id"] for row in removed}
    n_near = 0
    for row in removed:
        assert row["kept_id"] not in gone
        x, y = weights[row["id"]], weights[row["kept_id"]]
        if row["exact_copy"]:
            assert row["similarity"] == 1.0
            assert x == y
        else:
            exact = weighted.weighted_jaccard(x, y)
            assert exact >= Fraction("0.7")
            assert row["similarity"] == pytest.approx(float(exact), rel=1e-15)
            n_near += 1
    assert n_near > 5
    stays = [name not in gone for name in documents if name.startswith("a.jsonl")]
    assert read_content(here / "out/kept/a.jsonl") == rows.content(stays)
    # No two that stay are clearly similar, but those of the other file.
    left = [name for name in documents if name not in gone and weights[name]]
    for d, name in enumerate(left):
        for other_name in left[d + 1 :] if name.startswith("a.jsonl") else ():
            assert weighted.weighted_jaccard(weights[name], weights[other_name]) < 0.85


def test_dedup__report_of_weights(run, write_file):
    texts = ["the cat sat on a mat", "The cat sat on a mat!", "the dog", "", "the"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    options = ("--measure", "weighted-jaccard", "--tf", "log", "--idf", "standard")
    first, second, third, last = run("dedup", "a.jsonl", "-o", "out", *options).out.splitlines()
    assert first == "5 documents: 4 kept, 1 removed (1 exact copy, 0 near-duplicates)"
    assert second == (
        "similar: weighted-jaccard >= 0.8 over words 1-grams, weighted by tf log and idf standard; "
        "16 bands of 6 rows find a pair at the threshold with probability 0.9923"
    )
    assert third == "1 document without tokens, kept"
    assert last.startswith("written to out in ")


@pytest.mark.parametrize("idf", [None, "unary", "standard", "smooth", "probabilistic"])
@pytest.mark.parametrize("tf", [None, "log"])
def test_dedup__summary_of_weights(run, write_file, tf, idf):
    write_file("a.jsonl", b'{"text": "a b"}\n{"text": "a"}\n')
    options = [
        *(("--tf", tf) if tf else ()),
        *(("--idf", idf) if idf else ()),
        *("--measure", "weighted-jaccard", "--json"),
    ]
    summary = json.loads(run("dedup", "a.jsonl", "-o", "out", *options).out)
    assert summary["measure"] == "weighted-jaccard"
    scheme = summary["scheme"]
    assert (scheme["tf"], scheme["idf"]) == (tf or "raw", idf or "smooth")
    assert (scheme["kind"], scheme["num_perm"], scheme["seed"]) == ("weighted", 96, 42)
    assert scheme["ngram"] == 1
    assert ("count" in summary["seconds"]) == (idf != "unary")
    assert json.loads(Path("out/summary.json").read_text()) == summary


def test_dedup__summary_without_weights(run, write_file):
    write_file("a.jsonl", b'{"text": "a b"}\n')
    summary = json.loads(run("dedup", "a.jsonl", "-o", "out", "--json").out)
    assert not {"tf", "idf"} & summary["scheme"].keys()
    assert "count" not in summary["seconds"]
    assert summary["scheme"]["kind"] == "minhash"


def test_dedup__ngram_of_weights(run, write_file):
    """The same words in another order are the same document as single words only."""
    texts = ["a b c d", "d c b a"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    for ngram, n_removed in ((1, 1), (2, 0)):
        options = ("--measure", "weighted-jaccard", "--ngram", ngram, "--json")
        summary = json.loads(run("dedup", "a.jsonl", "-o", f"out{ngram}", *options).out)
        assert (summary["documents_removed"], summary["scheme"]["ngram"]) == (n_removed, ngram)
