from __future__ import annotations

import json

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import neardup

SIX = "one two three four five six" + ", " * 9
ROWS = [
    {"id": "a", "text": SIX},
    {"id": "b", "text": "nothing like it"},
    {"id": "c", "text": "One two three four five seven"},
    {"id": "d", "text": "..."},
]
OTHERS = [{"id": "a", "text": SIX}, {"id": "x", "text": f"{SIX} seven eight"}]
SHARES = ["id_a", "id_b", "similarity", "error", "low", "high"]
COLUMNS = {
    "minhash": [*SHARES, "samples", "exact_copy"],
    "weighted": [*SHARES, "samples", "exact_copy"],
    "smallest": [*SHARES, "samples", "exact_copy"],
    "modulo": [
        *SHARES,
        *("containment_a", "containment_a_error", "containment_a_low", "containment_a_high"),
        *("containment_b", "containment_b_error", "containment_b_low", "containment_b_high"),
        *("samples", "exact_copy"),
    ],
    "edit": [
        *("id_a", "id_b", "distance", "low", "high", "similarity", "significance"),
        "exact_copy",
    ],
}


@pytest.fixture
def make(run, write_file):
    """Make files of sketches, a.parquet and b.parquet."""
    for name, rows in (("a", ROWS), ("b", OTHERS)):
        write_file(f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def make(*options):
        for name in ("a", "b"):
            command = ("sketch", f"{name}.jsonl", "--id-column", "id", *options)
            assert run(*command, "-o", f"{name}.parquet").code == 0

    return make


def options_of(kind):
    more = {"weighted": (), "edit": ("--compression", 1)}
    return ("--kind", kind, *more.get(kind, ("--ngram", 1)))


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_estimate__each_kind(run, here, make, kind, suffix):
    make(*options_of(kind))
    outcome = run("estimate", "a.parquet", "-o", f"pairs.{suffix}")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[:2] == [f"4 documents, sketches of kind {kind}", "6 pairs"]
    expected = neardup.estimate("a.parquet").pairs
    assert expected.column_names == COLUMNS[kind]
    path = here / f"pairs.{suffix}"
    if suffix == "parquet":
        assert pq.read_table(path) == expected
    elif suffix == "csv":
        found = pyarrow.csv.read_csv(path)
        assert found.column_names == COLUMNS[kind]
        assert found["id_b"].to_pylist() == expected["id_b"].to_pylist()
    else:
        found = [json.loads(line) for line in path.read_text().splitlines()]
        assert found == expected.to_pylist()


@pytest.mark.parametrize("kind", COLUMNS)
def test_estimate__two_files_and_a_threshold(run, here, make, kind):
    make(*options_of(kind))
    command = ("estimate", "a.parquet", "b.parquet", "--threshold", "1")
    outcome = run(*command, "-o", "pairs.jsonl")
    lines = outcome.out.splitlines()
    assert lines[0] == f"4 documents and 2 documents, sketches of kind {kind}"
    assert lines[1] == "1 pair with an estimated similarity >= 1, 1 of exact copies"
    assert lines[-1].startswith("written to pairs.jsonl in ")
    [row] = [json.loads(line) for line in (here / "pairs.jsonl").read_text().splitlines()]
    assert (row["id_a"], row["id_b"], row["similarity"]) == ("a", "a", 1)


def test_estimate__exact_where_sketches_are_whole(run, here, make):
    make("--kind", "modulo", "--ngram", 1)
    run("estimate", "a.parquet", "b.parquet", "-o", "p.jsonl")
    rows = [json.loads(line) for line in (here / "p.jsonl").read_text().splitlines()]
    assert [(row["id_a"], row["id_b"]) for row in rows] == [(x, y) for x in "abcd" for y in "ax"]
    row = rows[1]
    assert (row["similarity"], row["low"], row["high"], row["error"]) == (6 / 8,) * 3 + (0,)
    assert (row["containment_a"], row["containment_b"], row["samples"]) == (1, 6 / 8, 8)


def test_estimate__pairs_without_enough_samples(run, here, make):
    make("--kind", "smallest", "--ngram", 1, "--size", 3)
    outcome = run("estimate", "a.parquet", "-o", "p.csv")
    assert outcome.out.splitlines()[2] == (
        "3 pairs of which a sketch has less than 20 samples: not enough information; a larger "
        "--size, or a smaller --modulus or --compression, tells more"
    )
    assert (here / "p.csv").read_text().splitlines()[1].startswith('"a","b",,,,,')


@pytest.mark.parametrize("output", ["a.parquet", "b.parquet"])
def test_estimate__never_replaces_an_input(run, here, make, output):
    make()
    before = (here / output).read_bytes()
    outcome = run("estimate", "a.parquet", "b.parquet", "-o", output, "--overwrite")
    message = f"{output} is an input, and would be replaced; choose another name"
    assert (outcome.code, outcome.err) == (1, f"error: {message}\n")
    assert (here / output).read_bytes() == before


def test_estimate__unlike_schemes(run, make):
    make()
    run("sketch", "b.jsonl", "--seed", "7", "--ngram", "3", "-o", "c.parquet")
    outcome = run("estimate", "a.parquet", "c.parquet", "-o", "p.csv")
    message = "made by unlike schemes: --ngram 5 and 3; --seed 42 and 7; make both with the same"
    assert outcome.code == 1
    assert outcome.err == f"error: {message} options\n"
    run("sketch", "b.jsonl", "--kind", "edit", "-o", "d.parquet")
    outcome = run("estimate", "a.parquet", "d.parquet", "-o", "p.csv")
    message = "made by unlike schemes: --kind 'minhash' and 'edit'; make both with the same options"
    assert outcome.err == f"error: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("a.parquet -o p", "the output file must end in .parquet, .csv, .jsonl, .xlsx, got 'p'"),
        ("a.parquet -o p.csv --limit 5", "more than 5 pairs: 6; raise --limit"),
        ("none.parquet -o p.csv", "none.parquet: cannot be read: No such file or directory"),
        ("a.parquet none.parquet -o p.csv", "none.parquet: cannot be read: No such file or direc"),
        ("a.jsonl -o p.csv", "a.jsonl: not a Parquet file, or a damaged one; make it with neardup"),
    ],
)
def test_estimate__refuses(run, here, make, arguments, error):
    make()
    outcome = run("estimate", *arguments.split())
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err.startswith(f"error: {error}")
    assert not list(here.glob("p.*"))
