"""Where ids come from if nobody says it: column ``id`` of all inputs, else files and rows."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

TEXT = "once upon a midnight dreary while I pondered weak and weary"
ADVICE = (
    "ids come from column 'id' because all inputs have one: name another with "
    "--id-column, or '' for <file>:<row>"
)
SKIP = "; skip bad rows with --on-error skip"


@pytest.fixture
def inputs(here) -> None:
    """Write a file of each kind that has ids, and one of each kind that has none."""
    Path("a.jsonl").write_text("\n" + json.dumps({"id": 1, "text": TEXT}) + "\n")
    Path("b.json").write_text(json.dumps([{"text": TEXT, "id": 2}]))
    Path("c.csv").write_text(f"id,text\n3,{TEXT}\n")
    pq.write_table(pa.table({"id": [4], "text": [TEXT]}), "d.parquet")
    for name in ("no-rows.jsonl", "no-rows.csv"):
        Path(name).write_text("\n")
    Path("none.jsonl").write_text(json.dumps({"text": TEXT}))
    Path("none.csv").write_text(f"text\n{TEXT}\n")
    Path("none.txt").write_text(TEXT)
    pq.write_table(pa.table({"text": [TEXT]}), "none.parquet")


def ids_of(*options: str) -> list[object]:
    table = pq.read_table("out/clusters.parquet")
    summary = json.loads(Path("out/summary.json").read_text())
    return [*table["id"].to_pylist(), summary["id_column"], summary["id_column_by_default"]]


def test_ids__of_a_column_that_all_inputs_have(run, inputs):
    names = ["a.jsonl", "b.json", "no-rows.jsonl", "no-rows.csv", "d.parquet"]
    outcome = run("dedup", *names, "-o", "out")
    assert outcome.code == 0
    assert ids_of() == [1, 2, 4, "id", True]
    report = "ids: column 'id' (for <file>:<row> use --id-column '')"
    assert report in outcome.out.splitlines()
    run("dedup", *names, "c.csv", "-o", "out", "--overwrite")
    assert ids_of() == ["1", "2", "4", "3", "id", True]


@pytest.mark.parametrize("name", ["none.jsonl", "none.csv", "none.txt", "none.parquet"])
def test_ids__where_one_input_has_no_such_column(run, inputs, name):
    outcome = run("dedup", "a.jsonl", "c.csv", name, "-o", "out")
    assert outcome.code == 0
    last = name if name.endswith(".txt") else f"{name}:1"
    assert ids_of() == ["a.jsonl:2", "c.csv:1", last, None, True]
    assert "column" not in outcome.out


def test_ids__asked_for(run, inputs):
    """A column that is named, and none."""
    outcome = run("dedup", "a.jsonl", "--id-column", "", "-o", "out")
    assert ids_of() == ["a.jsonl:2", None, False]
    assert "column" not in outcome.out
    outcome = run("dedup", "a.jsonl", "--id-column", "id", "-o", "out", "--overwrite")
    assert ids_of() == [1, "id", False]
    assert "column" not in outcome.out


def test_ids__each_collection_by_itself(run, inputs):
    """INPUT has ids and OTHER has none, and the other way round."""
    for own, other, expected in (
        ("a.jsonl", "none.csv", [1, "none.csv:1", "id", None]),
        ("none.csv", "a.jsonl", ["none.csv:1", 1, None, "id"]),
        ("a.jsonl", "d.parquet", [1, 4, "id", "id"]),
    ):
        outcome = run("pairs", own, "--against", other, "-o", "p.parquet", "--overwrite", "--json")
        [pair] = pq.read_table("p.parquet").select(["id_a", "id_b"]).to_pylist()
        summary = json.loads(outcome.out)
        columns = [summary["id_column"], summary["against_id_column"]]
        assert [*pair.values(), *columns] == expected
    run("pairs", "a.jsonl", "--against", "d.parquet", "--against-id-column", "", "-o", "q.parquet")
    assert pq.read_table("q.parquet")["id_b"].to_pylist() == ["d.parquet:1"]
    run("pairs", "a.jsonl", "--against", "d.parquet", "--id-column", "", "-o", "r.parquet")
    assert pq.read_table("r.parquet")["id_b"].to_pylist() == ["d.parquet:1"]


def test_ids__in_all_commands(run, inputs):
    """An index, searches, alignments, sketches and removals take the same column."""
    report = "ids: column 'id'"
    least = ["--min-tokens", "5"]
    assert report in run("index", "build", "idx", "a.jsonl", *least).out
    assert report in run("index", "add", "idx", "d.parquet").out
    assert report in run("search", "idx", "c.csv", "-o", "hits.parquet").out
    found = pq.read_table("hits.parquet").select(["query_id", "doc_id"]).to_pylist()
    assert found == [{"query_id": "3", "doc_id": 1}, {"query_id": "3", "doc_id": 4}]
    outcome = run("align", "c.csv", "--against", "b.json", *least, "-o", "same.parquet")
    assert report in outcome.out
    assert "ids of OTHER: column 'id'" in outcome.out
    assert pq.read_table("same.parquet")["doc_id"].to_pylist() == [2]
    assert report in run("sketch", "a.jsonl", "-o", "s.parquet").out
    assert pq.read_table("s.parquet")["id"].to_pylist() == [1]
    assert report in run("drop", "d.parquet", "--named-in", "hits.parquet", "--missing", "ignore",
                         "-o", "rest").out  # fmt: skip
    assert pq.read_table("rest/removed.parquet")["id"].to_pylist() == [4]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ['{"id": 5, "text": "a"}', '{"id": 5, "text": "b"}'],
            f"row 2: id 5 was used before, in a.jsonl, row 1; ids must differ; {ADVICE}",
        ),
        (['{"id": null, "text": "a"}'], f"row 1: column 'id' is null; {ADVICE}"),
        (
            ['{"id": 5, "text": "a"}', '{"text": "b"}'],
            f"row 2: no column 'id'; columns are 'text'; {ADVICE}{SKIP}",
        ),
        (
            ['{"id": 0.5, "text": "a"}'],
            f"row 1: column 'id' holds a number, not a string or a whole number; {ADVICE}",
        ),
    ],
)
def test_ids__that_cannot_be(run, here, rows, message):
    """The errors say where ids come from, and how they may come from elsewhere."""
    Path("a.jsonl").write_text("\n".join(rows))
    outcome = run("dedup", "a.jsonl", "-o", "out")
    assert (outcome.code, outcome.err) == (1, f"error: a.jsonl, {message}\n")
    assert run("dedup", "a.jsonl", "--id-column", "", "-o", "out").code == 0
