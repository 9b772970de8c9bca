"""Ids of single documents: found in small segments, large ones, and what is not written yet."""

from __future__ import annotations

from unittest.mock import patch

import pytest

import neardup

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def rows(start, stop):
    return [{"id": i, "text": " ".join([*WORDS, f"w{i}", f"v{i}"])} for i in range(start, stop)]


@pytest.fixture
def index(tmp_path):
    index = neardup.DocumentIndex.create(
        tmp_path / "index", threshold="0.5", text=neardup.TextOptions(ngram=1)
    )
    for start in range(0, 60, 20):
        index.add(rows(start, start + 20))
    index.remove([7, 30])
    return index


@pytest.mark.parametrize("most", [0, 20, 1000])
def test_contains(index, most):
    with patch("neardup.documents.segment._MOST_KEYS_KEPT", most):
        fresh = neardup.DocumentIndex.open(index.folder)
        fresh.insert(60, "a text of its own")
        expected = [*range(7), *range(8, 30), *range(31, 61)]
        assert [i for i in range(-5, 70) if i in fresh] == expected
        with pytest.raises(neardup.InvalidInputError, match="id 59 is in the index already"):
            fresh.insert(59, "another text")
        fresh.insert(30, "the place is free again")
        fresh.insert("59a", "not a number")
