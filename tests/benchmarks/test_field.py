"""The open benchmark of the field: what is planted is there, and answers are judged rightly."""

from __future__ import annotations

import json
import random

import pytest

from benchmarks.field import inputs
from benchmarks.field.inputs import Input, make_input
from benchmarks.field.judging import judge
from benchmarks.recall.truth import find_truth

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def articles(monkeypatch):
    chance = random.Random(5)
    made = [[f"w{chance.randrange(5000)}" for _ in range(3000)] for _ in range(60)]
    monkeypatch.setattr(inputs, "_articles", lambda: made)


def texts_of(found):
    with found.path.open(encoding="utf-8") as lines:
        return {row["id"]: row["text"] for row in map(json.loads, lines)}


def test_make_input__passages_stand_where_it_says(tmp_path):
    found = make_input("passages", 40, 1, tmp_path)
    texts = texts_of(found)
    assert len(found.passages) == 20
    for each in found.passages:
        taken = texts[each.query][each.query_start : each.query_stop].split()
        lent = texts[each.document][each.start : each.stop].split()
        assert len(taken) == len(lent) >= 60
        n_changed = sum(first != second for first, second in zip(taken, lent, strict=True))
        assert n_changed <= 0.08 * len(lent) + 0.5


def row_of_three(tmp_path):
    """Make three documents of which the neighbours alone are similar, and one like no other."""
    words = [f"v{number}" for number in range(300)]
    texts = []
    for name in "abc":
        texts.append((name, " ".join(words)))
        place = 100 * len(texts)
        words[place - 16 : place] = [f"{name}{number}" for number in range(16)]
    texts.append(("d", "nothing like the others at all"))
    path = tmp_path / "row.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": t}) + "\n" for n, t in texts))
    return Input(path, find_truth(path))


def test_judge__removals(tmp_path):
    found = row_of_three(tmp_path)

    def judged(*names):
        figures = judge("cleaning", found, [{"removed": name} for name in names])
        return [figures[key] for key in ("pairs left", "wrong removals", "of them chains")]

    assert judged() == [2, 0, 0]
    assert judged("b") == [0, 0, 0]
    assert judged("a", "c") == [0, 0, 0]
    assert judged("a") == [1, 0, 0]
    # b stands for a and goes, c is not like a.
    assert judged("a", "b") == [0, 1, 1]
    assert judged("a", "b", "c") == [0, 3, 0]
    assert judged("d") == [2, 1, 0]


def test_judge__pairs(tmp_path):
    found = row_of_three(tmp_path)
    rows = [{"a": "b", "b": "a"}, {"a": "a", "b": "c"}, {"a": "a", "b": "b"}]
    assert judge("documents", found, rows) == {"pairs": 2, "recall": 0.5, "precision": 0.5}
    assert judge("documents", found, []) == {"pairs": 2, "recall": 0.0, "precision": 1.0}
