from __future__ import annotations

import json

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

ROWS = [
    {"id": "a", "text": "one two three four five six"},
    {"id": "b", "text": "nothing like it"},
    {"id": "c", "text": "One two three four five seven"},
    {"id": "d", "text": "..."},
]
OPTIONS = ("--ngram", "1", "--threshold", "0.7", "--id-column", "id")
PAIR = {"id_a": "a", "id_b": "c", "similarity": 5 / 7, "overlap": 5}


@pytest.fixture
def rows(write_file):
    return write_file("rows.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_pairs__formats(run, here, rows, suffix):
    outcome = run("pairs", "rows.jsonl", *OPTIONS, "-o", f"pairs.{suffix}")
    assert outcome.out.splitlines()[0] == "4 documents: 1 pair with jaccard >= 0.7"
    assert outcome.code == 0
    path = here / f"pairs.{suffix}"
    if suffix == "jsonl":
        found = [json.loads(line) for line in path.read_text().splitlines()]
    elif suffix == "csv":
        found = pyarrow.csv.read_csv(path).to_pylist()
    else:
        found = pq.read_table(path).to_pylist()
    assert found == [PAIR]
    assert sorted(p.name for p in here.iterdir()) == [f"pairs.{suffix}", "rows.jsonl"]


def test_pairs__against(run, here, rows, write_file):
    write_file("old.jsonl", json.dumps({"id": "a", "text": "one two three four five six!"}))
    run("pairs", "rows.jsonl", "--against", "old.jsonl", *OPTIONS, "-o", "p.jsonl")
    found = [json.loads(line) for line in (here / "p.jsonl").read_text().splitlines()]
    assert [(row["id_a"], row["id_b"], row["overlap"]) for row in found] == [
        ("a", "a", 6),
        ("c", "a", 5),
    ]


def test_pairs__json_and_stats(run, rows):
    outcome = run("pairs", "rows.jsonl", *OPTIONS, "-o", "p.csv", "--json")
    summary = json.loads(outcome.out)
    assert (summary["pairs"], summary["empty_documents"]) == (1, 1)
    assert summary["filters"]["results"] == 1
    outcome = run("pairs", "rows.jsonl", *OPTIONS, "-o", "p.csv", "--overwrite", "--stats")
    assert "pairs verified" in outcome.out
    assert run("pairs", "rows.jsonl", "-o", "q.csv", "--quiet").out == ""


@pytest.mark.parametrize("algorithm", ["allpairs", "ppjoin", "ppjoin+"])
def test_pairs__algorithms_agree(run, here, rows, algorithm):
    run("pairs", "rows.jsonl", *OPTIONS, "--algorithm", algorithm, "-o", "p.jsonl")
    assert json.loads((here / "p.jsonl").read_text()) == PAIR


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("-o p.txt", "the output file must end in .parquet, .csv, .jsonl, got 'p.txt'"),
        ("-o rows.jsonl", "rows.jsonl exists; choose another name, or replace it with --overwrite"),
        ("-o p.csv --threshold 0", "threshold must lie in (0, 1], got 0"),
        (
            "-o p.csv --measure overlap --threshold 0.8",
            "an overlap's threshold must be a whole number, 1 or more, got 0.8",
        ),
        (
            "-o p.csv --measure overlap --threshold 0",
            "an overlap's threshold must be a whole number, 1 or more, got 0",
        ),
        ("-o p.csv --limit 0", "limit must be at least 1, got 0"),
        (
            "-o p.csv --against rows.jsonl --threshold 0.1 --ngram 1 --limit 4",
            "more than 4 pairs: 5; raise the limit or the threshold",
        ),
        (
            "-o p.csv --text-column body",
            "rows.jsonl, row 1: no column 'body'; columns are 'id', 'text'",
        ),
        (
            "-o absent/p.csv",
            "cannot write absent/p.csv: No such file or directory; nothing was written",
        ),
    ],
)
def test_pairs__errors(fails, rows, arguments, error):
    fails("pairs", "rows.jsonl", *arguments.split(), error=error)
