"""``-o -`` of jobs that write rows: those that stay come out as JSON lines, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

TEXT = "the quick brown fox jumps over the lazy dog again and again"
ROWS = [
    json.dumps({"n": 1.50, "text": TEXT}),
    '{"text":"' + TEXT + ' and",  "n": 2}',
    '{"text": "nothing of the kind stands in this text which is on its own here"}',
]
RUNS = {
    "dedup": ["dedup"],
    "cut": ["cut", "--min-tokens", "5"],
    "cut of equal passages": ["cut", "--exact", "--min-tokens", "5"],
    "drop": ["drop", "--named-in", "ids.txt"],
}


@pytest.fixture
def inputs(run, here, write_file):
    """Make two files, the first of which lacks the newline at its end."""
    write_file("a.jsonl", "\n".join(ROWS[:2]))
    write_file("b.csv", f"text,n\n{ROWS[2][10:-2]},3\n")
    write_file("ids.txt", b"a.jsonl:2\n")
    return here


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", RUNS)
def test_rows(run, inputs, name, workers):
    command = [*RUNS[name], "a.jsonl", "b.csv", "--workers", workers]
    before = sorted(inputs.iterdir())
    outcome = run(*command, "-o", "-")
    assert outcome.code == 0
    assert sorted(inputs.iterdir()) == before
    assert run(*command, "-o", "out", "--format", "jsonl").code == 0
    first, second = ((inputs / "out/kept" / f"{name}.jsonl").read_text() for name in "ab")
    assert outcome.out == first + "\n" * (not first.endswith("\n")) + second
    assert outcome.err.splitlines()[-1].startswith("written to standard output in ")
    assert outcome.err.startswith("3 documents: ")


def test_rows__a_last_line_without_newline_is_ended(run, write_file):
    """The first row of the next file begins on a line of its own."""
    write_file("a.jsonl", ROWS[0])
    write_file("b.jsonl", ROWS[2])
    assert run("dedup", "a.jsonl", "b.jsonl", "-o", "-").out == f"{ROWS[0]}\n{ROWS[2]}\n"


def test_lines_as_they_came_in(run, inputs, write_file):
    write_file("a.jsonl", "".join(f"{row}\n" for row in ROWS))
    outcome = run("dedup", "a.jsonl", "-o", "-", "--quiet")
    assert (outcome.out, outcome.err) == (f"{ROWS[0]}\n{ROWS[2]}\n", "")
    assert run("dedup", "a.jsonl", "-o", "/dev/stdout", "--quiet") == outcome


def test_files_that_differ_by_their_ending(run, inputs, write_file):
    write_file("b.jsonl", f"{ROWS[0]}\n")
    outcome = run("dedup", "b.jsonl", "b.csv", "-o", "-", "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    assert [json.loads(line)["text"] for line in outcome.out.splitlines()] == [
        TEXT,
        json.loads(ROWS[2])["text"],
    ]


def test_bad_rows_are_left_out(run, inputs, write_file):
    write_file("a.jsonl", f'{ROWS[0]}\n{{"text": \n{ROWS[2]}\n')
    outcome = run("dedup", "a.jsonl", "-o", "-", "--on-error", "skip")
    assert (outcome.code, outcome.out) == (0, f"{ROWS[0]}\n{ROWS[2]}\n")
    assert "1 bad row skipped" in outcome.err


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--format", "none"], "--output - gets JSON lines"),
        (["--format", "parquet"], "--output - gets JSON lines"),
        (["--engine", "spark"], "with --engine spark --output is a folder"),
        (["--json"], "--json prints the summary to standard output"),
    ],
)
def test_refuses(run, inputs, option, said):
    outcome = run("dedup", "a.jsonl", "-o", "-", *option)
    assert outcome.code in {1, 2}
    assert outcome.out == ""
    assert said in outcome.err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a shell's pipes")
def test_between_commands(here, write_file):
    """A filter reads standard input, and ends quietly when nobody reads what it writes."""
    write_file(
        "a.jsonl", "".join(f'{{"text": "text {n} of many {n}", "n": {n}}}\n' for n in range(9999))
    )
    command = [sys.executable, "-m", "neardup", "dedup", "-", "-o", "-", "--quiet"]
    with (here / "a.jsonl").open("rb") as file:
        whole = subprocess.run(command, stdin=file, capture_output=True, check=True)
    assert whole.stdout == (here / "a.jsonl").read_bytes()
    with (here / "a.jsonl").open("rb") as file:
        running = subprocess.Popen(
            command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert running.stdout.read(10) == whole.stdout[:10]
        running.stdout.close()
        assert running.wait() == 141
        assert running.stderr.read() == b""
        running.stderr.close()
