from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import neardup
from tests.calls import grouped

ROWS = [
    {"id": "a", "text": "one two three four five six"},
    {"id": "b", "text": "nothing like it"},
    {"id": "c", "text": "One two three four five seven"},
    {"id": "d", "text": "..."},
]
KINDS = {
    "minhash": ("--ngram 1 --num-perm 64", {"ngram": 1, "num_perm": 64}),
    "weighted": ("--tf log --idf smooth", {"tf": "log", "idf": "smooth"}),
    "smallest": (
        "--ngram 2 --size 9 --fingerprint rabin",
        {"ngram": 2, "size": 9, "fingerprint": "rabin"},
    ),
    "modulo": (
        "--modulus 3 --occurrences numbered",
        {"modulus": 3, "occurrences": "numbered"},
    ),
    "edit": (
        "--compression 2 --casefold",
        {"compression": 2, "casefold": True},
    ),
}
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def rows(write_file):
    return write_file("rows.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))


@pytest.mark.usefixtures("rows")
@kinds
def test_sketch__file_as_of_sketches_in_memory(run, here, write_file, kind):
    """Documents are written as they come, also where the ids of a later file are no numbers."""
    lines = (json.dumps({"id": i, "text": f"{i} and two and three"}) + "\n" for i in range(40))
    write_file("numbers.jsonl", "".join(lines))
    options, named = KINDS[kind]
    inputs = ("numbers.jsonl", "rows.jsonl")
    command = ["sketch", *inputs, "--kind", kind, *options.split(), "--id-column", "id"]
    outcome = run(*command, "--seed", "7", "-o", "a.parquet")
    assert (outcome.code, outcome.err) == (0, "")
    found = neardup.sketch(
        [here / name for name in inputs], **grouped(seed=7, id_column="id", kind=kind, **named)
    )
    found.write(here / "b.parquet")
    data = (here / "a.parquet").read_bytes()
    assert data == (here / "b.parquet").read_bytes()
    first, *notes, last = outcome.out.splitlines()
    assert (first, last) == (
        f"44 sketches of kind {kind}",
        f"written to a.parquet, {len(data):,} bytes, {len(data) / 44:,.0f} a document",
    )
    n_empty = found.summary["empty_documents"]
    assert [note for note in notes if "without tokens" in note] == [
        f"{n_empty} document without tokens, similar to nothing"
    ] * bool(n_empty)
    said = json.loads(run(*command, "--json", "-o", "c.parquet").out)
    for name in ("documents", "empty_documents"):
        assert found.summary[name] == said[name]


@pytest.mark.usefixtures("rows")
def test_sketch__an_id_in_two_files(fails, here, write_file):
    rows = (ROWS[0] | {"id": 5}, ROWS[2])
    write_file("more.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    error = (
        "more.jsonl, row 2: id 'c' was used before, in rows.jsonl, row 3; ids must differ; name "
        "another column with --id-column, or '' for <file>:<row>"
    )
    command = ["sketch", "rows.jsonl", "more.jsonl", "--id-column", "id"]
    fails(*command, "-o", "a.parquet", error=error)
    assert not list(here.glob("*.parquet"))


@pytest.mark.parametrize("role", ["input", "folder"])
def test_sketch__never_replaces_an_input(run, here, rows, role):
    (here / "data").mkdir()
    path = here / "data" / "in.parquet"
    pq.write_table(pq.read_table(save(here, "x.parquet")), path)
    before = path.read_bytes()
    command = {
        "input": ["sketch", path],
        "folder": ["sketch", here / "data"],
    }[role]
    outcome = run(*command, "-o", path, "--overwrite")
    assert outcome.code == 1
    assert outcome.err == f"error: {path} is an input, and would be replaced; choose another name\n"
    assert path.read_bytes() == before


def save(here, name):
    import pyarrow as pa

    pq.write_table(pa.table({"text": ["one", "two"]}), here / name)
    return here / name


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("rows.jsonl -o a.csv", "a file of sketches must end in .parquet, got 'a.csv'"),
        ("none.jsonl -o a.parquet", "none.jsonl: no such file"),
        (
            "rows.jsonl -o a.parquet --size 9",
            "--size has no effect on sketches of --kind minhash; leave it out, or choose another "
            "--kind",
        ),
        (
            "rows.jsonl -o a.parquet --kind edit --ngram 9",
            "--ngram has no effect on sketches of --kind edit; leave it out, or choose another "
            "--kind",
        ),
        (
            "rows.jsonl -o a.parquet --kind modulo --size 9 --modulus 2",
            "--size has no effect with a --modulus; leave it out, or leave out --modulus",
        ),
    ],
)
def test_sketch__refuses(run, here, rows, arguments, error):
    outcome = run("sketch", *arguments.split())
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err.startswith(f"error: {error}")
    assert outcome.err.count("\n") == 1
    assert [path.name for path in here.iterdir()] == ["rows.jsonl"]
