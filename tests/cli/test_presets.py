"""``--preset``: what it chooses, who takes it, and that what is typed wins."""

from __future__ import annotations

import json

import pytest

CLEAN = "The plaintiff may at any time before trial dismiss his action upon payment of costs."
NOISY = "Thc plaintiif may at any tirne before trial disrniss his action upon paymcnt of cos1s."
OTHER = "No original writ of summons shall be in force for more than six months from its date."


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": name, "text": text} for name, text in zip("abc", (CLEAN, NOISY, OTHER), strict=True)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def told(run, *arguments) -> dict:
    outcome = run(*arguments, "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_dedup__for_ocr(run, texts):
    assert told(run, "dedup", "a.jsonl", "-o", "plain")["documents_removed"] == 0
    outcome = run("dedup", "a.jsonl", "--preset", "ocr", "-o", "out")
    line = (
        "for ocr: --tokenizer characters, --casefold, --ngram 5, --threshold 0.35, --num-perm 512"
    )
    assert line in outcome.out.splitlines()
    summary = json.loads((texts / "out/summary.json").read_text())
    assert summary["documents_removed"] == 1
    chosen = {"tokenizer": "characters", "casefold": True, "ngram": 5}
    chosen |= {"threshold": 0.35, "num_perm": 512}
    assert summary["preset"] == {"name": "ocr", "chosen": chosen}


def test_dedup__what_is_typed_wins_also_if_it_is_the_default(run, texts):
    found = told(run, "dedup", "a.jsonl", "--preset", "ocr", "--threshold", "0.8", "-o", "out")
    assert (found["threshold"], found["scheme"]["ngram"]) == (0.8, 5)
    assert "threshold" not in found["preset"]["chosen"]
    words = ("--tokenizer", "words", "--no-casefold")
    found = told(run, "dedup", "a.jsonl", "--preset", "ocr", *words, "-o", "words")
    assert (found["scheme"]["tokenizer"], found["scheme"]["casefold"]) == ("words", False)


def test_pairs__for_titles(run, texts):
    found = told(run, "pairs", "a.jsonl", "--preset", "titles", "-o", "pairs.csv")
    assert (found["pairs"], found["threshold"], found["scheme"]["ngram"]) == (1, 0.65, 2)
    found = told(run, "pairs", "a.jsonl", "--preset", "titles", "--top", "1", "-o", "top.csv")
    assert (found["pairs"], found["threshold"], found["scheme"]["ngram"]) == (1, 0.65, 2)


def test_align_search_and_cut__for_ocr(run, texts):
    least = ("--preset", "ocr", "--min-tokens", "60")
    found = told(run, "align", "a.jsonl", *least, "-o", "shared.csv")
    assert (found["passages"], found["threshold"], found["min_tokens"]) == (1, 0.35, 60)
    built = told(run, "index", "build", "idx", "a.jsonl", *least)
    assert built["preset"]["chosen"] == {"tokenizer": "characters", "casefold": True, "ngram": 5}
    found = told(run, "search", "idx", "a.jsonl", "--preset", "ocr", "-o", "hits.csv")
    assert found["preset"] == {"name": "ocr", "chosen": {"threshold": 0.35}}
    assert found["passages"] == 5
    found = told(run, "cut", "a.jsonl", *least, "-o", "cut")
    assert (found["documents_cut"], found["threshold"], found["min_tokens"]) == (1, 0.35, 60)


def test_index_of_documents__has_its_own(run, texts):
    kind = ("--kind", "documents")
    built = told(run, "index", "build", "idx", "a.jsonl", *kind, "--preset", "ocr")
    assert built["preset"]["chosen"]["threshold"] == 0.35
    assert told(run, "search", "idx", "a.jsonl", "-o", "hits.csv")["matches"] == 5
    for job in ("dedup", "pairs"):
        outcome = run(job, "a.jsonl", "--against", "idx", "--preset", "ocr", "-o", "out")
        assert outcome.code == 1
        assert outcome.err.startswith("error: --preset has no effect with an index")
    outcome = run("search", "idx", "a.jsonl", "--preset", "ocr", "-o", "out.csv")
    assert outcome.err.startswith("error: --preset has no effect on an index of documents")


def test_dedup_add__preset_of_the_first_addition(run, texts):
    add = ("a.jsonl", "--against", "idx", "--add", "--overwrite", "-o", "out")
    first = told(run, "dedup", *add, "--preset", "ocr")
    assert (first["threshold"], first["preset"]["name"]) == (0.35, "ocr")
    again = told(run, "dedup", *add, "--preset", "ocr")
    assert (again["documents_known"], again["preset"]) == (2, first["preset"])
    assert told(run, "dedup", *add)["documents_known"] == 2
    outcome = run("dedup", *add, "--preset", "titles")
    assert outcome.code == 1
    assert outcome.err.startswith("error: the index was made with ")
