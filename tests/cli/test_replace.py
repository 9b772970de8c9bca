"""Every job that cuts texts, or counts edits, replaces words first."""

from __future__ import annotations

import csv
import json

import pytest

import neardup
from tests.each import each_of

OURS = "id,name,street\n1,Acme Inc.,12 Main St.\n2,Meier GmbH,4 Hill Rd\n"
THEIRS = 'id,name,street\n3,"Acme, Inc",12 Main Street\n4,Meier,4 hill Road\n'
WORDS = "St. -> Street\nRd\tRoad\nGmbH ->\n, Inc. ->\n"
COLUMNS = ("--text-column", "name", "--text-column", "street", "--id-column", "id")


@pytest.fixture
def files(here):
    """Write two lists of firms, and what stands for their words."""
    (here / "ours.csv").write_text(OURS)
    (here / "theirs.csv").write_text(THEIRS)
    (here / "words.txt").write_text(WORDS)
    (here / "other.txt").write_text("Hill -> Mount\n")
    return here


def pairs_in(path):
    with path.open() as file:
        return {
            (row["id_a"], row["id_b"]): float(row["similarity"]) for row in csv.DictReader(file)
        }


@each_of(
    "how",
    [
        (*COLUMNS, "--ngram", "1", "--threshold", "1"),
        (*COLUMNS, "--tokenizer", "characters", "--casefold", "--threshold", "1"),
        (*COLUMNS, "--casefold", "--measure", "edit", "--threshold", "1"),
        (*COLUMNS, "--casefold", "--max-distance", "0"),
        ("--field", "name:1:exact", "--field", "street:1:edit", "--threshold", "1"),
        (*COLUMNS, "--ngram", "1", "--threshold", "0.1", "--also", "street:edit:1", "--casefold"),
    ],
)
def test_pairs__found_with_it_and_not_without(run, files, how):
    command = ("pairs", "ours.csv", "--against", "theirs.csv", *how, "--overwrite")
    assert run(*command, "-o", "plain.csv").code == 0
    assert run(*command, "-o", "found.csv", "--replace", "words.txt").code == 0
    assert pairs_in(files / "plain.csv") == {}
    found = pairs_in(files / "found.csv")
    ids = {("1", "3"), ("2", "4")} if "--field" not in how else {("0", "0"), ("1", "1")}
    assert len(found) == len(ids)
    assert set(found.values()) == {1}


def test_dedup__and_what_explains_it(run, files):
    command = ("dedup", "ours.csv", "theirs.csv", *COLUMNS, "--ngram", "1")
    assert run(*command, "-o", "plain").out.startswith("4 documents: 4 kept")
    printed = run(*command, "-o", "out", "--replace", "words.txt")
    assert printed.out.startswith("4 documents: 2 kept, 2 removed (2 exact copies")
    summary = json.loads((files / "out" / "summary.json").read_text())
    words = {"St.": "Street", "Rd": "Road", "GmbH": "", ", Inc.": ""}
    assert summary["scheme"]["replace"] == words
    # All that follows takes it from the summary.
    assert "it has the same tokens as 1" in run("explain", "out", "3").out
    assert run("report", "out", "-o", "page.html").code == 0
    page = (files / "page.html").read_text()
    assert "which of the words that stand for each other is there" in page


