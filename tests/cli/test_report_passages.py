"""Pages of align, search and cut, of files and of an index."""

from __future__ import annotations

import json
import shlex

import pytest

from neardup.cli import run

SHARED = "It was the best of times, it was the worst of times, it was the age of wisdom of all."
CORPUS = {
    "essay": f"As somebody once wrote: {SHARED} And so it goes on.",
    "letter": f"Dear all. {SHARED}",
    "other": "Nothing of that is in here, as far as anybody has ever known of it all.",
}
ITEMS = {"times": SHARED, "none": "What is it that nobody has ever asked anybody about before?"}


@pytest.fixture(autouse=True)
def inputs(tmp_path, monkeypatch):
    """Work beside a corpus, some items, and an index of the corpus."""
    monkeypatch.chdir(tmp_path)
    for name, texts in {"corpus": CORPUS, "items": ITEMS}.items():
        rows = [json.dumps({"key": key, "text": text}) for key, text in texts.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    assert go("index build idx corpus.jsonl --id-column key --min-tokens 8") == 0


def go(command: str) -> int:
    return run(shlex.split(command))


# A command, one that makes a page of what was written, and its title.
SAME = {
    "align": (
        "align corpus.jsonl --id-column key --min-tokens 8 -o out.csv",
        "report out.csv corpus.jsonl --id-column key",
        "1 shared passage in 1 pair of documents",
    ),
    "align --against": (
        "align items.jsonl --against corpus.jsonl --id-column key --min-tokens 8 -o out.parquet",
        "report out.parquet items.jsonl --against corpus.jsonl --id-column key",
        None,
    ),
    "align --against index": (
        "align items.jsonl --against idx --id-column key -o out.parquet",
        "report out.parquet items.jsonl --against idx --id-column key",
        None,
    ),
    "search": (
        "search idx items.jsonl --id-column key -o out.jsonl",
        "report out.jsonl items.jsonl --against idx --id-column key",
        "2 shared passages in 2 pairs of documents",
    ),
    "cut": (
        "cut corpus.jsonl --id-column key --min-tokens 8 -o out",
        "report out corpus.jsonl --id-column key",
        "1 span cut out of 1 of 3 documents",
    ),
    "cut --against": (
        "cut corpus.jsonl --against items.jsonl --id-column key --min-tokens 8 -o out",
        "report out corpus.jsonl --against items.jsonl --id-column key",
        "2 spans cut out of 2 of 3 documents",
    ),
}


@pytest.mark.parametrize("kind", SAME)
def test_report__of_each_kind(tmp_path, kind, capsys):
    command, later, expected = SAME[kind]
    assert go(command) == 0
    capsys.readouterr()
    assert go(f"{later} -o page.html") == 0
    headline = capsys.readouterr().out.splitlines()[0]
    page = (tmp_path / "page.html").read_text()
    assert "it was the age of wisdom" in page
    if expected is not None:
        assert headline == expected
        assert f"<title>{expected}</title>" in page


def test_report__of_other_documents(capsys):
    assert go("align corpus.jsonl --id-column key --min-tokens 8 -o out.csv") == 0
    assert go("report out.csv items.jsonl --id-column key -o page.html") == 1
    assert "the table names documents that INPUT does not have" in capsys.readouterr().err
