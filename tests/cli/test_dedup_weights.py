"""``neardup dedup --measure weighted-jaccard``."""

from __future__ import annotations

import re
from fractions import Fraction

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
