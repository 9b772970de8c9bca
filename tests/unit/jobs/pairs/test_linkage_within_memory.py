"""Blocks, pairs one to one and columns of both sides are the same whatever memory there is."""

from __future__ import annotations

import json

import pytest

from neardup.jobs.pairs import pair_rows
from neardup.reading import texts as columns_of_texts
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from tests.unit.jobs.pairs.test_within_memory import LARGE, SMALL, find, parts_of, texts

__all__ = ["texts"]

OPTIONS = {
    "blocking": {"blocking": "kind"},
    "one-to-one": {"one_to_one": True},
    "columns": {"columns": ("kind", "more", "text")},
    "all": {
        "blocking": "kind",
        "one_to_one": True,
        "columns": "more",
    },
}


def written(texts, path):
    """Write texts with a kind, and something of another type in every block of lines."""
    more = [1, "x", 2.5, None, {"a": [1]}, True]
    lines = []
    for number, text in enumerate(texts):
        row = {"text": text, "kind": [None, 1, 2, 2][number % 4]}
        if number % 7:
            row["more"] = more[number // 20 % len(more)]
        lines.append(json.dumps(row) + "\n")
    path.write_text("".join(lines))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("memory", [10_000, 10**9])
@pytest.mark.parametrize("bands", [LARGE, SMALL], ids=["large", "small"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_linkage__same_at_any_memory(texts, tmp_path, monkeypatch, bands, options, memory):
    monkeypatch.setattr(pair_rows, "_ROWS_AT_ONCE", 50)
    monkeypatch.setattr(columns_of_texts, "_FILE_BYTES", 500)
    left = written(texts, tmp_path / "a.jsonl")
    right = written(texts[::3], tmp_path / "b.jsonl")
    for other in (None, right):
        with Workspace(memory, WorkFolder.temporary(tmp_path)) as workspace:
            spilled = find(left, other, workspace, **bands, **options)
            in_memory = find(left, other, IN_MEMORY, **bands, **options)
            assert parts_of(spilled) == parts_of(in_memory)
            assert len(spilled) > 5


def test_columns__are_those_of_the_documents(texts, tmp_path):
    """Values of kinds that have no type in common are text, and what a row lacks is null."""
    path = written(texts, tmp_path / "a.jsonl")
    table = find(path, None, IN_MEMORY, **SMALL, **OPTIONS["columns"]).pairs
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert table.column_names[4:] == ["kind_a", "kind_b", "more_a", "more_b", "text_a", "text_b"]
    assert str(table["more_a"].type) == "large_string"
    assert str(table["kind_a"].type) == "int64"
    for row in table.to_pylist():
        for side in "ab":
            own = lines[int(row[f"id_{side}"].split(":")[1]) - 1]
            assert row[f"text_{side}"] == own["text"]
            assert row[f"kind_{side}"] == own["kind"]
            value = own.get("more")
            spelled = value if value is None or isinstance(value, str) else json.dumps(value)
            assert row[f"more_{side}"] == spelled
