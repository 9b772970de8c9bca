"""Pairs by weighted Jaccard similarity, from texts to rows, against looking at all pairs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from tests.calls import grouped
from tests.examples import examples
from tests.oracles.joins import join
from tests.oracles.measures import WEIGHTED
from tests.oracles.weighted import weighted_jaccard
from tests.properties.weighted_documents import ALL, passages, weigh, words_of

words = st.lists(st.sampled_from(["the", "a", "b", "c", "d"]), max_size=9).map(" ".join)
collections = st.lists(words, max_size=9)


def expected_pairs(left, right, threshold, tf, idf, ngram):
    """List (a, b, similarity) of all pairs."""
    texts = left if right is None else [*left, *right]
    sequences = [words_of({"text": text}) for text in texts]
    sets = weigh(sequences, sequences, tf, idf, ngram)
    sides = None if right is None else [1] * len(left) + [2] * len(right)
    found = {
        (a, b): weighted_jaccard(sets[a], sets[b])
        for a, b, _ in join(sets, WEIGHTED, Fraction(threshold), sides)
    }
    shift = 0 if right is None else len(left)
    return [(str(a), str(b - shift), similarity) for (a, b), similarity in sorted(found.items())]


def rows_of(result):
    return [(row["id_a"], row["id_b"], row["similarity"]) for row in result.pairs.to_pylist()]


def check(found, expected):
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    floats = [float(row[2]) for row in expected]
    assert [row[2] for row in found] == pytest.approx(floats, rel=4 * 2.0**-53, abs=0)


@examples(100)
@given(
    left=collections,
    right=st.none() | collections,
    scheme=st.sampled_from(ALL),
    ngram=st.integers(1, 2),
    threshold=st.sampled_from(["0.000000001", "0.25", "0.5", "0.6", "0.75", "1"]),
)
def test_find_pairs__weighted_as_oracle(left, right, scheme, ngram, threshold):
    tf, idf = scheme
    result = neardup.find_pairs(
        left,
        right,
        measure=WEIGHTED,
        threshold=threshold,
        text=neardup.TextOptions(tf=tf, idf=idf, ngram=ngram),
        run=neardup.RunOptions(workers=1),
    )
    assert result.pairs.column_names == ["id_a", "id_b", "similarity"]
    check(rows_of(result), expected_pairs(left, right, threshold, tf, idf, ngram))


@examples(60)
@given(
    left=collections,
    right=st.none() | collections,
    scheme=st.sampled_from(ALL),
    top=st.integers(1, 12),
    threshold=st.sampled_from(["0.1", "0.4"]),
)
def test_find_pairs__most_similar_by_weights_as_oracle(left, right, scheme, top, threshold):
    """Ties in the order of the input."""
    tf, idf = scheme
    result = neardup.find_pairs(
        left,
        right,
        measure=WEIGHTED,
        top=top,
        threshold=threshold,
        text=neardup.TextOptions(tf=tf, idf=idf),
        run=neardup.RunOptions(workers=1),
    )
    pairs = expected_pairs(left, right, threshold, tf, idf, 1)
    best = sorted(pairs, key=lambda row: (-row[2], int(row[0]), int(row[1])))[:top]
    check(rows_of(result), best)


@examples(60)
@given(left=collections, scheme=st.sampled_from(ALL), top=st.integers(1, 4))
def test_find_pairs__most_similar_partners_by_weights_as_oracle(left, scheme, top):
    tf, idf = scheme
    result = neardup.find_pairs(
        left,
        measure=WEIGHTED,
        threshold="0.1",
        top=top,
        per_document=True,
        text=neardup.TextOptions(tf=tf, idf=idf),
        run=neardup.RunOptions(workers=1),
    )
    pairs = expected_pairs(left, None, "0.1", tf, idf, 1)
    pairs += [(b, a, similarity) for a, b, similarity in pairs]
    pairs.sort(key=lambda row: (int(row[0]), -row[2], int(row[1])))
    best = [row for k, row in enumerate(pairs) if sum(p[0] == row[0] for p in pairs[:k]) < top]
    check(rows_of(result), best)


@pytest.mark.slow
@pytest.mark.parametrize("idf", ["unary", "smooth", "standard"])
def test_find_pairs__through_bands_of_weights(idf):
    """With so many bands of one row nothing is missed, as the exact join confirms."""
    strings, others = passages(3, 120), passages(4, 40)
    options = {"measure": WEIGHTED, "idf": idf, "threshold": "0.5"}
    bands = {"method": "minhash", "num_perm": 512, "bands": (512, 1)}
    for right in (None, [*others, *strings[:9]]):
        exact = neardup.find_pairs(strings, right, **grouped(**options))
        found = neardup.find_pairs(strings, right, **grouped(**options, **bands))
        assert found.pairs == exact.pairs.replace_schema_metadata(found.pairs.schema.metadata)
        assert len(exact) > 10
        assert found.summary["scheme"]["kind"] == "weighted"
