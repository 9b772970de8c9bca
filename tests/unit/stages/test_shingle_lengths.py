"""What lengths of shingles make of documents, held to counting all pairs."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from neardup.stages import sample
from neardup.stages.sample import compare_lengths, cut_documents
from neardup.tables import TokenLists
from neardup.text.shingles import make_shingle_scheme
from tests.oracles.shingles import elements


def token_lists(documents: list[list[int]]) -> TokenLists:
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    values = np.array(list(itertools.chain(*documents)), np.uint64)
    return TokenLists(values, offsets)


def chance(documents: list[list[int]], ngram: int, occurrences: str) -> Fraction:
    """Take a document, a shingle of it and another document: how often that has it, too."""
    sets = [elements(tokens, ngram, occurrences) for tokens in documents if tokens]
    shares = [
        Fraction(len(own & other), len(own)) for own, other in itertools.permutations(sets, 2)
    ]
    return sum(shares, Fraction(0)) / len(shares)


@pytest.mark.parametrize("occurrences", ["set", "numbered"])
def test_compare_lengths__chance(occurrences):
    rng = np.random.default_rng(3)
    documents = [rng.integers(0, 6, size).tolist() for size in (40, 0, 7, 3, 90, 1, 25)]
    scheme = make_shingle_scheme(ngram=7, occurrences=occurrences)
    parts = [token_lists(documents[:4]), token_lists(documents[4:])]
    found = compare_lengths(parts, scheme)
    assert [each.ngram for each in found] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 16]
    for each in found:
        expected = float(chance(documents, each.ngram, occurrences))
        assert each.chance == pytest.approx(expected)


def test_compare_lengths__what_changed_tokens_leave():
    """Of a long document in which tokens are changed at random, measured."""
    rng = np.random.default_rng(4)
    own = list(range(200_000))
    found = compare_lengths([token_lists([[1], [2]])], make_shingle_scheme())
    for each in found:
        for share, expected in (
            (0.01, each.similarity_at_1_percent),
            (0.05, each.similarity_at_5_percent),
        ):
            kept = rng.random(len(own)) >= share
            common = np.convolve(kept, np.ones(each.ngram), "valid").round() == each.ngram
            together = 2 * len(common) - common.sum()
            assert common.sum() / together == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("documents", [[], [[]], [[], [1, 2]]])
def test_compare_lengths__nothing_to_compare(documents):
    assert compare_lengths([token_lists(documents)], make_shingle_scheme()) == []


def test_cut_documents(monkeypatch):
    monkeypatch.setattr(sample, "LENGTH_TOKENS", 3)
    tokens = token_lists([[1, 2, 3, 4], [5], [], [6, 7, 8, 9], [10, 11]])
    cut = cut_documents(tokens, 3)
    assert cut.values.tolist() == [1, 2, 3, 10, 11]
    assert cut.offsets.tolist() == [0, 3, 3, 5]
    assert len(cut_documents(tokens, 99)) == 5
    assert len(cut_documents(token_lists([]), 5)) == 0
