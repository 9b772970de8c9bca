"""``neardup pairs`` on records: within blocks, one to one, with columns of both sides."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

GUIDE = """id,name,city,price
f1,art delis restaurant,la,10
f2,art deli restaurant,la,20
f3,art delis restaurant,ny,30
f4,art delis restaurant,,40
"""
OTHER = """id,name,city,stars
z1,art delis the restaurant,la,5
z2,art delis restaurant,ny,4
"""
OPTIONS = ("--text-column", "name", "--ngram", "1", "--threshold", "0.2")


@pytest.fixture
def guides(write_file):
    write_file("a.csv", GUIDE)
    write_file("b.csv", OTHER)


def rows_of(name: str) -> list[dict[str, str]]:
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ids_of(name: str) -> list[tuple[str, str]]:
    return [(row["id_a"], row["id_b"]) for row in rows_of(name)]


def test_blocking(run, here, guides):
    outcome = run("pairs", "a.csv", *OPTIONS, "--blocking", "city", "-o", "p.csv")
    assert outcome.out.splitlines()[0] == (
        "4 documents: 1 pair with jaccard >= 0.2, within blocks of equal city"
    )
    assert "1 document without a value in city" in outcome.out
    assert ids_of("p.csv") == [("f1", "f2")]
    outcome = run(
        "pairs", "a.csv", "--against", "b.csv", *OPTIONS, "--blocking", "city", "-o", "q.csv"
    )
    assert ids_of("q.csv") == [("f1", "z1"), ("f2", "z1"), ("f3", "z2")]


def test_blocking__no_document_of_a_block_has_a_token(run, here, write_file):
    rows = [{"text": "", "city": "x"}, {"text": "some words", "city": None}]
    write_file("in.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    for options in ([], ["--method", "minhash"], ["--measure", "edit"], ["--memory", "16MB"]):
        outcome = run(
            "pairs", "in.jsonl", "--blocking", "city", *options, "-o", "p.csv", "--overwrite"
        )
        assert outcome.code == 0, outcome.err
        assert ids_of("p.csv") == []


def test_blocking__values_are_compared_as_text(run, here, write_file):
    """Whatever formats say of their types, also where a column of numbers has gaps."""
    texts = [{"text": "one two", "zip": 7}, {"text": "one two", "zip": None}]
    write_file("a.jsonl", "".join(json.dumps(row) + "\n" for row in texts))
    floats = pa.array([7.0, None, 7.5], pa.float64())
    pq.write_table(pa.table({"text": ["one two"] * 3, "zip": floats}), "b.parquet")
    write_file("c.csv", "text,zip\none two,7\none two,07\none two,7.5\n")
    argv = ("--blocking", "zip", "--ngram", "1", "-o", "p.csv", "--overwrite")
    assert run("pairs", "a.jsonl", "--against", "b.parquet", *argv).code == 0
    assert ids_of("p.csv") == [("a.jsonl:1", "b.parquet:1")]
    assert run("pairs", "c.csv", "--against", "b.parquet", *argv).code == 0
    assert ids_of("p.csv") == [("c.csv:1", "b.parquet:1"), ("c.csv:3", "b.parquet:3")]


def test_one_to_one(run, here, guides):
    outcome = run("pairs", "a.csv", "--against", "b.csv", *OPTIONS, "--one-to-one", "-o", "p.csv")
    assert outcome.out.splitlines()[0] == (
        "4 documents and 2 documents: 2 pairs with jaccard >= 0.2, one to one of 8"
    )
    assert ids_of("p.csv") == [("f1", "z2"), ("f3", "z1")]
    # The most similar pair is chosen of those that are one to one.
    argv = (*OPTIONS, "--top", "1", "--one-to-one", "-o", "q.csv")
    run("pairs", "a.csv", "--against", "b.csv", *argv)
    assert len(ids_of("q.csv")) == 1


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "xlsx"])
@pytest.mark.parametrize("columns", [("--columns", "name,city"), ("--columns", "city")])
def test_columns__of_both_sides(run, here, guides, suffix, columns):
    outcome = run("pairs", "a.csv", *OPTIONS, "--limit", "9", *columns, "-o", f"p.{suffix}")
    assert outcome.code == 0, outcome.err
    rows = {row["id"]: row for row in rows_of("a.csv")}
    found = table_of(f"p.{suffix}")
    assert len(found) == 6
    names = columns[1].split(",")
    behind = [f"{name}_{side}" for name in names for side in "ab"]
    assert list(found[0]) == ["id_a", "id_b", "similarity", "overlap", *behind]
    for row in found:
        for name in names:
            assert (row[f"{name}_a"] or "") == rows[row["id_a"]][name]
            assert (row[f"{name}_b"] or "") == rows[row["id_b"]][name]


def table_of(name: str) -> list[dict[str, object]]:
    path = Path(name)
    if path.suffix == ".csv":
        return rows_of(name)
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    names, *rows = openpyxl.load_workbook(path).active.values
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_columns__of_a_side_that_has_them(run, here, guides):
    """What only one collection has stands in one column; ids of both may be called otherwise."""
    argv = ("--columns", "stars", "--columns", "price", "--one-to-one", "-o", "p.csv")
    run("pairs", "a.csv", "--against", "b.csv", *OPTIONS, *argv)
    assert rows_of("p.csv") == [
        {**pair, "overlap": "3", "stars_b": stars, "price_a": price}
        for pair, stars, price in (
            ({"id_a": "f1", "id_b": "z2", "similarity": "1.0"}, "4", "10"),
            ({"id_a": "f3", "id_b": "z1", "similarity": "0.75"}, "5", "30"),
        )
    ]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            "--columns city,town",
            "a.csv: no column 'town', which --columns names; columns are 'id', "
            "'name', 'city', 'price'",
        ),
        (
            "--columns id",
            "--columns names 'id', of which id_a and id_b would be, as the ids of a pair are "
            "called; leave it out, or name it with --id-column",
        ),
        ("--columns city,city", "--columns names 'city' twice; name each column once"),
        (
            "--blocking town",
            "a.csv: no document has a value in column 'town', so that none would be compared; name "
            "another with --blocking; columns are 'id', 'name', 'city', 'price'",
        ),
        (
            "--blocking city --blocking town",
            "a.csv: no document has a value in all columns 'city' and 'town', so that none would "
            "be compared; name another with --blocking; columns are 'id', 'name', "
            "'city', 'price'",
        ),
        ("--blocking city --blocking city", "--blocking names 'city' twice; name each column once"),
    ],
)
def test_errors(run, guides, arguments, error):
    outcome = run("pairs", "a.csv", *OPTIONS, "-o", "p.csv", *arguments.split())
    assert (outcome.code, outcome.err) == (1, f"error: {error}\n")


@pytest.mark.parametrize("option", ["--blocking city", "--one-to-one", "--columns city"])
def test_index__is_read_as_documents(run, here, guides, option):
    """Looking up knows of no blocks, nor of pairs that compete; so all texts are compared."""
    keep = ("--columns", "city,name")
    assert run("index", "build", "idx", "b.csv", "--kind", "documents", *OPTIONS, *keep).code == 0
    outcome = run(
        "pairs", "a.csv", "--against", "idx", *OPTIONS, *option.split(), "-o", "p.csv", "--json"
    )
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["method"] == "exact"
    outcome = run(
        *("pairs", "a.csv", "--against", "idx", *OPTIONS, *option.split()),
        *("--method", "minhash", "-o", "q.csv"),
    )
    name = option.split()[0]
    assert outcome.err == (
        f"error: {name} has no effect with an index; leave it out, or choose --method exact\n"
    )
