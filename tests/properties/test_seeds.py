"""How low windows are looked up, against all ways in which words may have been changed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from neardup.errors import InvalidParameterError
from neardup.passages.search_plan import choose_seed_threshold, passage_recall
from tests.examples import examples
from tests.oracles import seeds as oracle

similarities = st.sampled_from([Fraction(t) for t in ("1/5", "2/5", "1/2", "3/5", "4/5", "1")])


@given(st.integers(1, 9), st.integers(1, 9), similarities, similarities)
@example(10, 3, Fraction(1, 5), Fraction(3, 5))
@example(4, 4, Fraction(1, 5), Fraction(1, 5))
@examples(60)
def test_passage_recall__not_above_the_true_one(n_tokens, length, similarity, least):
    step = max(length // 2, 1)
    predicted = passage_recall(n_tokens, similarity, length, step, least)
    true = oracle.recall(n_tokens, similarity, length, step, least)
    assert predicted <= true + Fraction(1, 10**9)


@given(st.integers(2, 60), st.integers(1, 40), similarities, similarities)
def test_choose_seed_threshold__greatest_that_reaches(n_tokens, length, similarity, recall):
    step = max(length // 2, 1)
    try:
        chosen = choose_seed_threshold(n_tokens, similarity, length, step, recall)
    except InvalidParameterError:
        least = Fraction(1, 2 * length - 1)
        assert passage_recall(n_tokens, similarity, length, step, least) < recall
        return
    assert 0 < chosen <= similarity
    assert passage_recall(n_tokens, similarity, length, step, chosen) >= recall - 1e-9
    assume(chosen < similarity)
    common = oracle.least_common(length, chosen)
    greater = Fraction(common + 1, 2 * length - common - 1)
    assert passage_recall(n_tokens, similarity, length, step, greater) < recall


@pytest.mark.parametrize(
    ("n_tokens", "similarity", "length", "recall", "chosen"),
    [
        # 29 of 50 tokens are kept, of which a window of 34 has 16, or 17, or more.
        (50, "2/5", 34, "0.99", "16/52"),
        (50, "2/5", 34, "0.95", "17/51"),
        # 12 of 15 are kept: no window of 10 has lost more than 3.
        (15, "3/5", 10, "1", "7/13"),
    ],
)
def test_choose_seed_threshold__known(n_tokens, similarity, length, recall, chosen):
    found = choose_seed_threshold(
        n_tokens, Fraction(similarity), length, length // 2, Fraction(recall)
    )
    assert found == Fraction(chosen)
