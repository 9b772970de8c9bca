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


def test_dedup__against_what_is_not_similar(run, here, write_texts, verify):
    write_texts("a.jsonl", ["one", "two", ""])
    write_texts("b.jsonl", ["three", ""])
    assert run("dedup", "a.jsonl", "--against", "b.jsonl", "-o", "out").code == 0
    documents = numbered("a.jsonl", ["one", "two", ""])
    against = numbered("b.jsonl", ["three", ""])
    assert verify(here / "out", documents, against=against) == [True] * 3


def test_dedup__against_a_file_of_the_same_name(run, here, texts, write_texts, verify):
    write_texts("old/a.jsonl", texts[::2])
    write_texts("new/a.jsonl", texts[1::2])
    assert run("dedup", "new/a.jsonl", "--against", "old/a.jsonl", "-o", "out").code == 0
    against = numbered("against/a.jsonl", texts[::2])
    verify(here / "out", numbered("a.jsonl", texts[1::2]), against=against)


def test_dedup__against_itself(run, here, write_texts, verify):
    texts = ["one", "two", ""]
    write_texts("a.jsonl", texts)
    assert run("dedup", "a.jsonl", "--against", "a.jsonl", "-o", "out").code == 0
    against = numbered("against/a.jsonl", texts)
    stays = verify(here / "out", numbered("a.jsonl", texts), against=against)
    assert stays == [False, False, True]
