"""Tables on standard output, in pipes and devices, and in files of any name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

WORDS = "one two three four five six seven eight nine ten"
ROWS = [{"id": name, "text": f"{WORDS} {name}"} for name in "abc"]
RUN = "--id-column id --workers 1"
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
COMMANDS = {
    "pairs": f"pairs rows.jsonl --ngram 1 {RUN}",
    "search": f"search idx rows.jsonl --threshold 0.5 {RUN}",
    "align": f"align rows.jsonl --against rows.jsonl --min-tokens 4 {RUN}",
    "estimate": "estimate rows.parquet",
    "clusters": "estimate small.parquet --clusters",
}
NO_PIPES = pytest.mark.skipif(os.name == "nt", reason="needs named pipes")


@pytest.fixture
def inputs(run, here, write_file, once) -> Path:
    def make() -> None:
        write_file("rows.jsonl", LINES)
        run("index", "build", "idx", "rows.jsonl", "--min-tokens", "4", *RUN.split())
        run("sketch", "rows.jsonl", "-o", "rows.parquet", "--ngram", "1")
        run("sketch", "rows.jsonl", "-o", "small.parquet", "--kind", "smallest", "--ngram", "1")

    once(make)
    return here


@pytest.fixture(params=COMMANDS)
def command(request, inputs) -> list[str]:
    return COMMANDS[request.param].split()


def process(arguments: list[str], **options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "neardup", *arguments], **options)


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_standard_output__json_lines(run, inputs, command, output):
    before = sorted(inputs.iterdir())
    outcome = run(*command, "-o", output)
    assert outcome.code == 0
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert sorted(inputs.iterdir()) == before
    report = outcome.err.splitlines()
    assert report[-1].startswith("written to standard output in ")
    assert run(*command, "-o", "table.jsonl").err == ""
    assert rows == [json.loads(line) for line in Path("table.jsonl").read_text().splitlines()]
    assert rows


def test_standard_output__not_with_the_summary(run, inputs, command):
    outcome = run(*command, "-o", "-", "--json")
    assert (outcome.code, outcome.out) == (2, "")
    message = (
        "Error: --json prints the summary to standard output, where --output - writes the table; "
        "name a file, or leave out --json"
    )
    assert outcome.err.splitlines()[-1] == message


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("index build - rows.jsonl", "the output is a folder, which standard output does not take; "
         "name a new folder"),
        ("sketch rows.jsonl -o -", "a file of sketches is binary, which standard output does not "
         "take; name a file that ends in .parquet"),
        ("compare rows.jsonl rows.jsonl --report -", "the output file must end in .html, .htm, "
         "got '-'"),
    ],
)  # fmt: skip
def test_standard_output__of_folders_and_binary_files(fails, write_file, arguments, error):
    write_file("rows.jsonl", LINES)
    fails(*arguments.split(), error=error)
    fails(*arguments.split(), "--overwrite", error=error)


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output__its_reader_goes(inputs, write_file, monkeypatch, unbuffered):
    """As with ``| head -n 1``: the rest is more than a pipe holds."""
    rows = [{"text": f"{WORDS} {i}"} for i in range(300)]
    write_file("many.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with process(["pairs", "many.jsonl", "--ngram", "1", "-o", "-"], **pipes) as running:
        assert json.loads(running.stdout.readline())["id_a"] == "many.jsonl:1"
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


def test_standard_output__interrupted(run, inputs, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules["neardup.outputs.output_tables"]._WRITERS, "jsonl", interrupt)
    outcome = run(*COMMANDS["pairs"].split(), "-o", "-")
    assert (outcome.code, outcome.err) == (130, "interrupted\n")


@pytest.mark.slow
@NO_PIPES
@pytest.mark.parametrize("name", ["pipe", "pipe.csv"])
def test_pipe__is_written_to(run, inputs, command, name):
    os.mkfifo(name)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(Path(name).read_bytes()))
    reader.start()
    outcome = run(*command, "-o", name)
    reader.join()
    assert (outcome.code, outcome.err) == (0, "")
    assert f"written to {name} in" in outcome.out
    ending = "csv" if "csv" in name else "jsonl"
    run(*command, "-o", f"table.{ending}")
    assert received == [Path(f"table.{ending}").read_bytes()]
    assert Path(name).is_fifo()
