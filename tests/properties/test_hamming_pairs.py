"""Pairs by Hamming distance, from texts to rows, against looking at all pairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import ResultLimitError
from neardup.matching.set_join import ALGORITHMS
from tests.calls import grouped
from tests.each import each_of
from tests.examples import examples
from tests.oracles import joins
from tests.oracles.shingles import elements
from tests.oracles.tokens import Options, tokenize
from tests.strategies import small_texts

collections = st.lists(st.one_of(small_texts, st.sampled_from(["", "a", "A a", "b a"])), max_size=9)
algorithms = st.sampled_from(sorted(ALGORITHMS))


def sets_of(texts, ngram, occurrences):
    return [elements(tokenize(text, "words", Options()), ngram, occurrences) for text in texts]


@examples(80)
@given(
    left=collections,
    right=st.none() | collections,
    most=st.integers(0, 8),
    ngram=st.integers(1, 2),
    occurrences=st.sampled_from(["set", "numbered"]),
    algorithm=algorithms,
)
def test_find_pairs__hamming_as_oracle(left, right, most, ngram, occurrences, algorithm):
    result = neardup.find_pairs(
        left,
        right,
        measure="hamming",
        max_distance=most,
        method=algorithm,
        text=neardup.TextOptions(ngram=ngram, occurrences=occurrences),
        run=neardup.RunOptions(workers=1),
    )
    sets = sets_of(left if right is None else [*left, *right], ngram, occurrences)
    sides = None if right is None else [1] * len(left) + [2] * len(right)
    shift = 0 if right is None else len(left)
    assert [tuple(row.values()) for row in result.pairs.to_pylist()] == [
        (str(a), str(b - shift), pytest.approx(1 - distance / len(sets[a] | sets[b])), distance)
        for a, b, distance in joins.hamming_join(sets, most, sides)
    ]
    assert result.pairs.column_names == ["id_a", "id_b", "similarity", "distance"]


@examples(60)
@given(
    left=collections,
    right=st.none() | collections,
    top=st.integers(1, 12),
    most=st.integers(0, 20),
    per_document=st.booleans(),
)
def test_find_pairs__nearest_as_oracle(left, right, top, most, per_document):
    """Ties in the order of the input."""
    result = neardup.find_pairs(
        left,
        right,
        measure="hamming",
        max_distance=most,
        top=top,
        per_document=per_document,
        text=neardup.TextOptions(ngram=1),
        run=neardup.RunOptions(workers=1),
    )
    sets = sets_of(left if right is None else [*left, *right], 1, "set")
    sides = None if right is None else [1] * len(left) + [2] * len(right)
    shift = 0 if right is None else len(left)
    pairs = joins.hamming_join(sets, most, sides)
    if per_document:
        pairs += [(b, a, distance) for a, b, distance in pairs if right is None]
        pairs.sort(key=lambda row: (row[0], row[2], row[1]))
        best = [row for k, row in enumerate(pairs) if sum(p[0] == row[0] for p in pairs[:k]) < top]
    else:
        best = sorted(pairs, key=lambda row: (row[2], row[0], row[1]))[:top]
    found = [(row["id_a"], row["id_b"], row["distance"]) for row in result.pairs.to_pylist()]
    assert found == [(str(a), str(b - shift), distance) for a, b, distance in best]


def test_find_pairs__limit_of_sets_that_share_nothing():
    texts = [f"w{k}" for k in range(10)]
    options = {"measure": "hamming", "max_distance": 2, "ngram": 1}
    assert len(neardup.find_pairs(texts, **grouped(limit=45, **options))) == 45
    with pytest.raises(ResultLimitError, match="more than 44 pairs"):
        neardup.find_pairs(texts, **grouped(limit=44, **options))


def test_find_pairs__hamming_pairs_decide_documents():
    texts = ["a b c d e", "a b c d e f", "a b c d e f g", "x y z"]
    pairs = neardup.find_pairs(
        texts, measure="hamming", max_distance=1, text=neardup.TextOptions(ngram=1)
    )
    assert neardup.choose(pairs, texts).removed.select(["id", "kept_id"]).to_pylist() == [
        {"id": "1", "kept_id": "0"}
    ]


@each_of(
    ("options", "message"),
    [
        ({}, "^give max_distance, the most shingles that one of two documents lacks, with measure"),
        ({"threshold": 0.5}, "^give max_distance"),
        ({"top": 3}, "^give max_distance"),
        ({"max_distance": 2, "threshold": 0.5}, "^give either max_distance or threshold$"),
        ({"max_distance": 2, "method": "minhash"}, "choose method exact for Hamming distances$"),
        ({"max_distance": 2, "tf": "raw"}, "^tf has no effect with measure hamming"),
        ({"max_distance": 2, "seed": 1}, "^seed has no effect with method exact"),
    ],
    ids=repr,
)
def test_find_pairs__options_of_hamming_distances(options, message):
    with pytest.raises(neardup.InvalidParameterError, match=message):
        neardup.find_pairs(["a", "b"], **grouped(measure="hamming", **options))
