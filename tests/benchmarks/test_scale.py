"""Made-up collections: the truth about them holds."""

from __future__ import annotations

import json
import re

import pyarrow.parquet as pq
import pytest

from benchmarks.scale.generate import generate
from benchmarks.scale.kinds import KINDS, make_kind
from tests.each import each_of


def make(folder, kind="ordinary", seed=1, document_bytes=900.0, files=1, **amount):
    """Write a collection; return its rows by id, the rows of the truth, and its bytes."""
    folder.mkdir()
    output, truth = folder / "made", folder / "truth.parquet"
    chosen = make_kind(kind, seed, document_bytes)
    written = generate(
        chosen, output, files=files, document_bytes=document_bytes, truth=truth, **amount
    )
    parts = sorted(output.iterdir()) if files > 1 else [output]
    data = [part.read_bytes() for part in parts]
    rows = {row["id"]: row for row in map(json.loads, b"".join(data).splitlines())}
    assert (written.documents, written.bytes) == (len(rows), sum(map(len, data)))
    return rows, pq.read_table(truth).to_pylist(), data


def shingles(text):
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))}


def jaccard(first, second):
    a, b = shingles(first), shingles(second)
    return len(a & b) / len(a | b)


@pytest.mark.slow
@each_of("kind", KINDS)
def test_truth__is_what_the_texts_say(tmp_path, kind):
    rows, truth, _ = make(tmp_path / "a", kind, n_documents=700)
    assert truth
    for row in truth:
        text, other = rows[row["id"]]["text"], rows[row["of_id"]]["text"]
        assert row["jaccard"] == jaccard(text, other), row
        assert (text == other) is (row["kind"] == "exact") or row["jaccard"] == 1
        assert row["of_id"] < row["id"]
