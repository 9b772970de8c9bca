"""The open benchmark of the field: what is planted is there, and answers are judged rightly."""

from __future__ import annotations

import json
import random

import pytest

from benchmarks.field import inputs
from benchmarks.field.__main__ import Tool, tools
from benchmarks.field.inputs import Input, make_input
from benchmarks.field.judging import as_set, judge
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


@pytest.mark.parametrize("task", inputs.MAKERS)
def test_make_input__same_for_a_seed(tmp_path, task):
    first = make_input(task, 40, 7, tmp_path).path.read_bytes()
    assert make_input(task, 40, 7, tmp_path).path.read_bytes() == first
    assert make_input(task, 40, 8, tmp_path).path.read_bytes() != first


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


def test_make_input__contained(tmp_path):
    found = make_input("containment", 40, 1, tmp_path)
    texts = texts_of(found)
    for pair in found.pairs:
        part, whole = sorted((texts[name].split() for name in pair), key=len)
        assert (len(part), len(whole)) == (100, 1000)
        starts = range(len(whole) - len(part) + 1)
        window = min(
            sum(a != b for a, b in zip(part, whole[start:], strict=False)) for start in starts
        )
        assert window <= 2


def test_make_input__chains(tmp_path):
    """Some ends of rows of similar documents are not similar, so that chains show."""
    truth = make_input("cleaning", 300, 1, tmp_path).truth
    pairs = set(
        zip(
            *(
                side[truth.reaches(inputs.THRESHOLD)].tolist()
                for side in (truth.earlier, truth.later)
            ),
            strict=True,
        )
    )
    assert any(
        (first, third) not in pairs and (third, first) not in pairs
        for first, second in pairs
        for other, third in pairs
        if second == other
    )


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


def test_as_set__sides():
    row = {"a": "y", "b": "x", "a_start": 1, "a_stop": 2, "b_start": 3, "b_stop": 4}
    same = {"a": "x", "b": "y", "a_start": 3, "a_stop": 4, "b_start": 1, "b_stop": 2}
    assert as_set([row]) == as_set([same]) != as_set([row | {"a_start": 0}])


def test_tools__metadata():
    found = tools()
    assert set(found) >= {"neardup", "datasketch", "rensa", "rapidfuzz", "text_dedup"}
    for tool in found.values():
        assert tool.tasks <= set(inputs.MAKERS)
        assert tool.dependencies
    assert found["text_dedup"].alone == ("text-dedup==0.4.0",)


def test_tool__without_metadata(tmp_path):
    script = tmp_path / "tool.py"
    script.write_text("print(1)\n")
    with pytest.raises(LookupError, match="no block of metadata"):
        Tool.of(script)
