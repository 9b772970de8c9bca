"""``neardup dedup``: what it writes, checked against the inputs, and what it prints."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest


def numbered(name: str, texts: list[str]) -> dict[str, str]:
    """Give texts by the ids that they get where the user names none."""
    return {f"{name}:{i}": text for i, text in enumerate(texts, 1)}


def test_dedup__bands_and_rows(run, here, texts, write_texts, verify):
    write_texts("a.jsonl", texts)
    arguments = ("dedup", "a.jsonl", "-o", "out", "--bands", "30x4", "--json")
    summary = json.loads(run(*arguments).out)
    verify(here / "out", numbered("a.jsonl", texts))
    assert (summary["bands"], summary["rows"]) == (30, 4)
    assert summary["scheme"]["num_perm"] == 120
    assert summary["predicted_recall"] == pytest.approx(1 - (1 - 0.8**4) ** 30)


def test_dedup__report(run, write_file):
    texts = ["a b c d e f g", "A b c, d e f g!", "", "x"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    first, second, third, fourth, last = run("dedup", "a.jsonl", "-o", "out").out.splitlines()
    assert first == "4 documents: 3 kept, 1 removed (1 exact copy, 0 near-duplicates)"
    assert second == (
        "similar: jaccard >= 0.8 over words 5-grams; 16 bands of 6 rows find a pair at the "
        "threshold with probability 0.9923"
    )
    assert third == "1 document without tokens, similar to nothing"
    assert fourth == "1 document shorter than 5 tokens, similar only to equal ones"
    assert last.startswith("written to out in ")


def test_dedup__only_empty_documents(run, here, write_file, verify):
    write_file("a.jsonl", b'{"text": ""}\n{"text": "  "}\n{"text": "?!"}\n')
    outcome = run("dedup", "a.jsonl", "-o", "out")
    assert outcome.out.splitlines()[2] == "3 documents without tokens, similar to nothing"
    assert verify(here / "out", {"a.jsonl:1": "", "a.jsonl:2": " ", "a.jsonl:3": "?"}) == [True] * 3


def test_dedup__empty_file_without_header(run, here, write_file, verify):
    write_file("a.csv", b"")
    assert run("dedup", "a.csv", "-o", "out", "--audit", "5").code == 0
    assert verify(here / "out", {}) == []
    assert (here / "out/kept/a.csv").read_bytes() == b""


def test_dedup__against_is_reported(run, write_file):
    old = ["one two three four five six seven"]
    new = [
        old[0],
        "One two three four five six seven!",
        "a b c d e f",
        "A b c d e f!",
        "other words",
    ]
    for name, texts in (("old.jsonl", old), ("new.jsonl", new)):
        write_file(name, "".join(json.dumps({"text": text}) + "\n" for text in texts))
    write_file("bad.jsonl", '{"text": 5}\n')
    others = ("--against", "old.jsonl", "--against", "bad.jsonl", "--on-error", "skip")
    outcome = run("dedup", "new.jsonl", *others, "-o", "out")
    assert outcome.out.splitlines()[:2] == [
        "5 documents: 2 kept, 3 removed (3 exact copies, 0 near-duplicates)",
        "against 1 document: 2 removed as similar to --against, 1 to another document of INPUT",
    ]
    removed = pq.read_table("out/removed.parquet").select(["kept_id", "kept_in"]).to_pylist()
    assert [(row["kept_id"], row["kept_in"]) for row in removed] == [
        ("old.jsonl:1", "against"),
        ("old.jsonl:1", "against"),
        ("new.jsonl:3", "input"),
    ]
    summary = json.loads(Path("out/summary.json").read_text())
    counts = ("against_documents", "removed_for_against", "removed_within")
    assert [summary[name] for name in counts] == [1, 2, 1]


@pytest.mark.parametrize("lines", [False, True])
def test_dedup__standard_input(
    run, here, monkeypatch, texts, write_texts, read_content, verify, lines
):
    name = "stdin.txt" if lines else "stdin.jsonl"
    texts = [" ".join(text.split()) for text in texts if text.strip()]
    rows = write_texts(f"source/{name}", texts)
    data = (here / "source" / name).read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert run("dedup", "-", *["--document", "line"][: 2 * lines], "-o", "out").code == 0
    stays = verify(here / "out", numbered(name, texts))
    assert read_content(here / "out/kept" / name) == rows.content(stays)
    assert read_content(here / "out/removed" / name) == rows.content([not s for s in stays])


@pytest.mark.parametrize("argument", ["in", "in/**/*.*", "{here}/in"])
def test_dedup__many_files(run, here, texts, write_texts, read_content, verify, argument):
    names = ["a.jsonl", "b/a.csv.gz", "b/c/a.jsonl.zst", "d.json"]
    files = {}
    documents = {}
    for i, name in enumerate(names):
        part = texts[i::4]
        files[name] = write_texts(f"in/{name}", part)
        documents |= numbered(name, part)
    assert run("dedup", argument.format(here=here), "-o", "out").code == 0
    stays = verify(here / "out", documents)
    for name, rows in files.items():
        here_stays, stays = stays[: len(rows.rows)], stays[len(rows.rows) :]
        assert read_content(here / "out/kept" / name) == rows.content(here_stays)
        gone = [not stay for stay in here_stays]
        assert read_content(here / "out/removed" / name) == rows.content(gone)
