"""Which documents hints are made of, and when a flood of passages is noticed."""

from __future__ import annotations

import gzip
import json
import logging

import numpy as np
import pytest

from neardup.files.resolve import resolve_inputs, resolve_paths
from neardup.files.rows import ColumnNames
from neardup.stages.hints import Beginnings, Flood, hints_of_flood
from neardup.tables import TokenLists
from tests.each import each_of

COLUMNS = ColumnNames("body")


def write_rows(path, n_rows, n_characters=100):
    rows = ({"body": f"{i} " + "x" * n_characters, "id": i} for i in range(n_rows))
    text = "".join(json.dumps(row) + "\n" for row in rows)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(text)


def test_beginnings__of_few_documents_are_all(tmp_path):
    texts = [f"text {i}" for i in range(128)]
    assert Beginnings(resolve_inputs(texts), ColumnNames()).texts == texts
    assert Beginnings(resolve_inputs([]), ColumnNames()).texts == []
    assert Beginnings([], ColumnNames()).texts == []
    [long] = Beginnings(resolve_inputs(["x" * 1_000_000]), ColumnNames()).texts
    assert long == "x" * 128_000


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_beginnings__of_a_large_file_are_the_first(tmp_path, name):
    write_rows(tmp_path / name, 30_000)
    [source] = sources = resolve_paths([str(tmp_path / name)])
    block_bytes = source.block_bytes
    texts = Beginnings(sources, COLUMNS).texts
    assert [int(text.split()[0]) for text in texts] == list(range(128))
    # Little was read of it, and others read as much as before.
    assert source.block_bytes == block_bytes


def test_beginnings__of_many_files_are_of_64(tmp_path):
    for i in range(200):
        (tmp_path / f"{i:03}.txt").write_text(f"{i} text")
    texts = Beginnings(resolve_paths([str(tmp_path)]), ColumnNames()).texts
    assert [int(text.split()[0]) for text in texts] == [i * 200 // 64 for i in range(64)]


def test_beginnings__pass_over_what_cannot_be_read(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "one"}\n{"body": 5}\n{}\n{"body": "two"}\n')
    (tmp_path / "b.jsonl").write_text('{"body": "three"}\n')
    sources = resolve_paths([str(tmp_path)])
    assert Beginnings(sources, COLUMNS).texts == ["one", "two", "three"]
    (tmp_path / "b.jsonl").unlink()
    assert Beginnings(sources, COLUMNS).texts == ["one", "two"]


def partners(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return passages of document 0 with others, two each, and one of document 1."""
    queries = np.array([0] * (2 * n) + [1])
    return queries, np.array([*range(n), *range(n), 0])


@each_of(
    ("n_partners", "n_documents", "n_passages", "is_wanted", "is_flood"),
    [
        (31, 60, 300, True, True),
        (30, 60, 300, True, False),
        (31, 60, 299, True, False),
        (31, 60, 300, False, False),
        (19, 20, 300, True, False),
        (20, 20, 300, True, True),
    ],
)
def test_flood__is_what_most_documents_have(
    n_partners, n_documents, n_passages, is_wanted, is_flood
):
    flood = Flood(n_documents, is_wanted=is_wanted)
    flood.add(*partners(n_partners))
    flood.add(*partners(3))
    flood.add(np.empty(0, np.int64), np.empty(0, np.int64))
    assert flood.n_partners == n_partners
    assert len(hints_of_flood(flood, n_documents, n_passages)) == is_flood


def test_flood__is_looked_for_in_a_few_beginnings():
    tokens = TokenLists(np.arange(2500, dtype=np.uint64), np.arange(0, 2501, 500))
    heads = Flood(100, is_wanted=True).heads(tokens)
    assert heads.offsets.tolist() == [0, 400, 800, 1200, 1600, 2000]
    assert heads.values[400:402].tolist() == [500, 501]
    short = TokenLists(np.arange(20, dtype=np.uint64), np.arange(0, 21, 2))
    assert Flood(100, is_wanted=True).heads(short).values.tolist() == [
        0,
        1,
        4,
        5,
        8,
        9,
        12,
        13,
        16,
        17,
    ]
    for flood in (Flood(99, is_wanted=True), Flood(100, is_wanted=False)):
        assert flood.heads(tokens).offsets.tolist() == [0]
    none = TokenLists(tokens.values[:0], tokens.offsets[:1])
    assert Flood(100, is_wanted=True).heads(none).offsets.tolist() == [0]


def test_flood__is_logged_before_all_is_aligned(caplog):
    caplog.set_level(logging.INFO, "neardup.hints")
    flood = Flood(100, is_wanted=True)
    for few in ([], [50] * 5, [51, 51, 9, 9, 9]):
        flood.look(few)
    assert caplog.records == []
    flood.look([51, 100, 51, 9, 9])
    [record] = caplog.records
    assert "max_documents (--max-documents) or ignore (--ignore)" in record.getMessage()
