"""The most similar pairs and partners, and pairs through MinHash bands, against all pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.matching.measures import rank_fractions
from tests.calls import grouped
from tests.examples import examples
from tests.oracles import edits, joins
from tests.oracles.measures import JOIN_MEASURES, rank_of_sets
from tests.oracles.shingles import elements
from tests.oracles.tokens import Options, tokenize
from tests.strategies import small_texts

collections = st.lists(st.one_of(small_texts, st.sampled_from(["", "a", "A a", "b a"])), max_size=9)
tops = st.integers(1, 12)


def scored_pairs(left, right, measure, threshold, *, both_ways):
    """List (a, b, rank) of all pairs; ``both_ways`` also those of a self-join turned round."""
    texts = left if right is None else [*left, *right]
    sides = None if right is None else [1] * len(left) + [2] * len(right)
    if measure == "edit":
        found = edits.join(texts, threshold, sides)
        pairs = [(a, b, 1 - Fraction(d, max(len(texts[a]), len(texts[b])))) for a, b, d in found]
    else:
        sets = [elements(tokenize(t, "words", Options()), 1, "set") for t in texts]
        pairs = [
            (a, b, rank_of_sets(measure, sets[a], sets[b]))
            for a, b, _ in joins.join(sets, measure, threshold, sides)
        ]
    if both_ways and right is None and measure != "containment":
        pairs += [(b, a, rank) for a, b, rank in pairs]
    return pairs


def found_pairs(result, n_left):
    return [(int(row["id_a"]), int(row["id_b"]) + n_left) for row in result.pairs.to_pylist()]


@examples(80)
@given(
    left=collections,
    right=st.none() | collections,
    measure=st.sampled_from([*JOIN_MEASURES, "edit"]),
    top=tops,
    per_document=st.booleans(),
)
def test_find_pairs__top_as_oracle(left, right, measure, top, per_document):
    least = Fraction(2) if measure == "overlap" else Fraction("0.4")
    result = neardup.find_pairs(
        left,
        right,
        measure=measure,
        threshold=least,
        top=top,
        per_document=per_document,
        text=neardup.TextOptions(ngram=1),
        run=neardup.RunOptions(workers=1),
    )
    pairs = scored_pairs(left, right, measure, least, both_ways=per_document)
    if per_document:
        pairs.sort(key=lambda pair: (pair[0], -pair[2], pair[1]))
        expected = [
            (a, b)
            for k, (a, b, _) in enumerate(pairs)
            if sum(other[0] == a for other in pairs[:k]) < top
        ]
    else:
        pairs.sort(key=lambda pair: (-pair[2], pair[0], pair[1]))
        expected = [(a, b) for a, b, _ in pairs[:top]]
    assert found_pairs(result, 0 if right is None else len(left)) == expected


@examples(40)
@given(texts=collections, distance=st.integers(0, 5), top=tops)
def test_find_pairs__top_by_distance(texts, distance, top):
    result = neardup.find_pairs(
        texts, max_distance=distance, top=top, run=neardup.RunOptions(workers=1)
    )
    pairs = sorted(edits.join(texts, distance), key=lambda pair: (pair[2], pair[0], pair[1]))
    assert found_pairs(result, 0) == [(a, b) for a, b, _ in pairs[:top]]
    assert result.pairs["distance"].to_pylist() == [d for *_, d in pairs[:top]]


@examples(60)
@given(
    left=collections,
    right=st.none() | collections,
    measure=st.sampled_from(JOIN_MEASURES[:-1]),
    threshold=st.sampled_from(["0.25", "0.5", "0.75", "1"]),
)
def test_find_pairs__minhash_finds_what_shares_a_band(left, right, measure, threshold):
    """Bands of one row nearly always hold every pair; what is found is right at any rate."""
    options = {"measure": measure, "threshold": threshold, "ngram": 1, "workers": 1}
    exact = neardup.find_pairs(left, right, **grouped(**options))
    found = neardup.find_pairs(left, right, **grouped(method="minhash", bands=(128, 1), **options))
    assert found.pairs.equals(exact.pairs)


fractions = st.integers(1, 2**62).flatmap(
    lambda below: st.tuples(st.integers(0, below), st.just(below))
)
close = st.integers(2**61, 2**61 + 3).map(lambda above: (above, 2**62))
# Closer to each other than a quotient in floating point is to each.
thirds = st.tuples(st.integers(2**61, 2**62), st.integers(-2, 2)).map(
    lambda pair: (pair[0] // 3 + pair[1], pair[0])
)


@given(
    st.lists(st.one_of(fractions, close, thirds, st.sampled_from([(1, 2), (2, 4), (0, 1), (0, 9)])))
)
def test_rank_fractions__exact(pairs):
    exact = [Fraction(*pair) for pair in pairs]
    order = sorted(set(exact), reverse=True)
    numerators, denominators = (
        (np.array(column, np.int64) for column in zip(*pairs, strict=True))
        if pairs
        else (np.empty(0, np.int64),) * 2
    )
    assert rank_fractions(numerators, denominators).tolist() == [order.index(f) for f in exact]
