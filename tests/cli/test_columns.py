"""Which columns hold the text and the ids, in every command that reads documents."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import neardup

TITLE, BODY = "The raven", "Once upon a midnight dreary, while I pondered, weak and weary"


def write_lines(name: str, rows: list[dict[str, object]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def test_text_columns__are_joined(run, here):
    """Rows that agree in one column only are no copies; the order of the columns counts."""
    rows = [(TITLE, BODY), (TITLE, "something else"), (BODY, TITLE), (TITLE, BODY), (None, BODY)]
    table = {"title": [title for title, _ in rows], "body": [body for _, body in rows]}
    pq.write_table(pa.table(table), "a.parquet")
    columns = ["--text-column", "title", "--text-column", "body"]
    outcome = run("dedup", "a.parquet", *columns, "--threshold", "1", "-o", "out")
    assert outcome.code == 0
    removed = pq.read_table("out/removed.parquet")
    assert removed.select(["id", "kept_id"]).to_pylist() == [
        {"id": "a.parquet:4", "kept_id": "a.parquet:1"}
    ]
    assert pq.read_table("out/kept/a.parquet").equals(pa.table(table).take([0, 1, 2, 4]))
    found = neardup.find_pairs(
        "a.parquet", text_column=["title", "body"], ngram=1, threshold=1, occurrences="numbered"
    )
    assert [(pair["id_a"], pair["id_b"]) for pair in found.pairs.to_pylist()] == [
        ("a.parquet:1", "a.parquet:3"),
        ("a.parquet:1", "a.parquet:4"),
        ("a.parquet:3", "a.parquet:4"),
    ]


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


def test_text_columns__named_twice(run, here):
    write_lines("a.jsonl", [{"text": "a"}])
    for command in ("dedup a.jsonl", "pairs a.jsonl", "drop a.jsonl --named-in a.jsonl"):
        outcome = run(
            *command.split(), *["--text-column", "text", "--text-column", "text"], "-o", "out.csv"
        )
        message = "error: --text-column names 'text' twice; name each column once\n"
        assert (outcome.code, outcome.err) == (1, message)
