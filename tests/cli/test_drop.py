"""``neardup drop``: the rows that a table names go, the others stay as they are."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = b'{"text": "one"}\n\n{"text":"two","n":1.50}\r\n{"text": "three"}\n'


def write_table(here, name, columns):
    """Write a table of ids in the format that its name tells."""
    table = pa.table(columns)
    if name.endswith(".parquet"):
        pq.write_table(table, here / name)
    elif name.endswith(".csv"):
        rows = zip(*table.to_pydict().values(), strict=True)
        lines = [table.column_names, *rows]
        (here / name).write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    elif name.endswith(".jsonl"):
        (here / name).write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        (here / name).write_text("".join(f"{value}\n" for value in table.column(0).to_pylist()))


def removed(folder):
    return pq.read_table(folder / "removed.parquet").to_pylist()


@pytest.mark.parametrize("name", ["h.parquet", "h.csv", "h.jsonl", "h.txt"])
def test_drop__tables_of_all_kinds(run, here, write_file, name):
    write_file("a.jsonl", ROWS)
    write_table(here, name, {"doc_id": ["a.jsonl:3", "a.jsonl:4", "a.jsonl:3"]})
    outcome = run("drop", "a.jsonl", "--named-in", name, "-o", "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[0] == "3 documents: 1 kept, 2 removed"
    out = here / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "kept",
        "removed",
        "removed.parquet",
        "summary.json",
    ]
    assert (out / "kept/a.jsonl").read_bytes() == b'{"text": "one"}\n'
    assert (out / "removed/a.jsonl").read_bytes() == (
        b'{"text":"two","n":1.50}\r\n{"text": "three"}\n'
    )
    assert removed(out) == [
        {"id": "a.jsonl:3", "file": "a.jsonl", "row": 3},
        {"id": "a.jsonl:4", "file": "a.jsonl", "row": 4},
    ]


def test_drop__what_search_and_align_found(run, here, write_file):
    """The way of a test set: search, then drop; or align, then drop."""
    leak = "a frog in a well knows nothing of the great sea and says so every day"
    write_file("train.jsonl", "".join(
        json.dumps({"id": i, "text": text}) + "\n"
        for i, text in enumerate(["nothing here", f"They say: {leak}. Well then.", "nor here"])
    ))  # fmt: skip
    write_file("test.jsonl", json.dumps({"id": "t", "text": leak}) + "\n")
    ids, least = ("--id-column", "id"), ("--min-tokens", 8)
    run("index", "build", "idx", "train.jsonl", *ids, *least)
    assert run("search", "idx", "test.jsonl", *ids, "-o", "hits.parquet").code == 0
    assert run("drop", "train.jsonl", *ids, "--named-in", "hits.parquet", "-o", "one").code == 0
    aligned = run("align", "train.jsonl", *ids, "--against", "test.jsonl", *least, "-o", "s.csv")
    assert aligned.code == 0
    named = ("--named-in", "s.csv", "--column", "query_id")
    assert run("drop", "train.jsonl", *ids, *named, "-o", "two").code == 0
    for folder in ("one", "two"):
        assert removed(here / folder) == [{"id": 1, "file": "train.jsonl", "row": 2}]


def test_drop__named_in_removed_documents(run, here, write_file):
    """Nobody is led to drop what stays for them."""
    write_file("a.jsonl", ROWS)
    pq.write_table(pa.table({"id": ["x"], "kept_id": ["y"]}), here / "removed.parquet")
    found = run("drop", "a.jsonl", "--named-in", "removed.parquet", "-o", "out")
    assert found.code == 1
    assert "choose --column id to remove the documents that went" in found.err


def test_drop__named_in_a_folder(fails, run, here, write_file):
    write_file("a.jsonl", ROWS)
    write_table(here, "h.parquet", {"doc_id": ["a.jsonl:3"]})
    write_file("named/h.parquet", (here / "h.parquet").read_bytes())
    write_file("named/ids.txt", "a.jsonl:4\n")
    assert run("drop", "a.jsonl", "--named-in", "named", "-o", "out").code == 0
    assert [row["row"] for row in removed(here / "out")] == [3, 4]
    (here / "named/h.parquet").unlink()
    error = "--column has no effect with named, a text with one id a line; leave it out"
    column = ("--column", "doc_id")
    fails("drop", "a.jsonl", "--named-in", "named", *column, "-o", "x", error=error)
    write_file("named/h.jsonl", '{"doc_id": 1.5}\n')
    outcome = run("drop", "a.jsonl", "--named-in", "named", "-o", "x")
    assert outcome.err.startswith("error: named/h.jsonl")


def test_drop__missing(fails, run, here, write_file):
    write_file("a.jsonl", ROWS)
    write_file("ids.txt", "a.jsonl:1\nb.jsonl:1\nc\n")
    error = (
        "ids.txt names 3 documents, 2 of which the input does not have, such as 'b.jsonl:1'; "
        "give the same input and --id-column as when the ids were made, choose another --column, "
        "or leave such ids out with --missing ignore"
    )
    fails("drop", "a.jsonl", "--named-in", "ids.txt", "-o", "out", error=error)
    ignore = ("--missing", "ignore")
    outcome = run("drop", "a.jsonl", "--named-in", "ids.txt", "-o", "out", *ignore)
    assert outcome.out.splitlines()[:2] == [
        "3 documents: 2 kept, 1 removed",
        "2 named documents not there",
    ]


@pytest.mark.parametrize(
    ("name", "content", "options", "error"),
    [
        (
            "h.csv",
            "id\n1\n",
            [],
            "h.csv: no column 'doc_id'; columns are 'id'; name another with --column",
        ),
        (
            "h.jsonl",
            '{"a": 1}\n',
            [],
            "h.jsonl, row 1: no column 'doc_id'; columns are 'a'; name another with --column",
        ),
        ("h.jsonl", '{"doc_id": "a.jsonl:1"}\n{\n', [], None),
        ("h.jsonl", '{"doc_id": null}\n', [], None),
        ("h.jsonl", '{"doc_id": 1.5}\n', [], None),
        ("h.jsonl", '{"doc_id": ["a"]}\n', [], None),
        ("h.parquet", "no table", [], None),
        ("h.txt", b"\xff\n", [], None),
        (
            "h.txt",
            "a.jsonl:1\n",
            ["--column", "doc_id"],
            "--column has no effect with h.txt, a text with one id a line; leave it out",
        ),
        ("h.xls", "x", [], None),
    ],
)
def test_drop__bad_table(fails, run, here, write_file, name, content, options, error):
    write_file("a.jsonl", ROWS)
    write_file(name, content)
    arguments = ("drop", "a.jsonl", "--named-in", name, "-o", "out", *options)
    if error is None:
        error = run(*arguments).err.removeprefix("error: ").removesuffix("\n")
        assert name in error
    fails(*arguments, error=error)


def test_drop__standard_input(run, here, write_file, monkeypatch):
    write_file("a.jsonl", ROWS)
    both = run("drop", "-", "--named-in", "-", "-o", "out")
    assert both.code == 2
    assert "cannot both be standard input" in both.err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a.jsonl:1\n")))
    outcome = run("drop", "a.jsonl", "--named-in", "-", "-o", "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert [row["row"] for row in removed(here / "out")] == [1]
