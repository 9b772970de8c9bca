"""The output folder: all of it or nothing, whatever goes wrong."""

from __future__ import annotations

import errno
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import neardup.cli
from neardup.files.streams import Destination, OutputStream

GOOD = b'{"text": "one"}\n{"text": "two"}\n{"text": "One"}\n'


def test_output__exists_is_told_before_the_input_is_read(fails, write_file):
    write_file("out/mine.txt", b"precious")
    error = "out is not empty, and has no summary.json; choose another name, or remove it yourself"
    fails("dedup", "nope.jsonl", "-o", "out", error=error)


def test_output__of_another_run(run, here):
    """It holds the output while it waits for its input, and no longer once it is killed."""
    command = [sys.executable, "-m", "neardup", "dedup", "-", "-o", "deep/out"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as first:
        while not list(here.glob("deep/.out.neardup-*/write.lock.holder")):
            assert first.poll() is None
        found = run("dedup", "nope.jsonl", "-o", "deep/out")
        assert found.code == 1
        assert found.err.startswith(
            f"error: deep/out is being written by process {first.pid} on {socket.gethostname()} "
            f"({shlex.join(command)}), since "
        )
        first.kill()
    (here / "a.jsonl").write_bytes(GOOD)
    assert run("dedup", "a.jsonl", "-o", "deep/out").code == 0
    assert list(here.glob("deep/*")) + list(here.glob("deep/.*")) == [here / "deep/out"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_output__is_free_after_a_signal(here, sent):
    command = [sys.executable, "-m", "neardup", "pairs", "-", "-o", "deep/out.csv"]
    (here / "deep").mkdir()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        while not list(here.glob("deep/.out.csv.neardup-*/write.lock.holder")):
            assert run.poll() is None
        run.send_signal(sent)
        _, said = run.communicate()
    assert (run.returncode, len(said.splitlines())) == (128 + sent, 1)
    assert not list(here.glob("deep/*")) + list(here.glob("deep/.*"))


@pytest.mark.parametrize("output", ["in", "../{name}/in"])
def test_output__holds_an_input(fails, here, write_file, output):
    write_file("in/a.jsonl", GOOD)
    write_file("in/summary.json", b"")
    output = output.format(name=here.name)
    error = f"{output} holds the input in/a.jsonl, and would be replaced; choose another name"
    fails("dedup", "in/a.jsonl", "-o", output, "--overwrite", error=error)
    write_file("b.jsonl", GOOD)
    against = ("--against", "in/a.jsonl")
    if output == "in":
        fails("dedup", "b.jsonl", *against, "-o", output, "--overwrite", error=error)


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_output__pairs_are_an_input(fails, write_file, overwrite):
    write_file("a.jsonl", GOOD)
    error = "a.jsonl is an input, and would be replaced; choose another name"
    if not overwrite:
        error = "a.jsonl exists; choose another name, or replace it with --overwrite"
    fails("pairs", "a.jsonl", "-o", "a.jsonl", *overwrite, error=error)
    write_file("b.jsonl", GOOD)
    fails("pairs", "b.jsonl", "--against", "a.jsonl", "-o", "a.jsonl", *overwrite, error=error)


def test_output__overwrites_outputs_only(fails, write_file):
    write_file("a.jsonl", GOOD)
    write_file("mine/letter.txt", b"precious")
    error = "mine is not empty, and has no summary.json; choose another name, or remove it yourself"
    fails("dedup", "a.jsonl", "-o", "mine", error=error)
    fails("dedup", "a.jsonl", "-o", "mine", "--overwrite", error=error)


def test_output__below_the_input_is_no_input(run, here, write_file, fails):
    write_file("data/a.jsonl", GOOD)
    assert run("dedup", "data", "-o", "data/out").code == 0
    outcome = run("dedup", "data", "-o", "again")
    assert outcome.out.startswith("3 documents: 2 kept, 1 removed")
    error = "'data/out' was written by neardup; name 'data/out/kept' in it"
    fails("dedup", "data/out", "-o", "more", error=error)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output__standard_output_is_full(here, write_file):
    write_file("a.jsonl", GOOD)
    with Path("/dev/full").open("w") as full_device:
        command = [sys.executable, "-m", "neardup", "dedup", "a.jsonl", "-o", "out"]
        result = subprocess.run(command, stdout=full_device, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    message = "error: cannot write to standard output: No space left on device; all else is done\n"
    assert result.stderr.endswith(message)
    assert (here / "out" / "summary.json").exists()


def test_output__overwrite(run, here, write_file, read_tree):
    write_file("a.jsonl", GOOD)
    write_file("out/old/file.txt", b"old")
    write_file("out/summary.json", b"old")
    assert run("dedup", "a.jsonl", "-o", "out", "--overwrite").code == 0
    assert run("dedup", "a.jsonl", "-o", "fresh").code == 0
    found, expected = read_tree(here / "out"), read_tree(here / "fresh")
    assert found.keys() == expected.keys()
    assert found["kept/a.jsonl"] == b'{"text": "one"}\n{"text": "two"}\n'
    assert sorted(path.name for path in here.iterdir()) == ["a.jsonl", "fresh", "out"]


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture(params=["rows", "tables", "summary"])
def full_disk(request, here, monkeypatch, write_file) -> str:
    """Write an input and let the disk be full at one point of writing; give its name."""
    write_file("a.jsonl", GOOD)
    match request.param:
        case "rows":
            monkeypatch.setattr(OutputStream, "_append", full)
        case "tables":
            monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
        case "summary":
            monkeypatch.setattr(Destination, "write_text", full)
    return "a.jsonl"


def test_output__full_disk(fails, full_disk):
    error = "cannot write x/out: No space left on device; nothing was written"
    fails("dedup", full_disk, "-o", "x/out", error=error)


def test_output__full_disk_keeps_the_old_output(fails, write_file, full_disk):
    write_file("out/summary.json", b"old")
    error = "cannot write out: No space left on device; nothing was written"
    fails("dedup", full_disk, "-o", "out", "--overwrite", error=error)


def test_output__bad_input_keeps_the_old_output(fails, write_file):
    write_file("a.jsonl", b"{}\n")
    write_file("out/summary.json", b"old")
    error = "a.jsonl, row 1: no column 'text'; there are no columns"
    fails("dedup", "a.jsonl", "-o", "out", "--overwrite", error=error)


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("target", "workers"),
    [
        ("neardup.stages.decide.sign_block", 1),
        ("neardup.stages.decide.sign_block", 3),
        ("neardup.reading.sign.shingle_sets", 3),
        ("neardup.stages.decide.choose_survivors", 1),
        ("neardup.files.rawrows.RawWriter.append", 1),
        ("pyarrow.parquet.ParquetWriter.write_table", 1),
        ("neardup.files.streams.Destination.write_text", 1),
    ],
)
def test_interrupt__leaves_no_trace(run, here, write_file, read_tree, monkeypatch, target, workers):
    texts = ["a b c d e f g h i j k l m n o p", "a b c d e f g h i j k l m n o p q"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    write_file("out/summary.json", b"old")
    before = read_tree(here)
    monkeypatch.setattr(target, interrupt)
    outcome = run("dedup", "a.jsonl", "-o", "out", "--overwrite", "--workers", workers)
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == "interrupted\n"
    assert read_tree(here) == before


ENDINGS = [
    (KeyboardInterrupt, 130, "interrupted"),
    (neardup.cli._TerminatedError, 143, "terminated"),
    (MemoryError, 1, "error: out of memory"),
]


@pytest.mark.parametrize(("error", "code", "word"), ENDINGS)
@pytest.mark.parametrize("arguments", ["dedup a.jsonl -o out", "pairs a.jsonl -o out.csv"])
def test_interrupt__after_the_output_was_written(
    run, here, write_file, monkeypatch, error, code, word, arguments
):
    def end(*_: object, **__: object) -> None:
        raise error

    write_file("a.jsonl", GOOD)
    output = arguments.split()[-1]
    run("dedup", "a.jsonl", "-o", "other")
    run("pairs", "a.jsonl", "-o", "other.csv")
    monkeypatch.setattr("neardup.cli.call.print_output", end)
    outcome = run(*arguments.split())
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.startswith(word)
    assert (here / output).exists()


@pytest.mark.kills
@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize("command", ["add idx b.jsonl", "remove idx a.jsonl:1", "compact idx"])
def test_terminated__after_an_index_was_changed(run, here, write_file, command):
    write_file("a.jsonl", GOOD)
    write_file("b.jsonl", GOOD)
    run("index", "build", "idx", "a.jsonl")
    before = json.loads(run("index", "info", "idx", "--json").out)
    code = (
        "import os, signal, sys, neardup.cli.call as module; from neardup.cli import main\n"
        "module.print_output = lambda text, err: os.kill(os.getpid(), signal.SIGTERM)\n"
        "main(sys.argv[1:])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, "index", *command.split()], capture_output=True, text=True
    )
    assert (process.returncode, process.stdout) == (143, "")
    assert process.stderr.endswith("terminated\n")
    after = json.loads(run("index", "info", "idx", "--json").out)
    changed = {"add idx b.jsonl": "documents", "remove idx a.jsonl:1": "documents"}.get(command)
    assert changed is None or after[changed] != before[changed]


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv.gz", "s3://bucket/x.parquet"])
@pytest.mark.parametrize("command", ["dedup", "cut"])
def test_output__is_no_file(run, here, write_file, command, name):
    write_file("a.jsonl", '{"text": "a b c"}\n')
    outcome = run(command, "a.jsonl", "-o", name)
    assert (outcome.code, outcome.out) == (1, "")
    assert f"{command} writes a folder, and '{name}' looks like a file; choose" in outcome.err
    assert not (here / name).exists()
    # A folder of that name is one.
    if "/" not in name:
        (here / name).mkdir()
        assert run(command, "a.jsonl", "-o", name, "--overwrite").code == 0
