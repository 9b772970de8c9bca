"""``neardup dedup`` with every option, checked against the inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.documents import numbered
from tests.oracles.measures import MEASURES


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("threshold", ["0.55", "0.95"])
def test_dedup__measure(run, here, texts, write_texts, verify, measure, threshold):
    write_texts("a.jsonl", [*texts, *(text[: len(text) * 2 // 3] for text in texts[:20])])
    arguments = ("dedup", "a.jsonl", "-o", "out", "--measure", measure, "--threshold", threshold)
    assert run(*arguments, "--ngram", 3).code == 0
    documents = [*texts, *(text[: len(text) * 2 // 3] for text in texts[:20])]
    stays = verify(
        here / "out",
        numbered("a.jsonl", documents),
        measure=measure,
        threshold=threshold,
        ngram=3,
    )
    assert sum(stays) < len(stays)


def test_dedup__components_remove_chains(run, here, write_file, verify):
    # Each is similar to the next one (7/9 of 3-word shingles), the first and the last are not.
    words = [f"w{i}" for i in range(13)]
    texts = [" ".join(words[i : i + 10]) for i in range(4)]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    options = ("--ngram", 3, "--threshold", "0.7", "--recall", "0.9999999")
    assert run("dedup", "a.jsonl", "-o", "chains", "--clusters", "components", *options).code == 0
    assert run("dedup", "a.jsonl", "-o", "direct", *options).code == 0
    documents = numbered("a.jsonl", texts)
    how = {"threshold": "0.7", "ngram": 3}
    assert verify(here / "chains", documents, direct=False, **how) == [True, False, False, False]
    assert verify(here / "direct", documents, **how) == [True, False, True, False]
    summary = json.loads(Path("chains/summary.json").read_text())
    assert summary["removed_beyond_survivors"] == 1
    assert summary["clusters"] == "components"


def test_dedup__bands_and_rows(run, here, texts, write_texts, verify):
    write_texts("a.jsonl", texts)
    arguments = ("dedup", "a.jsonl", "-o", "out", "--bands", "30x4", "--json")
    summary = json.loads(run(*arguments).out)
    verify(here / "out", numbered("a.jsonl", texts))
    assert (summary["bands"], summary["rows"]) == (30, 4)
    assert summary["scheme"]["num_perm"] == 120
    assert summary["predicted_recall"] == pytest.approx(1 - (1 - 0.8**4) ** 30)


@pytest.mark.parametrize("by_pairs", [False, True])
def test_dedup__with_text(run, here, texts, write_texts, by_pairs):
    write_texts("a.jsonl", texts)
    how = ()
    if by_pairs:
        assert run("pairs", "a.jsonl", "-o", "pairs.parquet", "--threshold", "0.8").code == 0
        how = ("--pairs", "pairs.parquet")
    assert run("dedup", "a.jsonl", *how, "--with-text", "-o", "out").code == 0
    rows = pq.read_table("out/removed.parquet").to_pylist()
    assert rows
    for row in rows:
        assert row["text"] == texts[row["row"] - 1]
        assert row["kept_text"] == texts[row["kept_row"] - 1]