def test_index__keeps_the_words(run, files):
    made = run(
        *("index", "build", "idx", "ours.csv", "--kind", "documents", *COLUMNS),
        *("--ngram", "1", "--replace", "words.txt"),
    )
    assert made.code == 0
    (files / "words.txt").unlink()
    assert "replace: 4 words with what stands for each" in run("index", "info", "idx").out
    assert run("search", "idx", "theirs.csv", *COLUMNS, "-o", "hits.csv").code == 0
    with (files / "hits.csv").open() as file:
        assert [row["similarity"] for row in csv.DictReader(file)] == ["1.0", "1.0"]
    against = ("dedup", "theirs.csv", *COLUMNS, "--against", "idx")
    assert run(*against, "-o", "a").out.startswith("2 documents: 0 kept, 2 removed")
    (files / "words.txt").write_text(f"# as before\n{WORDS}")
    assert run(*against, "--replace", "words.txt", "-o", "b").out.startswith("2 documents: 0 kept")
    refused = run(*against, "--replace", "other.txt", "-o", "c")
    assert refused.code == 1
    only = "', Inc.' -> '', 'GmbH' -> '', 'Rd' -> 'Road' and 1 more"
    assert f"with --replace 4 entries (only there: {only}), got 1 entry (only" in refused.err
    # What both have alike is not named.
    (files / "other.txt").write_text(WORDS.replace("Road", "Rood"))
    refused = run(*against, "--replace", "other.txt", "-o", "c")
    made, got = (f"4 entries (only there: 'Rd' -> '{new}')" for new in ("Road", "Rood"))
    assert f"with --replace {made}, got {got}; leave out --replace, or build" in refused.err
    (files / "other.txt").write_text("Rd -> Road\n")
    refused = run(*against, "--replace", "other.txt", "-o", "c")
    assert "and 0 more" not in refused.err
    assert "', Inc.' -> '', 'GmbH' -> '', 'St.' -> 'Street'), got 1 entry; leave" in refused.err


def test_passages__places_are_those_of_the_texts(run, files):
    texts = {"a": "xx yy Meier GmbH, 12 Main St. zz", "b": "qq Meier 12 Main Street ww"}
    for name, text in texts.items():
        (files / f"{name}.txt").write_text(text)
    how = ("--min-tokens", "4", "--threshold", "0.9")
    expected = ("Meier GmbH, 12 Main St.", "Meier 12 Main Street")
    (files / "q.txt").write_text(expected[0])
    run("align", "a.txt", "--against", "b.txt", *how, "--replace", "words.txt", "-o", "found.csv")
    run("index", "build", "idx", "b.txt", "--min-tokens", "4", "--replace", "words.txt")
    (files / "words.txt").unlink()
    run("search", "idx", "q.txt", "--threshold", "0.9", "-o", "hits.csv")
    run("align", "a.txt", "--against", "idx", *how, "-o", "aligned.csv")
    for name in ("found.csv", "hits.csv", "aligned.csv"):
        with (files / name).open() as file:
            [row] = csv.DictReader(file)
        text = (files / row["query_id"]).read_text()
        found = text[int(row["query_start"]) : int(row["query_end"])]
        assert (found, texts["b"][int(row["doc_start"]) : int(row["doc_end"])]) == expected, name


def test_cut__takes_out_what_stands_there(run, files):
    repeated = ["Meier GmbH, 12 Main St. Ulm", "Meier, 12 Main Street Ulm"]
    rows = [{"text": f"{start}\n{line}\n"} for start, line in zip("ab", repeated, strict=True)]
    (files / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("cut", "in.jsonl", "--unit", "lines", "--exact", "--min-documents", "2")
    for kept, how in ((rows, ()), ([rows[0], {"text": "b\n"}], ("--replace", "words.txt"))):
        assert run(*command, *how, "-o", "out", "--overwrite").code == 0
        [path] = (files / "out" / "kept").iterdir()
        assert [json.loads(line)["text"] for line in path.read_text().splitlines()] == [
            row["text"] for row in kept
        ]


@each_of("kind", ["minhash", "edit"])
def test_sketches__of_other_words_are_not_compared(kind):
    sketches = [neardup.sketch(["a b"], kind=kind, replace=each) for each in (None, {"a": "c"})]
    assert sketches[1].scheme["replace"] == {"a": "c"}
    message = r"replace None and 1 entry \(only there: 'a' -> 'c'\); make both"
    with pytest.raises(neardup.SketchMismatchError, match=message):
        neardup.estimate(*sketches)
    assert neardup.estimate(sketches[1], neardup.sketch(["c b"], kind=kind, replace={"a": "c"}))


def test_compare__words_that_stand_for_others(run, files):
    (files / "a.txt").write_text("12 Main St.")
    (files / "b.txt").write_text("12 Main Street")
    found = json.loads(run("compare", "a.txt", "b.txt", "--json", "--replace", "words.txt").out)
    # All similarities, and the edits between them.
    assert {row["exact"] for row in found["measures"] if row["exact"] is not None} == {0, 1}
    assert found["measures"][0]["exact"] == 1
