from __future__ import annotations

import pytest

import neardup

TEXTS = ["the cat sat on the mat", "a dog", "the cat sat on a mat"]


@pytest.fixture
def result():
    return neardup.find_pairs(TEXTS, threshold="0.8", text=neardup.TextOptions(ngram=1))


def test_repr__counts_of_each_collection(result):
    assert repr(result) == "PairResult(3 documents: 1 pair)"
    two = neardup.find_pairs(
        TEXTS * 400, TEXTS[:1], threshold="0.8", text=neardup.TextOptions(ngram=1)
    )
    assert repr(two) == "PairResult(1,200 documents and 1 document: 800 pairs)"
