"""What every command says at the end of documents and rows that it has left out."""

from __future__ import annotations

import json

import pytest

LONG = "one two three four five six seven eight"
TEXTS = [LONG, LONG + " nine", "just three words", "only two", "", "..."]
NAMES = ["Ada Lovelace", "Alan Turing", "Grace Hopper", LONG]
SHORT = "similar only to equal ones"


@pytest.fixture
def rows(write_file):
    """Write texts, and names, and two bad rows behind either."""

    def write(name: str, texts: list[str]) -> None:
        good = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        write_file(name, good + '{"text": 5}\n{}\n')

    write("texts.jsonl", TEXTS)
    write("names.jsonl", NAMES)


def notes(run, *arguments: object) -> list[str]:
    """Return the notes of a report: what stands before its last line and is about some rows."""
    outcome = run(*arguments, "--on-error", "skip")
    assert (outcome.code, outcome.err) == (0, "")
    words = ("shorter", "without tokens", "skipped", "single shingle", "--min-tokens")
    return [line for line in outcome.out.splitlines() if any(word in line for word in words)]


def test_dedup(run, rows):
    assert notes(run, "dedup", "texts.jsonl", "-o", "out") == [
        "2 documents without tokens, similar to nothing",
        f"2 documents shorter than 5 tokens, {SHORT}",
        "2 bad rows skipped; see skipped/ and skipped.parquet (reasons)",
    ]
    assert notes(run, "dedup", "names.jsonl", "-o", "names") == [
        f"3 documents shorter than 5 tokens, {SHORT}",
        "2 bad rows skipped; see skipped/ and skipped.parquet (reasons)",
    ]


def test_pairs(run, rows):
    assert notes(run, "pairs", "texts.jsonl", "-o", "a.csv") == [
        "2 documents without tokens, similar to nothing",
        f"2 documents shorter than 5 tokens, {SHORT}",
        "2 bad rows skipped; --json lists them",
    ]
    assert notes(run, "pairs", "names.jsonl", "-o", "b.csv", "--ngram", "3") == [
        f"3 documents shorter than 3 tokens, {SHORT}",
        "2 bad rows skipped; --json lists them",
    ]
    # Strings are compared as they are, however short.
    assert notes(run, "pairs", "names.jsonl", "-o", "c.csv", "--max-distance", "2") == [
        "2 bad rows skipped; --json lists them"
    ]


def test_sketch(run, rows):
    assert notes(run, "sketch", "texts.jsonl", "-o", "a.parquet") == [
        "2 documents without tokens, similar to nothing",
        f"2 documents of a single shingle, 5 tokens or fewer, {SHORT}",
        "2 bad rows skipped; --json lists them",
    ]
    assert notes(run, "sketch", "names.jsonl", "-o", "b.parquet", "--kind", "smallest") == [
        f"3 documents of a single shingle, 5 tokens or fewer, {SHORT}",
        "2 bad rows skipped; --json lists them",
    ]
    for options in (["--ngram", "1"], ["--kind", "edit"]):
        assert notes(run, "sketch", "names.jsonl", "-o", "c.parquet", "--overwrite", *options) == [
            "2 bad rows skipped; --json lists them"
        ]


def test_index_and_search(run, rows):
    for command in (["build", "--min-tokens", "4"], ["add", "--id-column", "text"]):
        outcome = notes(run, "index", command[0], "idx", "texts.jsonl", *command[1:])
        assert outcome == [
            "2 documents without tokens, similar to nothing",
            "2 documents shorter than --min-tokens",
            "2 bad rows skipped; --json lists them",
        ]
    assert notes(run, "search", "idx", "texts.jsonl", "-o", "a.csv") == [
        "2 documents without tokens, similar to nothing",
        "2 documents shorter than --min-tokens",
        "2 bad rows skipped; --json lists them",
    ]


def test_align(run, rows):
    options = ("--min-tokens", "6", "-o", "a.csv", "--json", "--on-error", "skip")
    outcome = run("align", "names.jsonl", "--against", "texts.jsonl", *options)
    summary = json.loads(outcome.out)
    assert summary["short_documents"] == [3, 2]
    assert summary["empty_documents"] == [0, 2]
    # Of both collections: OTHER is read first.
    assert summary["skipped_rows"] == 4
    skipped = [(row["file"], row["row"]) for row in summary["skipped"]]
    assert skipped == [
        ("texts.jsonl", 7),
        ("texts.jsonl", 8),
        ("names.jsonl", 5),
        ("names.jsonl", 6),
    ]
    arguments = ("align", "names.jsonl", "--against", "texts.jsonl", "--overwrite", *options[:4])
    assert notes(run, *arguments) == [
        "2 documents without tokens, similar to nothing",
        "5 documents shorter than 6 tokens",
        "4 bad rows skipped; --json lists them",
    ]


def test_nothing_left_out(run, write_file):
    write_file("a.jsonl", json.dumps({"text": LONG}) + "\n")
    for command in (["dedup"], ["pairs"], ["sketch"], ["align", "--against", "a.jsonl"]):
        options = ["--min-tokens", "6"] if command[0] == "align" else []
        name = {"dedup": "out", "sketch": "a.parquet"}.get(command[0], f"{command[0]}.csv")
        assert notes(run, *command, "a.jsonl", "-o", name, *options) == []


@pytest.mark.parametrize("command", ["dedup", "pairs", "cut", "align", "drop", "search"])
def test_help__what_memory_bounds(run, command):
    said = " ".join(run(command, "--help").out.split())
    assert "Memory budget, such as 4GB. It covers tables, blocks and sorts" in said
    assert "9 times the longest row come on top" in said
