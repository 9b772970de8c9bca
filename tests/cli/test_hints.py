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
        unlike = ("a b c d e f g h i j", "k l m n o p q r s t")
        write_file("unlike.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in unlike))
        tweets = ("so good to see you", "so good to meet you", "so good to see you")
        for name, texts in (("tweets", tweets), ("retweets", tweets[::2]), ("words", "ab")):
            lines = (json.dumps({"text": text}) + "\n" for text in texts)
            write_file(f"{name}.jsonl", "".join(lines))
        write_file("two.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in tweets[:2]))
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


ALIGN = "`neardup align` finds the passages that texts share"
DEDUP = ("dedup", "-o", "out")
PAIRS = ("pairs", "-o", "pairs.csv")
NO_ROWS = "INPUT has no rows, so there was nothing to compare"
MOST = "--measure max-containment --top 20` lists the pairs that have most in common"

NO_DOCUMENTS = "DIR has no documents; `neardup index add` adds some"
FEW_TOKENS = (
    "texts have fewer than 10 tokens in the mean, where one other token can change all 5-grams: a "
    "smaller --ngram"
)

HINTS = [
    ((*DEDUP, "empty.jsonl"), NO_ROWS),
    ((*PAIRS, "empty.jsonl"), NO_ROWS),
    (("cut", "empty.jsonl", "-o", "out"), NO_ROWS),
    (("align", "empty.jsonl", "-o", "a.csv"), NO_ROWS),
    (
        ("align", "one.jsonl", "--against", "empty.jsonl", "-o", "a.csv"),
        "OTHER has no rows, so there was nothing to compare with",
    ),
    (
        ("search", "idx", "empty.jsonl", "-o", "a.csv"),
        "QUERY has no rows, so there was nothing to look for",
    ),
    (
        ("search", "documents", "empty.jsonl", "-o", "a.csv"),
        "QUERY has no rows, so there was nothing to look for",
    ),
    ((*PAIRS, "empty.jsonl", "--against", "essays.jsonl"), NO_ROWS),
    (
        (*DEDUP, "essays.jsonl"),
        f"no two texts are as similar as 0.8: {ALIGN}; `neardup pairs {MOST}",
    ),
    (
        (*DEDUP, "records.jsonl", "--method", "exact", "--threshold", "0.4"),
        "no two texts are as similar as 0.4: a lower --threshold counts more documents as similar",
    ),
    ((*DEDUP, "tweets.jsonl"), f"{FEW_TOKENS} or --tokenizer characters compares short texts"),
    ((*DEDUP, "two.jsonl"), f"{FEW_TOKENS} or --tokenizer characters compares short texts"),
    (
        (*PAIRS, "two.jsonl"),
        f"{FEW_TOKENS}, --tokenizer characters or --max-distance compares short texts",
    ),
    (
        (*PAIRS, "essays.jsonl"),
        "no two texts are that similar as a whole: --measure max-containment --top 20 lists the "
        f"pairs that have most in common; {ALIGN}",
    ),
    (
        (*PAIRS, "records.jsonl"),
        "--top 20 lists the most similar pairs, whatever their similarity",
    ),
    (
        (*PAIRS, "records.jsonl", "--measure", "containment"),
        "--top 20 without a threshold lists the pairs that come nearest",
    ),
    (
        (*PAIRS, "names.jsonl", "--max-distance", "0"),
        "--top 20 without a threshold lists the pairs that come nearest",
    ),
    (
        (*PAIRS, "records.jsonl", "--top", "3", "--threshold", "0.9"),
        "without --threshold and --max-distance --top lists whatever pairs come nearest",
    ),
    (
        (*PAIRS, "records.jsonl", "--top", "3", "--ngram", "9"),
        "no two texts have 9 tokens in a row in common: a smaller --ngram or --tokenizer "
        "characters compares more loosely",
    ),
    (
        ("align", "essays.jsonl", "--against", "records.jsonl", "-o", "a.csv", "--min-tokens", 8),
        "nothing is shared: a smaller --min-tokens finds shorter passages, a lower --threshold "
        "less similar ones",
    ),
    (
        ("align", "one.jsonl", "-o", "a.csv"),
        "one document alone shares nothing: name others, with --against those of another "
        "collection, or --within for passages that it has twice",
    ),
    (
        ("align", "one.jsonl", "--within", "-o", "a.csv"),
        "nothing is shared: a smaller --min-tokens finds shorter passages, a lower --threshold "
        "less similar ones",
    ),
    (
        ("align", "records.jsonl", "--against", "idx", "-o", "a.csv"),
        "nothing is shared: an index of a smaller --min-tokens finds shorter passages, a lower "
        "--threshold less similar ones",
    ),
    (
        (
            "align",
            "records.jsonl",
            "--against",
            "copies.jsonl",
            "-o",
            "a.csv",
            "--min-tokens",
            6,
            "--max-documents",
            1,
        ),
        "a higher --max-documents finds what more documents share",
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
        "no estimate reaches 0.9: a lower --threshold, or none, shows more",
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


def test_hint__what_it_names_finds_the_essays(run, files):
    """The two that share a passage; by default there was no pair."""
    options = ("--measure", "max-containment", "--top", "20", "--id-column", "id")
    run(*PAIRS, "essays.jsonl", *options)
    with open("pairs.csv", encoding="utf-8") as file:
        pairs = [line.split(",")[:2] for line in file.read().splitlines()[1:]]
    assert pairs == [['"3"', '"7"']]
