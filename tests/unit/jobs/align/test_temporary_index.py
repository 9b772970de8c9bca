"""The index that an alignment makes for itself: in which segments makes no difference."""

from __future__ import annotations

import json
import random

import pytest

import neardup
from tests.each import each_of

RNG = random.Random(8)
SHARED = [" ".join(f"w{RNG.randrange(300)}" for _ in range(70)) for _ in range(6)]


def write(path):
    texts = [f"a{k} {RNG.choice(SHARED)} b{k} {RNG.choice(SHARED)}" for k in range(22)]
    path.write_text("".join(json.dumps({"id": k, "text": t}) + "\n" for k, t in enumerate(texts)))
    return path


@pytest.mark.slow
@each_of("idf", ["unary", "smooth"])
def test_align__one_segment_or_many(tmp_path_factory, monkeypatch, idf):
    folder = tmp_path_factory.mktemp("texts")
    queries, documents = write(folder / "a.jsonl"), write(folder / "b.jsonl")
    for other in (documents, None):
        monkeypatch.undo()
        whole = neardup.align(queries, other, idf=idf).passages
        monkeypatch.setattr("neardup.passages.additions._MOST_TOKENS", 200)
        parted = neardup.align(queries, other, idf=idf).passages
        assert len(whole) > 100
        assert parted.equals(whole)
