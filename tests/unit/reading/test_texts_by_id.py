"""Texts looked up by ids: those of a column, those made of places, numbers, and bad rows."""

from __future__ import annotations

import json

import pytest

from neardup.errors import InvalidInputError
from neardup.files.inputs import resolve_paths
from neardup.files.rows import ColumnNames
from neardup.options.groups import InputOptions
from neardup.reading.texts import FoundText, read_texts_by_id
from neardup.runs.runner import Runner

BY_DEFAULT = ColumnNames(id_is_default=True)


def write(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def look_up(paths, columns, ids, **options):
    return read_texts_by_id(
        resolve_paths(list(map(str, paths)), InputOptions()), columns, ids, Runner(2), **options
    )


def test_texts_by_id__of_a_column(tmp_path):
    one = write(tmp_path / "a.jsonl", [{"id": "x", "text": "one"}, {"id": "y", "text": "two"}])
    two = write(tmp_path / "b.jsonl", [{"id": "z", "text": "three"}])
    found = look_up([one, two], BY_DEFAULT, ["z", "x", "nobody"])
    assert found == {"x": FoundText("one", "a.jsonl", 1), "z": FoundText("three", "b.jsonl", 1)}


def test_texts_by_id__ids_made_of_places(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"text": f"text {i}"} for i in range(5)])
    found = look_up([path], BY_DEFAULT, ["a.jsonl:2", "a.jsonl:5"])
    assert {key: text for key, (text, *_) in found.items()} == {
        "a.jsonl:2": "text 1",
        "a.jsonl:5": "text 4",
    }


def test_texts_by_id__bad_rows(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"id": "x"}, {"id": "y", "text": "two"}])
    with pytest.raises(InvalidInputError, match="'text'"):
        look_up([path], BY_DEFAULT, ["y"])
    assert look_up([path], BY_DEFAULT, ["x", "y"], skip_bad=True)["y"].text == "two"
