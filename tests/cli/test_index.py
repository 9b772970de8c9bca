from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from neardup.index.store import Database

ROWS = [
    {"id": "a", "text": "one two three four five six"},
    {"id": "b", "text": "One two three four five seven"},
    {"id": "c", "text": "..."},
    {"id": "d", "text": "one two"},
]
OPTIONS = ("--id-column", "id", "--min-tokens", "3", "--num-perm", "16")


def lines_of(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def index(run, write_file) -> str:
    write_file("rows.jsonl", lines_of(ROWS))
    outcome = run("index", "build", "idx", "rows.jsonl", *OPTIONS)
    assert outcome.code == 0
    first, *others = outcome.out.splitlines()
    assert first.startswith("4 documents with 14 tokens added to idx in ")
    assert others == [
        "1 document without tokens, similar to nothing",
        "1 document shorter than --min-tokens",
    ]
    return "idx"


def info(run, folder="idx"):
    return json.loads(run("index", "info", folder, "--json").out)


def test_index__add_remove_compact(run, here, index, write_file):
    write_file("more.jsonl", lines_of([{"id": "e", "text": "six five four three"}]))
    outcome = run("index", "add", "idx", "more.jsonl", "--id-column", "id", "--json")
    assert json.loads(outcome.out)["documents"] == 1
    write_file("gone.txt", "a\r\n\nd\n")
    outcome = run("index", "remove", "idx", "e", "--ids", "gone.txt")
    assert outcome.out == "3 documents removed; `neardup index compact idx` frees the disk space\n"
    found = info(run)
    assert (found["documents"], found["removed_documents"], found["segments"]) == (2, 3, 0)
    assert run("index", "compact", "idx").out == "idx now has 1 segment\n"
    found = info(run)
    assert (found["documents"], found["removed_documents"], found["segments"]) == (2, 0, 1)
    assert "2 documents, 6 tokens in 1 segment\n" in run("index", "info", "idx").out
    assert run("index", "remove", "idx", "b", "--quiet").out == ""
    summary = json.loads(run("index", "remove", "idx", "c", "--json").out)
    assert (summary["removed"], summary["documents"]) == (1, 0)
    summary = json.loads(run("index", "compact", "idx", "--json").out)
    assert (summary["segments"], summary["documents"]) == (0, 0)
    assert summary["freed_bytes"] > 0


@pytest.mark.parametrize("kind", ["documents", "passages"])
def test_build__without_input(run, fails, write_file, kind):
    """It makes an index to which documents can be added, and refuses what would do nothing."""
    outcome = run("index", "build", "idx", "--kind", kind)
    assert outcome.code == 0
    assert outcome.out == f"idx is an empty index of {kind}\n"
    found = info(run)
    assert (found["documents"], found["segments"]) == (0, 0)
    summary = json.loads(run("index", "build", "other", "--kind", kind, "--json").out)
    assert summary["documents"] == 0
    write_file("rows.jsonl", lines_of([{"id": "a", "text": "one two three " * 30}]))
    assert run("index", "add", "idx", "rows.jsonl").code == 0
    assert info(run)["documents"] == 1
    for option in (
        ("--text-column", "body"),
        (
            "--document",
            "line",
        ),
        ("--on-error", "skip"),
    ):
        remedy = "leave it out, or name files, or give it to index add"
        error = f"{option[0]} has no effect without INPUT; {remedy}"
        fails("index", "build", "new", "--kind", kind, *option, error=error)


def test_remove__names_what_had_gone_in_the_first_week(run, write_file):
    """The first one goes into an empty index, and does what all others do."""
    assert run("index", "build", "seen", "--kind", "documents", "--threshold", "0.7").code == 0
    text = "the old stone bridge over the mill stream will be closed for repairs in spring"
    for week, words in (("w1", [text, f"{text} again"]), ("w2", [f"{text} again and again"])):
        rows = [{"id": f"{week}-{n}", "text": each} for n, each in enumerate(words)]
        write_file(f"{week}.jsonl", lines_of(rows))
        arguments = (f"{week}.jsonl", "--against", "seen", "--add", "-o", week)
        assert run("dedup", *arguments).code == 0
    assert run("index", "remove", "seen", "w1-0").out.splitlines() == [
        "1 document removed; `neardup index compact seen` frees the disk space",
        "2 documents had been left out in favour of these; add again any that you need:",
        "  w1-1 (for w1-0)",
        "  w2-0 (for w1-0)",
    ]


def test_remove__so_that_it_does_not_come_back(run, fails, write_file):
    words = [f"w{n}" for n in range(300)]
    rows = [{"id": "a", "text": " ".join(words)}, {"id": "b", "text": " ".join(words[::-1])}]
    write_file("rows.jsonl", lines_of(rows))
    more = [{"id": f"m{n}", "text": text} for n, text in enumerate(("a b c", rows[0]["text"]))]
    more.append({"id": "case", "text": rows[0]["text"].upper()})
    write_file("more.jsonl", lines_of(more))
    assert run("index", "build", "idx", "rows.jsonl", "--kind", "documents").code == 0
    assert run("index", "remove", "idx", "a", "--deny").out.splitlines() == [
        "1 document removed; `neardup index compact idx` frees the disk space",
        "the index denies 1 document from now on, and any left out for a removed one",
    ]
    assert run("index", "compact", "idx").code == 0
    assert "; 1 document denied\n" in run("index", "info", "idx").out
    assert info(run)["denied_documents"] == 1
    assert run("index", "add", "idx", "more.jsonl").out.splitlines()[1] == (
        "2 documents left out, denied; --json lists them"
    )
    assert run("index", "remove", "idx", "m0").code == 0
    found = run("dedup", "more.jsonl", "--against", "idx", "-o", "out")
    assert "2 of those are denied\n" in found.out
    said = run("explain", "out", "m1").out
    assert said.startswith("m1 was removed in favour of a, which the index denies: it has the same")
    assert run("report", "out", "-o", "page.html").code == 0
    assert run("index", "build", "pas", "rows.jsonl").code == 0
    error = "--deny has no effect in an index of passages; leave it out, or use one of documents"
    fails("index", "remove", "pas", "a", "--deny", error=error)


def test_build__where_something_is(run, fails, here, index, write_file):
    fails(
        "index", "build", "idx", "rows.jsonl", *OPTIONS,
        error="idx exists; choose another name, or replace it with --overwrite",
    )  # fmt: skip
    write_file("fewer.jsonl", lines_of(ROWS[:1]))
    assert run("index", "build", "idx", "fewer.jsonl", *OPTIONS, "--overwrite").code == 0
    assert info(run)["documents"] == 1
    write_file("mine/note.txt", "mine")
    fails(
        "index", "build", "mine", "rows.jsonl",
        error="mine is not empty, and has no index.sqlite; choose another name, or remove it "
        "yourself",
    )  # fmt: skip
    # Web pages have such a file, too.
    write_file("mine/manifest.json", '{"name": "mine"}')
    fails(
        "index", "build", "mine", "rows.jsonl", "--overwrite",
        error="mine is not empty, and has no index.sqlite; choose another name, or remove it "
        "yourself",
    )  # fmt: skip
    fails(
        "index", "build", "rows.jsonl", "fewer.jsonl", "--overwrite",
        error="rows.jsonl is not a folder; the output is a folder, choose another name",
    )  # fmt: skip


def test_build__fails_and_leaves_nothing(fails, here, write_file):
    write_file("bad.jsonl", lines_of([*ROWS, {"id": "e", "txt": "no text"}]))
    message = (
        "bad.jsonl, row 5: no column 'text'; columns are 'id', 'txt'; name another with "
        "--text-column; skip bad rows with --on-error skip"
    )
    fails("index", "build", "new/idx", "bad.jsonl", *OPTIONS, error=message)
    fails("index", "build", "idx", "none.jsonl", error="none.jsonl: no such file")
    write_file("twice.jsonl", lines_of([*ROWS, ROWS[0]]))
    message = (
        "twice.jsonl, row 5: id 'a' was used before, in twice.jsonl, row 1; ids must differ; name "
        "another column with --id-column, or '' for <file>:<row>"
    )
    fails("index", "build", "idx", "twice.jsonl", *OPTIONS, error=message)


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "add", "DIR", "rows.jsonl"),
        ("index", "remove", "DIR", "a"),
        ("index", "compact", "DIR"),
        ("index", "info", "DIR"),
        ("search", "DIR", "rows.jsonl", "-o", "o.csv"),
    ],
)
def test_index__is_none(fails, write_file, arguments):
    write_file("rows.jsonl", lines_of(ROWS))
    write_file("mine/note.txt", "mine")
    places = {
        "no": "folder not found; make an index with: neardup index build no INPUT",
        "mine": "this folder has no index.sqlite; give the folder of an index",
    }
    for folder, what in places.items():
        error = f"{folder}: {what}"
        fails(*(folder if part == "DIR" else part for part in arguments), error=error)


