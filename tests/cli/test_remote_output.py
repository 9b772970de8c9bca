"""Outputs at URLs, as the command line writes and names them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.registry import known_implementations

import neardup

GOOD = b'{"id": "a", "text": "one"}\n{"id": "b", "text": "two"}\n{"id": "c", "text": "One"}\n'

REPLACED = "and would be replaced; choose another name"


@pytest.fixture
def memory() -> Iterator[Any]:
    """Give the file system in memory, with an input; empty at the end."""
    system = fsspec.filesystem("memory")
    system.pipe_file("/in/a.jsonl", GOOD)
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_remote__library(memory):
    result = neardup.deduplicate("memory://in/a.jsonl")
    result.write("memory://out")
    assert memory.exists("/out/_SUCCESS")
    with pytest.raises(neardup.OutputExistsError, match=r"^memory://out exists; "):
        result.write("memory://out")
    result.write("memory://out", overwrite=True, format="parquet")
    assert memory.exists("/out/kept/a.parquet")
    message = r"^memory:/out is a URL; give it as a string, or for an index a local path$"
    with pytest.raises(neardup.WriteError, match=message):
        result.write(Path("memory://out"), overwrite=True)
    pairs = neardup.find_pairs("memory://in/a.jsonl", threshold=0.5)
    pairs.write("memory://pairs.csv")
    assert memory.cat_file("/pairs.csv").startswith(b'"id_a"')


def test_remote__every_command(run, here, write_file, memory):
    write_file("a.jsonl", GOOD)
    write_file("a.txt", b"one two three")
    run("index", "build", "idx", "a.jsonl")
    for command in (
        "pairs a.jsonl -o memory://o/pairs.jsonl",
        "align a.jsonl --against a.jsonl -o memory://o/align.csv",
        "search idx a.jsonl -o memory://o/search.parquet",
        "sketch a.jsonl -o memory://o/sketch.parquet",
        "estimate memory://o/sketch.parquet -o memory://o/estimate.csv",
        "compare a.txt a.txt --report memory://o/page.html",
    ):
        outcome = run(*command.split())
        assert (outcome.code, outcome.err) == (0, ""), command
        target = command.split()[-1]
        assert memory.exists(target.removeprefix("memory:/"))
        outcome = run(*command.split())
        assert (
            outcome.err
            == f"error: {target} exists; choose another name, or replace it with --overwrite\n"
        )


def test_remote__index_is_local(fails, write_file):
    write_file("a.jsonl", GOOD)
    error = "s3:/bucket/idx is a URL; give it as a string, or for an index a local path"
    fails("index", "build", "s3://bucket/idx", "a.jsonl", error=error)


def test_remote__package_is_missing(fails, write_file, monkeypatch):
    known = {"class": "absent_s3.S3", "err": "Install absent_s3 to access it"}
    monkeypatch.setitem(known_implementations, "absent", known)
    write_file("a.jsonl", GOOD)
    reason = "this kind of URL needs another package: Install absent_s3 to access it"
    for arguments in (("dedup", "-o", "absent://b/out"), ("pairs", "-o", "absent://b/a.csv")):
        error = f"cannot write {arguments[-1]}: {reason}"
        fails(arguments[0], "a.jsonl", *arguments[1:], error=error)


def test_remote__holds_an_input(fails, run, memory):
    run("dedup", "memory://in", "-o", "memory://out")
    error = f"memory://out holds the input memory:///out/kept/a.jsonl, {REPLACED}"
    fails("dedup", "memory://out/kept", "-o", "memory://out", "--overwrite", error=error)
    named_in = ("--named-in", "memory://out/removed.parquet")
    error = f"memory://out holds the input memory://out/removed.parquet, {REPLACED}"
    fails("drop", "memory://in", *named_in, "-o", "memory://out", "--overwrite", error=error)
