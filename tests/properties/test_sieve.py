"""No pair at the threshold is ever lost by the filters, and no component by the sieve."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from operator import eq

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.join.filters import fill_filters
from neardup.matching.buckets import sieve_components
from neardup.matching.measures import MEASURES
from neardup.tables import Filters
from tests.arrays import CODES, ragged
from tests.oracles.measures import MEASURES as PLAIN
from tests.oracles.measures import rank_of_sets, sets_reach
from tests.strategies import thresholds

# Of small ones several share a bit.
shingles = st.one_of(st.integers(0, 90), st.integers(0, 2**64 - 1))
lists = st.lists(shingles, min_size=1, max_size=40)


@st.composite
def alike(draw):
    """Two lists that are often alike, with repeats."""
    common, x, y = (
        draw(lists),
        draw(st.lists(shingles, max_size=9)),
        draw(st.lists(shingles, max_size=9)),
    )
    repeats = st.lists(st.sampled_from(common), max_size=6)
    return common + x + draw(repeats), draw(repeats) + common + y


n_words = st.sampled_from([1, 1, 2, 4, 8])


def make_filters(shingle_lists, numbers_of_words, measure):
    """Make filters of these numbers of words, whatever the numbers of shingles."""
    offsets = np.cumsum([0, *numbers_of_words], dtype=np.int64)
    values, shingle_offsets = ragged(shingle_lists)
    words = np.zeros(offsets[-1], np.uint64)
    sizes, seen = np.empty(len(shingle_lists), np.int64), np.empty(4 * len(values) + 4, np.uint64)
    fill_filters(values, shingle_offsets, CODES[measure], seen, offsets, words, sizes)
    return Filters(words, offsets, sizes)


def own_similarity(measure, x, y):
    """Give the similarity of x with y as a threshold, rounded down where it is no fraction."""
    ranked = rank_of_sets(measure, x, y)
    if measure == "cosine":
        return Fraction(math.isqrt(ranked.numerator * 10**18 // ranked.denominator), 10**9)
    return ranked


@given(alike(), n_words, n_words, st.sampled_from(PLAIN), thresholds, st.booleans())
def test_sieve_components__keeps_pairs_at_the_threshold(
    pair, y_words, x_words, measure, share, either_way
):
    """The threshold is the very similarity of the two, or any that it reaches."""
    y, x = map(set, pair)
    if either_way:
        x, y = max((x, y), (y, x), key=lambda sides: rank_of_sets(measure, *sides))
    tie = own_similarity(measure, x, y)
    for threshold in (tie, min(tie, share)):
        if threshold == 0:
            continue
        found = sieve_components(
            np.zeros(2, np.int64),
            np.zeros((2, 1), np.uint64),
            make_filters(pair, [y_words, x_words], measure),
            MEASURES[measure](threshold),
            either_way=either_way,
        )
        assert found.tolist() == [0, 0]


@st.composite
def collections(draw):
    """Give documents: shingles, the number of words of the filter, keys, component, if fixed."""
    pool = [shingle for _ in range(3) for shared in [draw(alike())] for shingle in shared]
    n, n_bands = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    keys = st.lists(st.integers(0, 4), min_size=n_bands, max_size=n_bands)
    document = st.tuples(st.sampled_from(pool), n_words, keys, st.integers(0, 2), st.booleans())
    return draw(st.lists(document, min_size=n, max_size=n))


@given(collections(), st.sampled_from(PLAIN), thresholds, st.booleans(), st.booleans())
def test_sieve_components__each_by_itself_and_no_pair_lost(
    documents, measure, threshold, with_fixed, either_way
):
    def sieve(members):
        lists_of, words_of, keys, components, are_fixed = zip(
            *(documents[d] for d in members), strict=True
        )
        found = sieve_components(
            np.array(components, np.int64),
            np.array(keys, np.uint64),
            make_filters(lists_of, words_of, measure),
            MEASURES[measure](threshold),
            are_fixed=np.array(are_fixed),
            with_fixed=with_fixed,
            either_way=either_way,
        )
        return [members[first] for first in found]

    firsts = sieve(range(len(documents)))
    for component in {document[3] for document in documents}:
        members = [d for d, document in enumerate(documents) if document[3] == component]
        assert [firsts[d] for d in members] == sieve(members)
    for a, b in combinations(range(len(documents)), 2):
        (y, _, keys, component, y_is_fixed), (x, _, others, other, x_is_fixed) = (
            documents[a],
            documents[b],
        )
        may_meet = component == other and any(map(eq, keys, others))
        if may_meet and (with_fixed or not (x_is_fixed and y_is_fixed)):
            x, y = set(x), set(y)
            if sets_reach(measure, x, y, threshold) or (
                either_way and sets_reach(measure, y, x, threshold)
            ):
                assert firsts[a] == firsts[b]
