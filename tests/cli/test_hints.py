"""What a command says to try where its result is empty, and what then is found."""

from __future__ import annotations

import json
import random

import pytest

RANDOM = random.Random(3)
WORDS = [f"w{i}" for i in range(3000)]


def words(n: int) -> str:
    return " ".join(RANDOM.choices(WORDS, k=n))


SHARED = words(80)
ESSAYS = [words(300) + (" " + SHARED if i in (3, 7) else "") for i in range(12)]
# Half of the first is in the second.
RECORDS = [
    "one two three four five six seven eight nine ten",
    "one two three four five six seven eight x y z aa bb",
    "nothing of this is in any of those two texts",
]
NAMES = ["Ada Lovelace", "Ada Lovelase", "Grace Hopper"]


@pytest.fixture
def files(run, write_file, once):
    def make():
        for name, texts in (("essays", ESSAYS), ("records", RECORDS), ("names", NAMES)):
            lines = (
                json.dumps({"id": f"{i}", "text": text}) + "\n" for i, text in enumerate(texts)
            )
            write_file(f"{name}.jsonl", "".join(lines))
        write_file("one.jsonl", json.dumps({"text": ESSAYS[0]}) + "\n")
        write_file("copies.jsonl", 2 * (json.dumps({"text": RECORDS[0]}) + "\n"))
        write_file("empty.jsonl", "")
        write_file("ids.txt", "no such id\n")
        write_file("one.txt", "one.jsonl:1\n")
        write_file("header.csv", "id,text\n")
        for kind in ("passages", "documents"):
            assert run("index", "build", f"no {kind}", "--kind", kind).code == 0
        assert run("index", "build", "idx", "essays.jsonl", "--min-tokens", "8").code == 0
        assert run("index", "build", "documents", "one.jsonl", "--kind", "documents").code == 0
        assert run("sketch", "essays.jsonl", "-o", "a.parquet").code == 0

    once(make)


def report(run, *arguments: object) -> list[str]:
    outcome = run(*arguments, "--overwrite")
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.splitlines()


DEDUP = ("dedup", "-o", "out")
PAIRS = ("pairs", "-o", "pairs.csv")
NO_ROWS = "INPUT has no rows, so there was nothing to compare"
SIMILAR = "nothing is similar: a lower --threshold or a smaller --ngram finds more"
OF_DEDUP = f"{SIMILAR}, `neardup align` finds the passages that texts share"
OF_PAIRS = f"{SIMILAR}, --top 20 without a threshold the most similar pairs"
NO_DOCUMENTS = "DIR has no documents; `neardup index add` adds some"
NO_QUERIES = "QUERY has no rows, so there was nothing to find"
SHORTER = "nothing is shared: a smaller --min-tokens"

HINTS = [
    ((*DEDUP, "empty.jsonl"), NO_ROWS),
    ((*PAIRS, "empty.jsonl"), NO_ROWS),
    (("cut", "empty.jsonl", "-o", "out"), NO_ROWS),
    (("align", "empty.jsonl", "-o", "a.csv"), NO_ROWS),
    (
        ("align", "one.jsonl", "--against", "empty.jsonl", "-o", "a.csv"),
        "OTHER has no rows, so there was nothing to compare with",
    ),
    (("search", "idx", "empty.jsonl", "-o", "a.csv"), NO_QUERIES),
    (("search", "documents", "empty.jsonl", "-o", "a.csv"), NO_QUERIES),
    ((*PAIRS, "empty.jsonl", "--against", "essays.jsonl"), NO_ROWS),
    ((*DEDUP, "essays.jsonl"), OF_DEDUP),
    ((*PAIRS, "essays.jsonl"), OF_PAIRS),
    (
        (*PAIRS, "essays.jsonl", "--max-distance", 1),
        "nothing is similar: a larger --max-distance finds more, --top 20 without it the most "
        "similar pairs",
    ),
    (
        ("align", "essays.jsonl", "--against", "records.jsonl", "-o", "a.csv", "--min-tokens", 8),
        f"{SHORTER} or a lower --threshold finds more",
    ),
    (
        ("align", "one.jsonl", "-o", "a.csv"),
        "one document alone shares nothing: name others, or give --within",
    ),
    (
        ("align", "records.jsonl", "--against", "idx", "-o", "a.csv"),
        "nothing is shared: an index of a smaller --min-tokens or a lower --threshold finds more",
    ),
    (
        (
            *("align", "records.jsonl", "--against", "copies.jsonl", "-o", "a.csv"),
            *("--min-tokens", 6, "--max-documents", 1),
        ),
        f"{SHORTER} or a higher --max-documents finds more",
    ),
    (
        ("search", "idx", "records.jsonl", "-o", "hits.csv"),
        "queries are looked for as a whole: a lower --threshold finds less similar passages, "
        "`neardup align` parts of queries",
    ),
    *(
        (("search", empty, "essays.jsonl", "-o", "a.csv"), NO_DOCUMENTS)
        for empty in ("no passages", "no documents")
    ),
    (
        ("drop", "names.jsonl", "--named-in", "header.csv", "-o", "out"),
        "the table of --named-in has no rows, so nothing is named, and all documents stay",
    ),
    (
        ("estimate", "a.parquet", "--threshold", "0.9", "-o", "pairs.csv"),
        "nothing is similar: a lower --threshold, or none, shows more",
    ),
    (
        ("drop", "names.jsonl", "--named-in", "ids.txt", "--missing", "ignore", "-o", "out"),
        "no document has one of these ids: give INPUT and --id-column as when the ids were made, "
        "or choose another --column",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "hint"), HINTS)
def test_hint(run, files, arguments, hint):
    *_, hinted, last = report(run, *arguments)
    assert hinted == hint
    assert last.startswith("written to ")
