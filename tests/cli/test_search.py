from __future__ import annotations

import json

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

DOCUMENTS = [
    {"id": "a", "text": "nothing, One two three — four five six; nothing more"},
    {"id": "b", "text": "something else entirely, for whoever reads it"},
]
QUERIES = [
    {"id": "long", "text": "one two three four five seven"},
    {"id": "short", "text": "One two"},
    {"id": "none", "text": "..."},
]
HIT = {
    "query_id": "long",
    "query_start": 0,
    "query_end": 29,
    "doc_id": "a",
    "doc_start": 9,
    "doc_end": 34,
    "similarity": 5 / 6,
}
TEXTS = {
    "query_text": "one two three four five seven",
    "doc_text": "One two three — four five",
}


def lines_of(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(autouse=True)
def index(run, write_file, once) -> None:
    def make() -> None:
        write_file("documents.jsonl", lines_of(DOCUMENTS))
        write_file("queries.jsonl", lines_of(QUERIES))
        options = ("--id-column", "id", "--min-tokens", "4", "--quiet")
        assert run("index", "build", "idx", "documents.jsonl", *options).code == 0

    once(make)


def search(run, output, *options):
    command = ("search", "idx", "queries.jsonl", "--id-column", "id", "-o", output)
    outcome = run(*command, *options)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


def test_search__formats_and_report(run, here):
    report = search(run, "hits.jsonl").splitlines()
    assert report[:-1] == [
        "1 passage for 1 of 3 queries",
        "a passage at the threshold is found with probability 0.9949",
        "1 document without tokens, similar to nothing",
        "1 document shorter than --min-tokens",
    ]
    assert report[-1].startswith("written to hits.jsonl in ")
    rows = [json.loads(line) for line in (here / "hits.jsonl").read_text().splitlines()]
    assert rows == [HIT | TEXTS]
    search(run, "plain.jsonl", "--no-text")
    assert json.loads((here / "plain.jsonl").read_text()) == HIT
    search(run, "hits.csv")
    assert pyarrow.csv.read_csv(here / "hits.csv").to_pylist() == [HIT]
    search(run, "hits.parquet")
    assert pq.read_table(here / "hits.parquet").to_pylist() == [HIT]


def test_search__without_min_hashes(run, here):
    options = ("--id-column", "id", "--min-tokens", "4", "--num-perm", "0", "--quiet")
    assert run("index", "build", "bare", "documents.jsonl", *options).code == 0
    command = ("search", "bare", "queries.jsonl", "--id-column", "id")
    outcome = run(*command, "-o", "h.csv")
    assert outcome.out.splitlines()[1] == "a passage at the threshold is found for certain"
    assert pyarrow.csv.read_csv(here / "h.csv").to_pylist() == [HIT]


@pytest.mark.parametrize("place", ["idx/hits.csv", "link/hits.csv"])
def test_search__output_in_the_index(fails, here, place):
    (here / "link").symlink_to("idx")
    error = f"{place} is in the index idx; write it somewhere else"
    fails("search", "idx", "queries.jsonl", "-o", place, error=error)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            ("--threshold", "0.05", "--recall", "0.99"),
            "--recall 0.99 is out of reach at --threshold 0.05 with 64 hash functions; ask for "
            "less, or build the index with a greater --num-perm",
        ),
        (
            ("-o", "h.txt"),
            "the output file must end in .parquet, .csv, .jsonl, .xlsx, got 'h.txt'",
        ),
        (("--overwrite", "-o", "queries.jsonl"),
         "queries.jsonl is an input, and would be replaced; choose another name"),
        (("-o", "queries.jsonl"),
         "queries.jsonl exists; choose another name, or replace it with --overwrite"),
    ],
)  # fmt: skip
def test_search__bad_options(fails, options, error):
    output = () if "-o" in options else ("-o", "o.csv")
    fails("search", "idx", "queries.jsonl", *output, *options, error=error)


def test_search__the_most_similar_documents(run, fails, here, write_file):
    rows = [("a", "one two three four"), ("b", "one two three five"), ("c", "one six seven eight")]
    write_file("rows.jsonl", lines_of({"id": key, "text": text} for key, text in rows))
    bands = ("--ngram", "1", "--bands", "40x1", "--threshold", "0.4", "--quiet")
    assert run("index", "build", "docs", "rows.jsonl", "--kind", "documents", *bands).code == 0
    write_file("asked.jsonl", lines_of([{"id": "q", "text": "one two three four nine ten"}]))
    asked = ("search", "docs", "asked.jsonl", "-o", "found.jsonl", "--overwrite")
    found = []
    for limit in ("2", "1"):
        outcome = run(*asked, "--limit", limit)
        assert outcome.out.startswith(f"{limit} document")
        found += map(json.loads, (here / "found.jsonl").read_text().splitlines())
    assert [(row["doc_id"], row["similarity"]) for row in found] == [
        ("a", 4 / 6),
        ("b", 3 / 7),
        ("a", 4 / 6),
    ]
    error = "--limit has no effect on passages; leave it out, or search an index of documents"
    fails("search", "idx", "queries.jsonl", "-o", "found.csv", "--limit", "1", error=error)
