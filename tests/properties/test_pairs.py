from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from tests.examples import examples
from tests.oracles import joins
from tests.oracles.measures import JOIN_MEASURES, rank_of_sets, value
from tests.oracles.shingles import elements
from tests.oracles.tokens import Options, tokenize
from tests.spilling import spilling
from tests.strategies import small_texts

collections = st.lists(st.one_of(small_texts, st.sampled_from(["", " . ", "a", "A"])), max_size=10)


@examples(60)
@given(
    left=collections,
    right=st.none() | collections,
    measure=st.sampled_from(JOIN_MEASURES),
    ngram=st.integers(1, 3),
    occurrences=st.sampled_from(["set", "numbered"]),
    threshold=st.sampled_from(["0.25", "0.5", "0.6", "0.75", "1"]),
    memory=st.none() | st.integers(100, 4_000),
    workers=st.integers(1, 2),
)
def test_find_pairs__as_oracle(
    left, right, measure, ngram, occurrences, threshold, memory, workers
):
    """From texts to rows, with equal texts and equal sets, which are joined once."""
    if measure == "overlap":
        threshold = "2"
    with nullcontext() if memory is None else spilling(memory):
        result = neardup.find_pairs(
            left,
            right,
            measure=measure,
            threshold=threshold,
            text=neardup.TextOptions(ngram=ngram, occurrences=occurrences),
            run=neardup.RunOptions(workers=workers),
        )
    texts = left if right is None else [*left, *right]
    sets = [elements(tokenize(t, "words", Options()), ngram, occurrences) for t in texts]
    sides = None if right is None else [1] * len(left) + [2] * len(right)
    shift = 0 if right is None else len(left)
    expected = [
        (str(a), str(b - shift), value(measure, rank_of_sets(measure, sets[a], sets[b])), overlap)
        for a, b, overlap in joins.join(sets, measure, Fraction(threshold), sides)
    ]
    found = [tuple(row.values()) for row in result.pairs.to_pylist()]
    assert [row[:2] + row[3:] for row in found] == [row[:2] + row[3:] for row in expected]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in expected], rel=1e-15)
    assert result.summary["pairs"] == len(found)
