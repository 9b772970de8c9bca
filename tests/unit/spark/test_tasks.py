"""Tasks read all blocks of all sources, each once and in order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neardup.engine.spark import cluster
from neardup.engine.spark.cluster import cut_tasks
from neardup.errors import InvalidInputError
from neardup.files.inputs import resolve_inputs, resolve_paths
from tests.each import each_of


def write(path: Path, n_rows: int) -> int:
    """Write rows of about 30 bytes, and return their number."""
    path.write_text("".join(json.dumps({"text": f"row number {i}"}) + "\n" for i in range(n_rows)))
    return n_rows


def sources_of(folder: Path, sizes: list[int]) -> list:
    for number, n_rows in enumerate(sizes):
        write(folder / f"{number:02d}.jsonl", n_rows)
    sources = list(resolve_paths([str(folder)]))
    for source in sources:
        source.block_bytes = 500
    return sources


def rows_of(collections: list[list], found: list) -> list[tuple[int, int, int]]:
    """List collection, source and row of all rows, as tasks read them."""
    return [
        (piece.collection, piece.number, int(row))
        for task in found
        for piece in task
        for block in piece.blocks()
        for row in block.numbers
    ]


@each_of("slots", [1, 2, 5, 100])
@each_of("least", [300, 1500, 10**6])
def test_cut_tasks__all_rows_in_order(tmp_path, monkeypatch, slots, least):
    monkeypatch.setattr(cluster, "_LEAST_BYTES", least)
    sizes = [[3, 0, 700, 1, 1, 1, 40], [200, 5]]
    collections = []
    for number, own in enumerate(sizes):
        folder = tmp_path / str(number)
        folder.mkdir()
        collections.append(sources_of(folder, own))
    found = cut_tasks(collections, slots)
    expected = [
        (collection, number, row)
        for collection, own in enumerate(sizes)
        for number, n_rows in enumerate(own)
        for row in range(1, n_rows + 1)
    ]
    assert rows_of(collections, found) == expected
    # No task has documents of both, which are numbered apart.
    assert all(len({piece.collection for piece in task}) == 1 for task in found)


def test_cut_tasks__refuses_data_in_memory():
    with pytest.raises(InvalidInputError, match="data in memory"):
        cut_tasks([resolve_inputs(["a text"])], 1)
