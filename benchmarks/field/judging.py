"""What an answer is worth: recall, precision, wrong removals, chains."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.alignment.plagdet import Passage, score
from benchmarks.field.inputs import THRESHOLD, Input, Pair

Row = dict[str, Any]
Figures = dict[str, int | float]


def read_answer(path: Path) -> list[Row]:
    """Read the rows of an answer, which is none where a tool has written no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def as_set(rows: Iterable[Row]) -> set[tuple[tuple[str, object], ...]]:
    """Return an answer without its order, and without which text of a pair comes first."""
    found = set()
    for row in rows:
        if "a" in row and row["b"] < row["a"]:
            swapped = {"a": "b", "b": "a"}
            row = {swapped.get(key[0], key[0]) + key[1:]: value for key, value in row.items()}
        found.add(tuple(sorted(row.items())))
    return found


def judge(task: str, found: Input, rows: list[Row]) -> Figures:
    """Judge the answer to a task."""
    if task == "cleaning":
        return _judge_removals(found, {row["removed"] for row in rows})
    pairs = {(min(row["a"], row["b"]), max(row["a"], row["b"])) for row in rows}
    right = found.pairs if found.truth is None else _true_pairs(found)
    figures: Figures = {
        "pairs": len(right),
        "recall": _share(len(pairs & right), len(right)),
        "precision": _share(len(pairs & right), len(pairs)),
    }
    if found.passages and any("a_start" in row for row in rows):
        scores = score(found.passages, _detected(found, rows))["micro"]
        figures["characters recall"] = scores.recall
        figures["characters precision"] = scores.precision
    return figures


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _true_pairs(found: Input) -> frozenset[Pair]:
    """Return the pairs that reach the threshold, by the sets."""
    truth = found.truth
    assert truth is not None
    chosen = truth.reaches(THRESHOLD)
    pairs = zip(truth.earlier[chosen].tolist(), truth.later[chosen].tolist(), strict=True)
    named = ((truth.ids[first], truth.ids[second]) for first, second in pairs)
    return frozenset((min(pair), max(pair)) for pair in named)


def _judge_removals(found: Input, removed: set[str]) -> Figures:
    """Judge which documents go.

    A removal is right if a document that stays is similar to it. Where there is none, but there is
    a row of similar ones to one that stays, it is a chain: each step is similar, the ends are not.
    """
    neighbours = defaultdict(set)
    pairs = _true_pairs(found)
    for first, second in pairs:
        neighbours[first].add(second)
        neighbours[second].add(first)
    wrong = {name for name in removed if not neighbours[name] - removed}
    chains = sum(_reaches_kept(name, neighbours, removed) for name in wrong)
    left = sum(first not in removed and second not in removed for first, second in pairs)
    return {
        "pairs": len(pairs),
        "removed": len(removed),
        "pairs left": left,
        "wrong removals": len(wrong),
        "of them chains": chains,
    }


def _reaches_kept(name: str, neighbours: dict[str, set[str]], removed: set[str]) -> bool:
    seen, waiting = {name}, [name]
    while waiting:
        for other in neighbours[waiting.pop()] - seen:
            if other not in removed:
                return True
            seen.add(other)
            waiting.append(other)
    return False


def _detected(found: Input, rows: list[Row]) -> list[Passage]:
    """Return the passages of an answer, each with the text that took it first."""
    takers = {each.query for each in found.passages}
    passages = []
    for row in rows:
        first, second = ("a", "b") if row["a"] in takers else ("b", "a")
        sides = ((row[side], row[f"{side}_start"], row[f"{side}_stop"]) for side in (first, second))
        passages.append(Passage(*next(sides), *next(sides)))
    return passages