def test_add__repeated_ids(fails, index):
    message = (
        "rows.jsonl, row 1: id 'a' is in the index already; ids must differ. Remove the old "
        "document first, or choose other ids; name another column with --id-column, "
        "or '' for <file>:<row>"
    )
    fails("index", "add", "idx", "rows.jsonl", "--id-column", "id", error=message)


def test_remove__unknown_ids(run, fails, here, index):
    message = "the index has no document 'x'; nothing was removed"
    fails("index", "remove", "idx", "a", "x", error=message)
    message = "the index has no document 'x' and 1 more; nothing was removed"
    fails("index", "remove", "idx", "a", "x", "y", error=message)
    fails(
        "index", "remove", "idx", "--ids", "none.txt", error="none.txt: No such file or directory"
    )
    outcome = run("index", "remove", "idx")
    assert outcome.code == 2
    assert "name the documents to remove, or give a file of ids with --ids" in outcome.err
    assert info(run)["documents"] == 4


def test_index__is_being_written(run, here, index):
    with Database(here / "idx").writing(0):
        for arguments in (("add", "idx", "rows.jsonl"), ("remove", "idx", "a"), ("compact", "idx")):
            outcome = run("index", *arguments)
            assert outcome.code == 1
            assert outcome.err.startswith("error: idx is being written by this process, since ")
            assert outcome.err.endswith("; wait until that is done, and try again\n")
        assert info(run)["documents"] == 4


def test_build__for_an_index_that_is_being_written(run, here, index):
    with Database(here / "idx").writing(0):
        outcome = run("index", "build", "idx", "rows.jsonl", "--overwrite")
    assert outcome.code == 1
    assert outcome.err.startswith("error: idx is being written by this process, since ")
    assert info(run)["documents"] == 4
    assert not list(here.glob(".*"))


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.kills
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_build__interrupted_leaves_nothing(here, number):
    rows = [{"id": i, "text": " ".join(f"w{i * k % 997}" for k in range(300))} for i in range(9000)]
    (here / "rows.jsonl").write_text(lines_of(rows))
    command = [sys.executable, "-m", "neardup", "index", "build", "new/idx", "rows.jsonl"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        # It has begun to write when there is a segment.
        for _ in range(3000):
            if any(here.glob("new/.idx.*/new/segments/*")):
                break
            time.sleep(0.02)
        process.send_signal(number)
        word = "interrupted" if number == signal.SIGINT else "terminated"
        assert process.stderr.read().splitlines()[-1] == word
    assert process.returncode == 128 + number
    assert [path.name for path in here.iterdir()] == ["rows.jsonl"]
