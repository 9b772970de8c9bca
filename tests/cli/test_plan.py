"""``neardup plan``: bands, rows and the S-curve."""

from __future__ import annotations

import json

import pytest


def test_plan__chart(run):
    outcome = run("plan")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "16 bands of 6 rows, 96 hash functions"
    assert lines[1] == "a pair at jaccard 0.8 is compared with probability 0.9923"
    assert lines[2] == "the curve is steepest at 0.612; half of the pairs are compared at 0.591"
    assert lines[3:5] == ["", "Jaccard  probability that a pair is compared"]
    curve = [line.split() for line in lines[5:]]
    assert [float(words[0]) for words in curve] == [i / 20 for i in range(2, 21)]
    [marked] = [line for line in lines if line.endswith("<- threshold")]
    assert marked.startswith("  0.800  ")
    assert "0.9923" in marked
    assert max(len(line) for line in lines) <= 80


def test_plan__json(run):
    outcome = run("plan", "--json", "--bands", "20x5", "--threshold", "0.7")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    facts = json.loads(outcome.out)
    expected = 1 - (1 - 0.7**5) ** 20
    assert facts["predicted_recall"] == pytest.approx(expected)
    assert (facts["bands"], facts["rows"], float(facts["threshold"])) == (20, 5, 0.7)
    for point in facts["curve"]:
        assert point["probability"] == pytest.approx(1 - (1 - point["jaccard"] ** 5) ** 20)
    assert facts["steepest"] == pytest.approx((4 / 99) ** 0.2)
    assert facts["midpoint"] == pytest.approx((1 - 0.5**0.05) ** 0.2)


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
    facts = json.loads(run("plan", "--measure", measure, "--threshold", threshold, "--json").out)
    assert facts["least_jaccard"] == pytest.approx(least)
    assert facts["predicted_recall"] >= 0.99


@pytest.mark.parametrize("options", [("in.jsonl",), ("--ngram", 5), ("--memory", "1GB")])
def test_plan__reads_no_input(run, options):
    assert run("plan", *options).code == 2
