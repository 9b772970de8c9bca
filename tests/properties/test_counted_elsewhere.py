"""Weights by the documents of another collection: ``idf_from``."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

import neardup
from tests.examples import examples
from tests.oracles.joins import join
from tests.oracles.measures import WEIGHTED
from tests.properties.weighted_documents import weigh, words_of

words = st.lists(st.sampled_from(["the", "a", "b", "c"]), max_size=7).map(" ".join)
collections = st.lists(words, max_size=7)
idfs = st.sampled_from(["smooth", "standard", "probabilistic"])


@examples(60)
@given(collections, st.none() | collections, collections, idfs)
def test_find_pairs__weighed_by_other_documents_as_oracle(left, right, reference, idf):
    result = neardup.find_pairs(
        left,
        right,
        measure=WEIGHTED,
        threshold="0.5",
        text=neardup.TextOptions(idf=idf, idf_from=reference),
        run=neardup.RunOptions(workers=1),
    )
    sequences, counted = (
        [words_of({"text": text}) for text in texts]
        for texts in ([*left, *(right or [])], reference)
    )
    sets = weigh(sequences, counted, "raw", idf, 1)
    sides = None if right is None else [1] * len(left) + [2] * len(right)
    shift = 0 if right is None else len(left)
    expected = {(str(a), str(b - shift)) for a, b, _ in join(sets, WEIGHTED, Fraction(1, 2), sides)}
    found = {(row["id_a"], row["id_b"]) for row in result.pairs.to_pylist()}
    assert found == expected
