"""Inputs without a document are no errors: outputs are made, and can be read again."""

from __future__ import annotations

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b""),
        ("a.jsonl", b"\n \n"),
        ("a.jsonl.gz", b""),
        ("a.json", b"[]"),
        ("a.json", b""),
        ("a.csv", b"id,text\n"),
        ("a.tsv.zst", b"id\ttext"),
        ("a.txt", b""),
    ],
)
@pytest.mark.parametrize("output_format", ["same", "jsonl", "parquet"])
def test_dedup__no_documents(run, here, write_file, verify, name, content, output_format):
    write_file(name, content)
    lines = ["--document", "line"] if name == "a.txt" else []
    outcome = run("dedup", name, *lines, "-o", "out", "--format", output_format)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("0 documents: 0 kept, 0 removed (0 exact copies, 0 near-dup")
    assert "\nINPUT has no rows, so there was nothing to compare\n" in outcome.out
    assert verify(here / "out", {}) == []
    for folder in ("kept", "removed"):
        [path] = (here / "out" / folder).iterdir()
        # What was written can be read again.
        again = lines if path.suffix == ".txt" else []
        assert run("dedup", path, *again, "-o", f"again-{folder}").code == 0


def test_dedup__only_empty_documents(run, here, write_file, verify):
    write_file("a.jsonl", b'{"text": ""}\n{"text": "  "}\n{"text": "?!"}\n')
    outcome = run("dedup", "a.jsonl", "-o", "out")
    assert outcome.out.splitlines()[2] == "3 documents without tokens, kept"
    assert verify(here / "out", {"a.jsonl:1": "", "a.jsonl:2": " ", "a.jsonl:3": "?"}) == [True] * 3


def test_dedup__empty_file_without_header(run, here, write_file, verify):
    write_file("a.csv", b"")
    assert run("dedup", "a.csv", "-o", "out").code == 0
    assert verify(here / "out", {}) == []
    assert (here / "out/kept/a.csv").read_bytes() == b""
