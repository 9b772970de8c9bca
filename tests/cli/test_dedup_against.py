"""``neardup dedup --against``: another collection stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.documents import numbered


@pytest.mark.parametrize("name", ["b.jsonl", "b.csv.gz"])
def test_dedup__against(run, here, texts, write_texts, verify, name):
    own, other = texts[::2], texts[1::2]
    write_texts("a.jsonl", own)
    write_texts(name, other[:20])
    write_texts("c.jsonl", other[20:])
    result = run("dedup", "a.jsonl", "--against", name, "--against", "c.jsonl", "-o", "out")
    assert result.code == 0
    against = numbered(name, other[:20]) | numbered("c.jsonl", other[20:])
    stays = verify(here / "out", numbered("a.jsonl", own), against=against)
    assert [path.name for path in Path("out/kept").iterdir()] == ["a.jsonl"]
    keepers = pq.read_table("out/removed.parquet")["kept_id"].to_pylist()
    assert {name.partition(":")[0] for name in keepers} == {"a.jsonl", name, "c.jsonl"}
    assert json.loads(Path("out/summary.json").read_text())["against_documents"] == len(other)
    assert sum(stays) < len(own)


def test_dedup__against_is_reported(run, write_file):
    old = ["one two three four five six seven"]
    new = [
        old[0],
        "One two three four five six seven!",
        "a b c d e f",
        "A b c d e f!",
        "other words",
    ]
    for name, texts in (("old.jsonl", old), ("new.jsonl", new)):
        write_file(name, "".join(json.dumps({"text": text}) + "\n" for text in texts))
    write_file("bad.jsonl", '{"text": 5}\n')
    others = ("--against", "old.jsonl", "--against", "bad.jsonl", "--on-error", "skip")
    outcome = run("dedup", "new.jsonl", *others, "-o", "out")
    assert outcome.out.splitlines()[:2] == [
        "5 documents: 2 kept, 3 removed (3 exact copies, 0 near-duplicates)",
        "against 1 document: 2 removed for one of these, 1 for another of INPUT",
    ]
    removed = pq.read_table("out/removed.parquet").select(["kept_id", "kept_in"]).to_pylist()
    assert [(row["kept_id"], row["kept_in"]) for row in removed] == [
        ("old.jsonl:1", "against"),
        ("old.jsonl:1", "against"),
        ("new.jsonl:3", "input"),
    ]
    summary = json.loads(Path("out/summary.json").read_text())
    counts = ("against_documents", "removed_for_against", "removed_within")
    assert [summary[name] for name in counts] == [1, 2, 1]
