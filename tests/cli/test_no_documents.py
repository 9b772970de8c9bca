"""Inputs without a document are no errors: outputs are made, and can be read again."""

from __future__ import annotations


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
