"""Made-up collections: the truth about them holds, and they are the same every time."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.scale.generate import generate, parse_size
from benchmarks.scale.kinds import KINDS, make_kind
from benchmarks.scale.words import N_WORDS, word
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


@pytest.mark.slow
def test_ordinary__shares_and_kinds_are_as_stated(tmp_path):
    rows, truth, _ = make(tmp_path / "a", n_documents=6000)
    kinds = [row["kind"] for row in truth]
    assert kinds.count("exact") / len(rows) == pytest.approx(0.05, abs=0.01)
    near = [row for row in truth if row["kind"] != "exact"]
    assert {row["kind"] for row in near} == {"edited", "cut", "wrapped"}
    assert len(near) / len(rows) == pytest.approx(0.15, abs=0.015)
    assert 0.25 < np.mean([row["jaccard"] >= 0.8 for row in near]) < 0.75
    lengths = [len(row["text"].encode()) for row in rows.values()]
    assert np.mean(lengths) == pytest.approx(900, rel=0.1)
    assert {len(row) for row in rows.values()} == {3}


@pytest.mark.slow
def test_ordinary__other_documents_hardly_meet(tmp_path):
    rows, truth, _ = make(tmp_path / "a", n_documents=300)
    copies = {row["id"] for row in truth}
    originals = [row["text"] for name, row in rows.items() if name not in copies]
    # Some share a boilerplate, which is a part of a document only.
    similar = [jaccard(a, b) for a, b in itertools.combinations(originals[:150], 2)]
    assert np.mean(similar) < 0.005
    assert np.mean(np.array(similar) == 0) > 0.9


@pytest.mark.slow
def test_bucket__all_pairs_are_just_below_the_threshold(tmp_path):
    rows, _, _ = make(tmp_path / "a", "bucket", document_bytes=1000.0, n_documents=60)
    texts = [row["text"] for row in rows.values()]
    similar = [jaccard(a, b) for a, b in itertools.combinations(texts, 2)]
    assert min(similar) >= 0.74
    assert max(similar) < 0.8


@pytest.mark.slow
def test_chain__neighbours_are_similar_and_distant_ones_are_not(tmp_path):
    rows, _, _ = make(tmp_path / "a", "chain", n_documents=250)
    texts = [row["text"] for row in rows.values()]
    assert min(jaccard(a, b) for a, b in itertools.pairwise(texts)) > 0.9
    assert max(jaccard(texts[i], texts[i + 20]) for i in range(200)) < 0.8
    assert max(jaccard(texts[i], texts[i + 170]) for i in range(80)) == 0


@pytest.mark.slow
def test_copies__have_one_text(tmp_path):
    rows, _, _ = make(tmp_path / "a", "copies", n_documents=50)
    assert len({row["text"] for row in rows.values()}) == 1


@pytest.mark.slow
def test_short__are_mostly_different(tmp_path):
    rows, truth, _ = make(tmp_path / "a", "short", document_bytes=50.0, n_documents=4000)
    texts = [row["text"] for row in rows.values()]
    assert np.mean([len(text.encode()) for text in texts]) == pytest.approx(55, abs=12)
    assert len(set(texts)) > 0.93 * len(texts)
    assert len(truth) < 0.12 * len(texts)


@pytest.mark.slow
def test_documents__are_the_same_for_a_seed_however_many_and_in_however_many_files(tmp_path):
    _, truth, (data,) = make(tmp_path / "a", n_documents=9000)
    _, same_truth, parts = make(tmp_path / "b", n_documents=9000, files=4)
    _, _, (fewer,) = make(tmp_path / "c", n_documents=5000)
    _, _, (by_bytes,) = make(tmp_path / "d", n_bytes=3_000_000)
    _, _, (other,) = make(tmp_path / "e", seed=2, n_documents=9000)
    assert b"".join(parts) == data
    assert same_truth == truth
    assert max(map(len, parts)) < 1.1 * min(map(len, parts))
    assert data.startswith(fewer)
    assert data.startswith(by_bytes)
    assert 3_000_000 <= len(by_bytes) < 3_060_000
    assert other[:1000] != data[:1000]


@pytest.mark.slow
def test_words__are_all_different():
    words = {word(rank) for rank in range(N_WORDS)}
    assert len(words) == N_WORDS
    assert 0 < sum(not each.isascii() for each in words) < N_WORDS / 50


@pytest.mark.slow
@each_of(("text", "size"), [("20GB", 20 * 10**9), ("1.5MB", 1_500_000), ("7kB", 7000), ("12", 12)])
def test_parse_size(text, size):
    assert parse_size(text) == size
