"""``--where``: rows that count in every command, and what is said of the others."""

from __future__ import annotations

import json
import shlex

import pytest

import neardup
from tests.cli.every_command import ARGUMENTS, write_inputs
from tests.each import each_of

ROWS = [
    {"id": "a", "text": "one two three four five six", "n": 1, "m": {"lang": "en"}, "tags": ["x"]},
    {"id": "b", "text": "one two three four five six", "n": "2", "m": {"lang": "de"}, "tags": []},
    {"id": "c", "text": "one two three four five six", "n": None, "m": None, "tags": ["y"]},
    {"id": "d", "text": "seven eight nine ten eleven", "m.lang": "en", "tags": ["x", "y"]},
]


@pytest.fixture
def data(here):
    (here / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return here


def kept(folder):
    return [json.loads(line)["id"] for line in (folder / "kept/in.jsonl").read_text().splitlines()]


@pytest.mark.slow
@each_of(
    ("where", "ids"),
    [
        ("n > 1", "b"),
        ("n = '2'", "b"),
        ("not n = 1", "b"),
        ("m.lang = 'en'", "a"),
        ("\"m.lang\" = 'en'", "d"),
        ("tags[2] in ('y', 'z') or n = 2", "bd"),
        ("text like 'one%' and id <> 'a'", "bc"),
        ("1 = 1", "abcd"),
        ("null", ""),
        (" or ".join(f"n = {n}" for n in range(2000)), "ab"),
        ("\"id\" between 'b' and 'c'", "bc"),
    ],
)
def test_where(run, data, where, ids):
    outcome = run("dedup", "in.jsonl", "-o", "out", "--where", where, "--overwrite")
    assert outcome.code == 0, outcome.err
    summary = json.loads((data / "out/summary.json").read_text())
    # Copies of each other; the first of them stays.
    copies = [key for key in "abc" if key in ids]
    assert kept(data / "out") == [key for key in ids if key not in copies[1:]]
    assert (summary["where"], summary["filtered_rows"]) == (where, len(ROWS) - len(ids))
    n = len(ROWS) - len(ids)
    said = f"{n} row{'' if n == 1 else 's'} {'does' if n == 1 else 'do'} not meet --where"
    assert said + "\n" in outcome.out


def test_where__rows_keep_their_numbers(run, data):
    run("dedup", "in.jsonl", "-o", "out", "--where", "id <> 'a'", "--id-column", "")
    removed = neardup.deduplicate(
        "in.jsonl", read=neardup.ReadOptions(where="id <> 'a'", id_column="")
    ).removed
    assert removed["id"].to_pylist() == ["in.jsonl:3"]
    assert removed["kept_id"].to_pylist() == ["in.jsonl:2"]


@each_of(
    ("where", "message"),
    [
        ("", "--where must be"),
        ("n = ", "--where must be a condition such as status = 200 and lang in ('en', 'de')"),
        ("nn = 1", "--where: no column 'nn'; columns are "),
        ("meta.lang = 'en'", "no column 'meta'; columns are "),
        ('id = "a b"', "texts stand in single quotes"),
    ],
)
def test_where__errors(run, data, where, message):
    outcome = run("dedup", "in.jsonl", "-o", "out", "--where", where)
    assert outcome.code == 1
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert not (data / "out").exists()


def test_where__bad_rows_stay_bad(run, data):
    with (data / "in.jsonl").open("a") as file:
        file.write('no object\n{"id": "e", "text": 5, "n": 7}\n{"id": "f", "text": 5, "n": 1}\n')
    outcome = run("dedup", "in.jsonl", "-o", "out", "--where", "n = 1", "--on-error", "skip")
    assert outcome.code == 0, outcome.err
    summary = json.loads((data / "out/summary.json").read_text())
    assert (summary["documents_in"], summary["skipped_rows"]) == (1, 2)
    assert summary["filtered_rows"] == 4
    outcome = run("dedup", "in.jsonl", "-o", "out2", "--where", "n = 1")
    assert "in.jsonl, row 5: not a JSON object" in outcome.err


# Those that read INPUT, by what they say of its documents.
READING = [name for name, text in ARGUMENTS.items() if "in.jsonl" in text]


@pytest.mark.slow
@pytest.mark.parametrize("command", READING)
def test_where__of_every_command(run, here, command):
    write_inputs(here)
    (here / "in.jsonl").write_text(
        '{"text": "one two three", "id": "p"}\n{"text": "four five", "id": "q"}\n'
    )
    arguments = shlex.split(ARGUMENTS[command])
    if command == "index build":
        arguments += ["--min-tokens", "2"]
    outcome = run(*arguments, "--where", "id = 'q'", "--json")
    assert outcome.code == 0, outcome.err
    facts = json.loads(outcome.out)
    assert (facts["where"], facts["filtered_rows"]) == ("id = 'q'", 1)
    names = ("documents_in", "documents", "queries")
    counted = next(facts[name] for name in names if name in facts)
    assert (counted[0] if isinstance(counted, list) else counted) == 1


def test_where__is_of_input_alone(run, data):
    """The documents compared against may have no such column."""
    (data / "other.jsonl").write_text('{"id": "x", "text": "seven eight nine ten eleven"}\n')
    outcome = run("dedup", "in.jsonl", "--against", "other.jsonl", "-o", "out", "--where", "n = 1")
    assert outcome.code == 0, outcome.err
    summary = json.loads((data / "out/summary.json").read_text())
    assert (summary["documents_in"], summary["against_documents"]) == (1, 1)
