"""``neardup plan``: what a run would find and take."""

from __future__ import annotations

import json
import time

import pytest

from neardup.files.jsonlines import JsonBlock, JsonLinesSource


def test_plan__without_input(run):
    outcome = run("plan")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "16 bands of 6 rows, 96 hash functions"
    assert lines[1] == "a pair at jaccard 0.8 is compared with probability 0.9923"
    assert lines[2:4] == ["", "Jaccard  probability that a pair is compared"]
    curve = [line.split() for line in lines[4:]]
    assert [float(words[0]) for words in curve] == [i / 20 for i in range(2, 21)]
    [marked] = [line for line in lines if line.endswith("<- threshold")]
    assert marked.startswith("  0.800  ")
    assert "0.9923" in marked
    assert max(len(line) for line in lines) <= 80


def test_plan__json(run):
    outcome = run("plan", "--json", "--bands", 20, "--rows", 5, "--threshold", "0.7")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    facts = json.loads(outcome.out)
    expected = 1 - (1 - 0.7**5) ** 20
    assert facts["predicted_recall"] == pytest.approx(expected)
    assert (facts["bands"], facts["rows"], float(facts["threshold"])) == (20, 5, 0.7)
    for point in facts["curve"]:
        assert point["probability"] == pytest.approx(1 - (1 - point["jaccard"] ** 5) ** 20)
    assert "estimate" not in facts


@pytest.mark.parametrize(
    ("measure", "threshold", "least"),
    [
        ("dice", "0.8", 0.8 / 1.2),
        ("cosine", "0.9", 0.81),
        ("containment", "0.9", 0.9 / 2.1),
        ("max-containment", "0.9", 0.9 / 2.1),
    ],
)
def test_plan__other_measures(run, measure, threshold, least):
    outcome = run("plan", "--measure", measure, "--threshold", threshold)
    assert f"such a pair has a Jaccard similarity of at least {least:.3f}\n" in outcome.out
    condition = "if one document is at most twice as large as the other\n"
    assert (condition in outcome.out) == ("containment" in measure)
    facts = json.loads(run("plan", "--measure", measure, "--threshold", threshold, "--json").out)
    assert facts["least_jaccard"] == pytest.approx(least)
    assert facts["predicted_recall"] >= 0.99


def test_plan__with_input(run, here, texts, write_texts):
    write_texts("a.jsonl", texts)
    write_texts("b.csv", texts[:10])
    outcome = run("plan", "a.jsonl", "b.csv", "--threshold", "0.7")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"\n{len(texts) + 10} documents, " in outcome.out
    for what in ("similar pairs", "false candidates", "memory", "disk", "time"):
        assert f"\n  {what} " in outcome.out
    assert sorted(path.name for path in here.iterdir()) == ["a.jsonl", "b.csv"]


def test_plan__estimate(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    estimate = json.loads(run("plan", "a.jsonl", "--json").out)["estimate"]
    assert estimate["documents"] == len(texts)
    assert estimate["text_bytes"] == sum(len(text.encode()) for text in texts)
    # A group of an original, its two copies, and two that are nearly that: ten pairs each.
    assert 60 <= estimate["pairs_similar"] <= 140
    low, high = estimate["memory_bytes"]
    assert 0 < low <= high
    assert estimate["disk_bytes"] > 0


@pytest.mark.parametrize("workers", [1, 4])
def test_plan__seconds(run, write_file, monkeypatch, workers):
    """Two readings of all; sketches of blocks 1, 2, 4 and 8, scaled up, over threads; or all twice.

    The clock moves on by 3 seconds a block that is read, and by 8 for each that is parsed.
    """
    now, lengths = 0.0, []
    read, parse = JsonLinesSource.blocks, JsonBlock.parse

    def slowly_read(source):
        nonlocal now
        for block in read(source):
            now += 3
            lengths.append(len(block))
            yield block

    def slowly_parse(*arguments, **options):
        nonlocal now
        now += 8
        return parse(*arguments, **options)

    write_file("a.jsonl", '{"text": "one two three"}\n' * 100)
    monkeypatch.setitem(JsonLinesSource.__init__.__kwdefaults__, "block_bytes", 300)
    monkeypatch.setattr(JsonLinesSource, "blocks", slowly_read)
    monkeypatch.setattr(JsonBlock, "parse", slowly_parse)
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    estimate = json.loads(run("plan", "a.jsonl", "--workers", workers, "--json").out)["estimate"]
    sampled = [lengths[i] for i in (0, 1, 3, 7)]
    assert 8 <= len(lengths) < 16
    assert sum(lengths) == 100
    seconds = 2 * 3 * len(lengths) + 8 * len(sampled) * 100 / sum(sampled) / workers
    assert estimate["seconds"] == pytest.approx([seconds, 2 * seconds])


@pytest.mark.parametrize("content", ["", '{"text": ""}\n', '{"text": "one"}\n'])
def test_plan__hardly_any_input(run, write_file, content):
    write_file("a.jsonl", content)
    outcome = run("plan", "a.jsonl", "--json")
    assert outcome.code == 0
    estimate = json.loads(outcome.out)["estimate"]
    assert (estimate["documents"], estimate["pairs_similar"]) == (content.count("\n"), 0)


def test_plan__quiet(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    outcome = run("plan", "a.jsonl", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_plan__predicts_what_dedup_does(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    options = ("--threshold", "0.65", "--recall", "0.97", "--num-perm", 200, "--json")
    plan = json.loads(run("plan", *options).out)
    summary = json.loads(run("dedup", "a.jsonl", "-o", "out", *options).out)
    for name in ("bands", "rows", "predicted_recall", "threshold", "measure", "recall"):
        assert plan[name] == summary[name]


def test_plan__weights(run, write_file):
    rows = [f'{{"text": "all of us say {word} {word} and again {word}"}}' for word in "abcd" * 5]
    write_file("a.jsonl", "\n".join(rows) + "\n")
    outcome = run("plan", "a.jsonl", "--json", "--measure", "weighted-jaccard", "--idf", "standard")
    assert (outcome.code, outcome.err) == (0, "")
    facts = json.loads(outcome.out)
    assert (facts["measure"], facts["least_jaccard"]) == ("weighted-jaccard", 0.8)
    # Words that all documents have weigh nothing: only equal texts are similar.
    assert facts["estimate"]["pairs_similar"] == 4 * (5 * 4 / 2)
    unary = run("plan", "a.jsonl", "--json", "--measure", "weighted-jaccard", "--idf", "unary")
    assert json.loads(unary.out)["estimate"]["documents"] == 20
