"""What ``neardup dedup`` prints."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

from tests.cli.documents import numbered


def test_dedup__components_report_the_difference(run, write_file):
    texts = [" ".join(f"w{j}" for j in range(i, i + 10)) for i in range(4)]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    arguments = ("dedup", "a.jsonl", "-o", "o", "--clusters", "components", "--ngram", 3)
    outcome = run(*arguments, "--threshold", "0.7", "--recall", "0.9999999")
    assert "\ncomponents remove 1 document more than survivors\n" in outcome.out


def test_dedup__json(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    outcome = run("dedup", "a.jsonl", "-o", "out", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    assert json.loads(outcome.out) == json.loads(Path("out/summary.json").read_text())


def test_dedup__quiet(run, here, texts, write_texts, verify):
    write_texts("a.jsonl", texts)
    outcome = run("dedup", "a.jsonl", "-o", "out", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    verify(here / "out", numbered("a.jsonl", texts))


def test_dedup__report(run, write_file):
    texts = ["a b c d e f g", "A b c, d e f g!", "", "x"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    first, second, third, fourth, last = run("dedup", "a.jsonl", "-o", "out").out.splitlines()
    assert first == "4 documents: 3 kept, 1 removed (1 exact copy, 0 near-duplicates)"
    assert second == (
        "similar: jaccard >= 0.8 over words 5-grams; 16 bands of 6 rows find a pair at the "
        "threshold with probability 0.9923"
    )
    assert third == "1 document without tokens, kept"
    assert fourth == "1 document shorter than 5 tokens, similar only to equal ones"
    assert last.startswith("written to out in ")


def test_dedup__report_of_a_poor_recall(run, write_file):
    write_file("a.jsonl", b'{"text": "a b"}\n')
    outcome = run("dedup", "a.jsonl", "-o", "out", "--bands", "1", "--rows", "100")
    lines = outcome.out.splitlines()
    assert "1 band of 100 rows finds a pair" in lines[1]
    assert lines[2].startswith("that is less than the recall of 0.99; leave out --bands")


def test_report__cannot_be_written_after_the_result(run, write_file, monkeypatch):
    """The folder is there then, and the error says so."""
    write_file("in.jsonl", '{"text": "a b c"}\n')
    put_at = os.replace

    def replace(source, target):
        if str(target).endswith("page.html"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        put_at(source, target)

    monkeypatch.setattr(os, "replace", replace)
    outcome = run("dedup", "in.jsonl", "-o", "out", "--report", "page.html")
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1] == (
        "error: cannot write page.html: No space left on device after out was written; it is "
        "complete"
    )
