"""``neardup dedup`` with every option, checked against the inputs."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from tests.cli.documents import numbered


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
