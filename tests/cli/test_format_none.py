"""``--format none``: the tables of a run without its rows, and ``drop`` that applies them later."""

from __future__ import annotations

import json

import pytest

TEXTS = [
    "the quick brown fox jumps over the lazy dog again and again",
    "the quick brown fox jumps over the lazy dog again and again and",
    "nothing of the kind stands in this text which is on its own here",
]
ROWS = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
RUNS = {
    "dedup": ["dedup", "a.jsonl"],
    "dedup in files": ["dedup", "a.jsonl", "--memory", "64MB", "--work", "work"],
    "cut": ["cut", "a.jsonl", "--min-tokens", "5"],
    "cut of equal passages": ["cut", "a.jsonl", "--exact", "--min-tokens", "5"],
    "drop": ["drop", "a.jsonl", "--named-in", "ids.txt"],
}


@pytest.fixture
def collection(run, here, write_file):
    write_file("a.jsonl", ROWS)
    write_file("ids.txt", b"a.jsonl:2\n")
    (here / "work").mkdir()
    return here


def summary_of(folder):
    summary = json.loads((folder / "summary.json").read_text())
    return {
        name: value
        for name, value in summary.items()
        if name not in {"seconds", "peak_memory_bytes", "digest", "output_format"}
    }


@pytest.mark.parametrize("name", RUNS)
def test_tables(run, collection, name):
    assert run(*RUNS[name], "-o", "all").code == 0
    outcome = run(*RUNS[name], "-o", "tables", "--format", "none")
    assert (outcome.code, outcome.err) == (0, "")
    tables = sorted(path.name for path in (collection / "all").glob("*.parquet"))
    assert "removed.parquet" in tables
    written = sorted(path.name for path in (collection / "tables").iterdir())
    assert written == [*tables, "summary.json"]
    for table in tables:
        found, expected = (collection / folder / table for folder in ("tables", "all"))
        assert found.read_bytes() == expected.read_bytes()
    assert summary_of(collection / "tables") == summary_of(collection / "all")
    assert json.loads((collection / "tables/summary.json").read_text())["output_format"] is None


@pytest.mark.parametrize("job", ["dedup", "drop"])
def test_drop__applies_what_was_decided(run, collection, read_tree, job):
    assert run(*RUNS[job], "-o", "all").code == 0
    assert run(*RUNS[job], "-o", "tables", "--format", "none").code == 0
    outcome = run("drop", "a.jsonl", "--named-in", "tables", "-o", "dropped")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("3 documents: 2 kept, 1 removed\n")
    for side in ("kept", "removed"):
        found, expected = (read_tree(collection / name / side) for name in ("dropped", "all"))
        assert found == expected


def test_drop__refuses_the_folder_of_a_cut(run, collection):
    assert run(*RUNS["cut"], "-o", "tables", "--format", "none").code == 0
    outcome = run("drop", "a.jsonl", "--named-in", "tables", "-o", "dropped")
    assert outcome.code == 1
    assert "error: tables: it is that of `neardup cut`" in outcome.err


@pytest.mark.parametrize(
    "command", [["explain", "tables", "a.jsonl:2"], ["report", "tables", "-o", "p.html"]]
)
def test_what_needs_rows(run, collection, command):
    assert run(*RUNS["dedup"], "-o", "tables", "--format", "none").code == 0
    outcome = run(*command)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        "error: tables: it has tables only, and this needs its rows; run `neardup dedup` without "
        "--format none\n"
    )
