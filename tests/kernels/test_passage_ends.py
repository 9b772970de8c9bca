"""Ends of passages: moved to where two texts begin and cease to agree."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from neardup.kernels._compile import uncompiled
from neardup.kernels.passage.chains import Hit
from neardup.kernels.passage.ends import (
    WordWeights,
    align_words,
    common_extent,
    grow_equal,
    in_order,
    refine_ends,
    stretch_ends,
)
from neardup.kernels.sketch.weighted_minhash import SCALE
from neardup.tables import TokenLists
from neardup.text.weighting import count_documents, term_frequencies
from tests.examples import examples
from tests.oracles import alignment as oracle
from tests.oracles.runs import Match
from tests.pairs import pair_of

HALF = Fraction(1, 2)


@examples(120)
@given(
    texts=st.tuples(*[st.lists(st.integers(0, 4), max_size=150)] * 2)
    | st.tuples(*[st.lists(st.integers(0, 90), max_size=150)] * 2),
)
def test_align_words__the_path_of_rapidfuzz(texts):
    one, other = (np.array(text, np.int64) for text in texts)
    patterns = np.full(100, -1, np.int64)
    found = uncompiled(align_words)(one, other, patterns).tolist()
    assert (patterns == -1).all()
    names = ["equal", "replace", "delete", "insert"]
    assert [names[edit] for edit in found] == [
        edit.tag
        for edit in Levenshtein.opcodes(*texts)
        for _ in range(max(edit.src_end - edit.src_start, edit.dest_end - edit.dest_start))
    ]


def test_in_order__the_nearest_of_equal_ends():
    one, other, patterns = np.array([1, 2, 3]), np.array([1, 4, 3]), np.full(5, -1)
    assert in_order(align_words(one, other, patterns)) == (1, 1)


texts = st.lists(st.integers(0, 5), max_size=9)
some_weights = st.lists(st.integers(0, 4), min_size=6, max_size=6)


@given(query=texts, document=texts, weights=some_weights, per_mille=st.integers(300, 900))
def test_common_extent__oracle(query, document, weights, per_mille):
    one, other = (np.array(text, np.int64) for text in (query, document))
    pair = pair_of(range(6), [], HALF, 10)
    pair.words.inverses[:] = np.array(weights) / SCALE
    known = dict(enumerate(weights))
    expected = oracle.common_extent(query, document, per_mille, 1000, known)[1:]
    assert common_extent(one, other, per_mille, pair.words, pair.weights) == expected
    assert not pair.words.counts.any()
    assert not pair.words.other_counts.any()


@given(
    shared=st.integers(60, 100),
    around=st.tuples(*[st.integers(0, 30)] * 4),
    shifts=st.tuples(*[st.integers(-4, 4)] * 4),
)
def test_refine_ends__to_where_texts_agree(shared, around, shifts):
    noise = np.split(
        np.arange(sum(around), dtype=np.uint64) + np.uint64(1000), np.cumsum(around)[:-1]
    )
    same = np.arange(shared, dtype=np.uint64)
    query = np.concatenate([noise[0], same, noise[1]])
    document = np.concatenate([noise[2], same, noise[3]])
    true = Hit(around[0], around[0] + shared, around[2], around[2] + shared)
    off = Hit(
        max(true.query_start + shifts[0], 0),
        min(true.query_stop + shifts[1], len(query)),
        max(true.start + shifts[2], 0),
        min(true.stop + shifts[3], len(document)),
    )
    pair = pair_of(query, document, HALF, 40)
    assert refine_ends(pair, off) == true
    assert refine_ends(pair, true) == true


@given(texts=st.tuples(*[st.lists(st.integers(0, 4), min_size=1, max_size=30)] * 2), data=st.data())
def test_refine_ends__stays_in_the_texts(texts, data):
    query, document = (np.array(text, np.uint64) for text in texts)
    ends = [
        sorted(data.draw(st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text)))))
        for text in texts
    ]
    hit = Hit(*ends[0], *ends[1])
    assume(hit.query_start < hit.query_stop and hit.start < hit.stop)
    found = refine_ends(pair_of(query, document, HALF, data.draw(st.integers(1, 12))), hit)
    assert 0 <= found.query_start < found.query_stop <= len(query)
    assert 0 <= found.start < found.stop <= len(document)


@examples(600)
@given(seed=st.integers(0, 2**32), threshold=st.sampled_from(["0.3", "0.5", "0.8"]))
def test_refine_ends__oracle(seed, threshold):
    """Words of a text stand in another order in the other, with others between and around them."""
    rng = random.Random(seed)
    texts = [[rng.randrange(20, 40) for _ in range(rng.randrange(40))] for _ in range(2)]
    shared, kept = [rng.randrange(20) for _ in range(30)], rng.choice((0.7, 0.95))
    spans = []
    for text in texts:
        place = rng.randrange(len(text) + 1)
        text[place:place] = [
            word if rng.random() < kept else rng.randrange(40)
            for word in rng.sample(shared, len(shared))
        ]
        # What was found is nearly all of it, or anything.
        near = place + rng.randrange(8), place + 30 - rng.randrange(8)
        spans.append(rng.choice((near, sorted(rng.sample(range(len(text) + 1), 2)))))
    # Words that are in one document of many weigh more than those in all.
    documents = [np.arange(0, 40, step, dtype=np.uint64) for step in (1, 2, 3, 5, 7)]
    offsets = np.cumsum([0, *map(len, documents)])
    frequencies = count_documents([TokenLists(np.concatenate(documents), offsets)])
    weights = WordWeights(
        term_frequencies("raw", 80),
        frequencies.hashes,
        frequencies.idf_of_counts(frequencies.counts, "smooth"),
        np.float64(1),
    )
    scaled = np.floor(weights.inverses * SCALE + 0.5).astype(int)
    of_words = dict(zip(frequencies.hashes.tolist(), scaled.tolist(), strict=True))
    least = Fraction(threshold)
    pair = pair_of(*texts, least, 12, weights=weights)
    found = refine_ends(pair, Hit(*spans[0], *spans[1]))
    plan = oracle.Plan(10, 12, least)
    assert found == Hit(
        *oracle.refined_ends(*map(tuple, texts), Match(*spans[0], *spans[1]), plan, of_words)
    )


@given(
    equal=st.tuples(st.integers(0, 600), st.integers(0, 600)),
    around=st.tuples(*[st.integers(0, 3)] * 4),
)
def test_grow_equal__over_equal_tokens_only(equal, around):
    size = equal[0] + equal[1] + 1
    same = np.arange(size, dtype=np.uint64)
    parts = [np.full(n, 10_000 + i, np.uint64) for i, n in enumerate(around)]
    query = np.concatenate([parts[0], same, parts[1]])
    document = np.concatenate([parts[2], same, parts[3]])
    inner = Hit(
        *(around[0] + equal[0], around[0] + equal[0] + 1),
        *(around[2] + equal[0], around[2] + equal[0] + 1),
    )
    whole = Hit(around[0], around[0] + size, around[2], around[2] + size)
    assert grow_equal(pair_of(query, document, HALF, 10), inner) == whole


@given(seed=st.integers(0, 2**32), shift=st.integers(-6, 6))
def test_refine_ends__of_shuffled_text(seed, shift):
    """Where words are the same in another order, the ends are where the words are.

    Pieces are reversed: words that happen to be in order are an alignment that may end elsewhere.
    """
    rng = random.Random(seed)
    words = list(range(80))
    shuffled: list[int] = []
    while len(shuffled) < len(words):
        shuffled += words[len(shuffled) : len(shuffled) + rng.randint(6, 12)][::-1]
    query = np.array([*range(200, 240), *words, *range(240, 280)], np.uint64)
    document = np.array([*range(300, 340), *shuffled, *range(340, 380)], np.uint64)
    off = Hit(40 + shift, 120 - shift, 40 - shift, 120 + shift)
    found = refine_ends(pair_of(query, document, HALF, 34), off)
    assert found == Hit(40, 120, 40, 120)


def test_refine_ends__stay_where_texts_have_nothing_in_common():
    query, document = np.arange(50, dtype=np.uint64), np.arange(100, 150, dtype=np.uint64)
    hit = Hit(10, 30, 12, 28)
    assert refine_ends(pair_of(query, document, HALF, 8), hit) == hit


are_mostly_common = st.lists(st.sampled_from([True] * 3 + [False]), min_size=30, max_size=60)


@given(are_mostly_common, st.integers(10, 30), st.integers(0, 12))
def test_stretch_ends__most_similar_of_what_is_long_enough(are_common, min_tokens, shift):
    """Words of one text were changed one for one: ends stand in the same places in both."""
    n = len(are_common)
    around = list(range(1000, 1040))
    query = np.array([*around, *range(n), *around[::-1]], np.uint64)
    document = query.copy()
    document[: len(around)] += np.uint64(500)
    document[len(around) + n :] += np.uint64(500)
    changed = len(around) + np.flatnonzero(~np.array(are_common))
    document[changed] += np.uint64(5000)
    start, stop = len(around) + shift, len(around) + n - shift
    pair = pair_of(query, document, HALF, 60, min_tokens=min_tokens)
    is_there, found = stretch_ends(pair, Hit(start, stop, start, stop))
    is_same = query == document
    places, half = np.flatnonzero(is_same).tolist(), (stop - start) // 2

    def surplus(first, behind):
        return 3 * np.count_nonzero(is_same[first:behind]) - 2 * (behind - first)

    reached = [
        surplus(first, last + 1)
        for first in places
        for last in places
        if first < start + half and last >= stop - half and last + 1 - first >= min_tokens
    ]
    if not is_there:
        assert not reached
        return
    assert (found.query_start, found.query_stop) == (found.start, found.stop)
    assert found.stop - found.start >= min_tokens
    assert surplus(found.start, found.stop) >= max(reached, default=-(10**9))
