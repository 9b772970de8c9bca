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


def test_pairs__json_and_quiet(run, rows):
    outcome = run("pairs", "rows.jsonl", *OPTIONS, "-o", "p.csv", "--json")
    summary = json.loads(outcome.out)
    assert (summary["pairs"], summary["empty_documents"]) == (1, 1)
    assert summary["filters"]["results"] == 1
    assert run("pairs", "rows.jsonl", "-o", "q.csv", "--quiet").out == ""


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("-o p.txt", "the output file must end in .parquet, .csv, .jsonl, .xlsx, got 'p.txt'"),
        ("-o rows.jsonl", "rows.jsonl exists; choose another name, or replace it with --overwrite"),
        (
            "-o p.csv --measure overlap --threshold 0.8",
            "an overlap's threshold must be a whole number, 1 or more, got 0.8",
        ),
        (
            "-o p.csv --max-distance 1 --threshold 0.5",
            "give either --max-distance or --threshold",
        ),
        (
            "-o p.csv --max-distance 1 --measure dice",
            "--max-distance is an edit distance; leave out --measure or choose --measure edit",
        ),
        *(
            (
                f"-o p.csv --{option}",
                f"--{option.split()[0]} has no effect with --method exact; leave it out, or choose "
                "--method minhash",
            )
            for option in ("recall 0.99",)
        ),
        ("-o p.csv --per-document", "--per-document needs --top, the number of partners"),
        (
            "-o p.csv --method minhash --measure edit",
            "--method minhash estimates Jaccard similarities; choose --method exact for edit "
            "distances",
        ),
        (
            "-o p.csv --method minhash --measure overlap --threshold 2",
            "--method minhash estimates Jaccard similarities; choose --method exact for an overlap",
        ),
        (
            "-o p.csv --against rows.jsonl --threshold 0.1 --ngram 1 --limit 4",
            "more than 4 pairs: 5; raise --limit, or ask for more similar pairs by a "
            "higher --threshold",
        ),
    ],
)
def test_pairs__errors(fails, rows, arguments, error):
    fails("pairs", "rows.jsonl", *arguments.split(), error=error)


def read_rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    "options",
    [
        "--threshold 0.01",
        "--measure overlap --threshold 1",
        "--max-distance 9",
        "--top 9 --threshold 0.1",
    ],
)
def test_pairs__texts_without_tokens_are_similar_to_nothing(run, here, write_file, options):
    write_file("rows.jsonl", '{"text": ""}\n{"text": ""}\n{"text": ""}\n')
    outcome = run("pairs", "rows.jsonl", *options.split(), "-o", "p.jsonl")
    assert outcome.out.startswith("3 documents: 0 pairs")
    assert read_rows(here / "p.jsonl") == []


def test_pairs__edit_distance(run, here, write_file):
    write_file("names.csv", "name\nMiller\nMuller\nMüller\nmiller\nSchmidt\n")
    options = ("--text-column", "name", "-o", "p.jsonl", "--overwrite")
    outcome = run("pairs", "names.csv", "--max-distance", 1, *options)
    assert outcome.out.splitlines()[0] == "5 documents: 4 pairs within 1 edit"
    assert read_rows(here / "p.jsonl")[0] == {
        "id_a": "names.csv:1",
        "id_b": "names.csv:2",
        "similarity": 5 / 6,
        "distance": 1,
    }
    options = (*options, "--measure", "edit", "--threshold", "1", "--casefold", "--strip-accents")
    outcome = run("pairs", "names.csv", *options)
    assert outcome.out.splitlines()[0] == "5 documents: 2 pairs with edit >= 1"
    assert [row["distance"] for row in read_rows(here / "p.jsonl")] == [0, 0]


def test_pairs__top(run, here, rows):
    options = ("--id-column", "id", "--ngram", 1, "-o", "p.jsonl", "--overwrite")
    outcome = run("pairs", "rows.jsonl", "--threshold", 0.2, "--top", 2, *options)
    assert (
        outcome.out.splitlines()[0] == "4 documents: 1 pair with jaccard >= 0.2, the 2 most similar"
    )
    assert read_rows(here / "p.jsonl") == [PAIR]
    partners = ("--threshold", 0.2, "--top", 1, "--per-document")
    outcome = run("pairs", "rows.jsonl", *partners, *options)
    first = "4 documents: 2 pairs with jaccard >= 0.2, the most similar of each document"
    assert outcome.out.splitlines()[0] == first
    assert [row["id_a"] for row in read_rows(here / "p.jsonl")] == ["a", "c"]


def test_pairs__minhash(run, here, rows):
    outcome = run("pairs", "rows.jsonl", *OPTIONS, "--method", "minhash", "-o", "p.jsonl")
    second = outcome.out.splitlines()[1]
    assert second.endswith("find a pair at the threshold with probability 0.9906")
    assert read_rows(here / "p.jsonl") == [PAIR]
    summary = json.loads(
        run("pairs", "rows.jsonl", *OPTIONS, "--method", "minhash", "-o", "q.csv", "--json").out
    )
    assert summary["predicted_recall"] == pytest.approx(0.9906, abs=1e-4)
    assert summary["filters"] == {"verified": 1, "results": 1}
