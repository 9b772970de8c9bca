"""The command ``explain``."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def folder(run, write_file, once):
    def make():
        texts = {
            "a": "the cat sat on the mat",
            "b": "the cat sat on a mat",
            "c": "other words here",
            "d": "The cat sat on the mat!",
        }
        lines = [json.dumps({"id": key, "text": text}) + "\n" for key, text in texts.items()]
        write_file("in.jsonl", "".join(lines))
        write_file("other.jsonl", '{"id": "a", "text": "other words here"}\n')
        how = ("--ngram", 1, "--threshold", "0.5", "--against", "other.jsonl")
        assert run("dedup", "in.jsonl", *how, "-o", "out").code == 0

    once(make)
    return "out"


def test_explain__of_the_other_collection(run, folder):
    told = run("explain", folder, "c").out
    assert told.startswith("c was removed in favour of against/a of the other collection: it has")
    assert "the other document is of a collection that was not named" in told
    told = run("explain", folder, "c", "--against", "other.jsonl").out
    assert "    other words here\n" in told


def test_explain__errors(run, here, folder):
    error = run("explain", folder, "zz").err
    assert error == "error: no document has the id 'zz'; clusters.parquet has all ids\n"
    error = run("explain", folder, "a", "--against-id-column", "id").err
    assert "--against-id-column has no effect without" in error
    assert run("dedup", "in.jsonl", "-o", "alone").code == 0
    error = run("explain", "alone", "a", "--against", "other.jsonl").err
    assert "the documents were compared with no others; leave --against out" in error
    (here / "out/removed/in.jsonl").write_text('{"id": "x", "text": "y"}\n')
    assert "it has been changed since: run `neardup dedup` again" in run("explain", folder, "d").err
