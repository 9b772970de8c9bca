from __future__ import annotations

import numpy as np

import neardup
from neardup.documents.other import resolve_other
from neardup.files.cuts import Cuts
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import ColumnNames


def test_with_cuts__of_the_texts_whatever_their_column(tmp_path):
    with neardup.DocumentIndex.create(tmp_path / "index", columns=["n"]) as index:
        index.add([{"id": "a", "text": "one two", "n": 5}, {"id": "b", "text": "three", "n": 6}])
    [source] = resolve_other(tmp_path / "index", resolve_inputs)
    [block] = source.blocks()
    columns = ColumnNames(("title", "body"), id="key")
    cuts = Cuts(columns.texts, np.array([0]), np.array([0]), np.array([4]))
    found = block.with_cuts(cuts)
    parsed = found.parse(columns)
    assert (parsed.text.to_pylist(), parsed.id.to_pylist()) == (["two", "three"], ["a", "b"])
    assert found.to_table().to_pylist() == [
        {"id": "a", "text": "two", "n": 5},
        {"id": "b", "text": "three", "n": 6},
    ]
