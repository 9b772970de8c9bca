"""Which columns hold the text and the ids, in every command that reads documents."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

TITLE, BODY = "The raven", "Once upon a midnight dreary, while I pondered, weak and weary"


def write_lines(name: str, rows: list[dict[str, object]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def test_text_columns__places_count_in_the_joined_text(run, here):
    write_lines("a.jsonl", [{"title": TITLE, "body": BODY}, {"title": None, "body": BODY}])
    Path("query.txt").write_text(BODY)
    columns = ["--text-column", "title", "--text-column", "body"]
    assert run("index", "build", "idx", "a.jsonl", *columns, "--min-tokens", "5").code == 0
    assert run("search", "idx", "query.txt", "-o", "hits.jsonl").code == 0
    assert run("align", "query.txt", "--against", "idx", "-o", "same.jsonl").code == 0
    starts = {"a.jsonl:1": len(TITLE) + 1, "a.jsonl:2": 1}
    for name in ("hits.jsonl", "same.jsonl"):
        found = {str(hit["doc_id"]): hit for hit in read_lines(name)}
        assert {name: hit["doc_start"] for name, hit in found.items()} == starts
        for hit in found.values():
            assert hit["doc_text"] == BODY
            assert hit["doc_end"] == starts[str(hit["doc_id"])] + len(BODY)


def write_collections() -> None:
    """Write two collections, of columns of other names, with a text that both have."""
    write_lines("a.jsonl", [{"question": BODY, "no": "q1"}, {"question": TITLE, "no": "q2"}])
    Path("b.csv").write_text(f'text,title,key\n"{BODY}",x,k1\nother,y,k2\n', encoding="utf-8")


OWN = ["--text-column", "question", "--id-column", "no"]
OTHER = ["--against", "b.csv", "--against-text-column", "text", "--against-id-column", "key"]


@pytest.mark.parametrize("more", [[], ["--measure", "weighted-jaccard"], ["--method", "exact"]])
def test_against_columns__dedup(run, here, more):
    write_collections()
    assert run("dedup", "a.jsonl", *OWN, *OTHER, *more, "-o", "out").code == 0
    removed = pq.read_table("out/removed.parquet").select(["id", "kept_id"]).to_pylist()
    assert removed == [{"id": "q1", "kept_id": "k1"}]


def test_against_columns__are_those_of_the_input(run, here):
    """Each alone; the other one is the same for both collections."""
    write_lines("a.jsonl", [{"question": BODY, "key": "q1"}])
    write_lines("b.jsonl", [{"answer": BODY, "key": "k1"}])
    columns = ["--text-column", "question", "--against-text-column", "answer", "--id-column", "key"]
    run("pairs", "a.jsonl", "--against", "b.jsonl", *columns, "-o", "p.jsonl")
    assert [(pair["id_a"], pair["id_b"]) for pair in read_lines("p.jsonl")] == [("q1", "k1")]
