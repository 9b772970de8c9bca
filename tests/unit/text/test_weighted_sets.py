from __future__ import annotations

import random
from itertools import pairwise, product

import numpy as np
import pytest

from neardup.tables import TokenLists
from neardup.text.shingles import make_shingle_scheme
from neardup.text.weighting import (
    WeightedScheme,
    Weighting,
    count_documents,
    frequency_lists,
    weighted_sets,
)
from tests.arrays import make_texts, ragged
from tests.each import INVERSE_FREQUENCIES, TERM_FREQUENCIES, each_of
from tests.oracles import weighted as oracle
from tests.oracles.hashing import hash_shingle, hash_token
from tests.oracles.shingles import shingle_tuples
from tests.oracles.tokens import Options, tokenize

ALL = list(product(TERM_FREQUENCIES, INVERSE_FREQUENCIES))
ODD = ["", " . ", "a", "A a", "the", "the the The the the", "a b c", "! b, A", "the b"]


def make_strings(seed, n):
    """Give texts of few words, one of them in nearly all texts, with short and empty ones."""
    generator = random.Random(seed)
    words = [f"w{i}" for i in range(12)]
    found = [*ODD]
    while len(found) < n:
        found.append(" ".join(["the", *generator.choices(words, k=generator.randint(0, 40))]))
    generator.shuffle(found)
    return found


def shingles_of(string, ngram):
    return shingle_tuples(tokenize(string, "words", Options()), ngram)


def expected_sets(strings, collection, tf, idf, ngram):
    """Weigh tuples of words, and only then hash them."""
    lists = [shingles_of(string, ngram) for string in collection]
    counts = oracle.document_frequencies(lists)
    return [
        {
            hash_shingle([hash_token(token) for token in shingle]): weight
            for shingle, weight in oracle.weigh(
                shingles_of(string, ngram), tf, idf, counts, len(collection)
            ).items()
        }
        for string in strings
    ]


def tokens_of(strings, scheme, **lay_out):
    return scheme.tokenizer.hash_tokens(make_texts(strings, **lay_out))


def frequencies_of(collection, scheme):
    return count_documents([frequency_lists(tokens_of(collection, scheme), scheme)])


def as_dicts(sets):
    found = []
    for d, (start, size) in enumerate(zip(sets.starts, sets.sizes, strict=True)):
        values = sets.values[start : start + size].tolist()
        weights = sets.weights[start : start + size].tolist()
        assert values == sorted(set(values))
        assert all(weight > 0 for weight in weights)
        assert sets.totals[d] == sum(weights)
        found.append(dict(zip(values, weights, strict=True)))
    return found


@pytest.mark.slow
@each_of("ngram", [1, 3])
@each_of(("tf", "idf"), ALL)
def test_weighted_sets__as_oracle(tf, idf, ngram):
    strings = make_strings(f"{tf} {idf}", 60)
    scheme = make_shingle_scheme("words", ngram=ngram)
    weighting = WeightedScheme(Weighting(tf, idf), frequencies_of(strings, scheme))
    sets = weighted_sets(tokens_of(strings, scheme, lead="the ", trail=" w1"), scheme, weighting)
    assert as_dicts(sets) == expected_sets(strings, strings, tf, idf, ngram)
    dtypes = [
        a.dtype for a in (sets.values, sets.weights, sets.starts, sets.sizes, sets.totals)
    ]  # fmt: skip
    assert dtypes == [np.uint64, *[np.int64] * 4]
    assert len(sets) == 60


@pytest.mark.parametrize("occurrences", ["set", "numbered"])
def test_weighted_sets__slices_of_a_collection_give_the_same(occurrences):
    strings = make_strings(2, 80)
    scheme = make_shingle_scheme("words", ngram=2)
    weighting = WeightedScheme(Weighting("log", "smooth"), frequencies_of(strings, scheme))
    whole = as_dicts(weighted_sets(tokens_of(strings, scheme), scheme, weighting))
    for cuts in ([0, 80], [0, 1, 2, 80], [0, 7, 7, 30, 79, 80], list(range(81))):
        parts = [
            found
            for start, stop in pairwise(cuts)
            for found in as_dicts(
                weighted_sets(tokens_of(strings[start:stop], scheme), scheme, weighting)
            )
        ]
        assert parts == whole


def test_weighted_sets__heaviest():
    """A weight is 2^30 at most, and sums of many are exact."""
    n = 40_000
    tokens, offsets = ragged([[5] * n + [6], [5] * n, [7]])
    sets = weighted_sets(
        TokenLists(tokens, offsets),
        make_shingle_scheme("words", ngram=1),
        WeightedScheme(Weighting("squared", "unary")),
    )
    five, six, seven = (hash_shingle([token]) for token in (5, 6, 7))
    assert as_dicts(sets) == [{five: 2**50, six: 2**20}, {five: 2**50}, {seven: 2**20}]
