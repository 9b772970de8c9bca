from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage import lookups
from neardup.kernels.passage.lookups import Places, QueryTokens, Reach
from neardup.kernels.passage.segments import Limits
from neardup.kernels.types import sealed
from neardup.passages.search import weighed_documents
from neardup.text.weighting import TERM_FREQUENCIES, term_frequencies
from tests.arrays import JUNK
from tests.examples import examples
from tests.oracles import passages as oracle

N_TYPES = 12
# Of a token in a query.
_MOST_COPIES = 12
THRESHOLDS = [Fraction(t) for t in ("1/3", "1/2", "4/5", "1")]


def place_lists(tokens):
    starts, places = np.zeros(N_TYPES + 1, np.int64), np.full(len(tokens), JUNK % 99, np.int32)
    lookups.list_places(np.array(tokens, np.int32), starts, places)
    return sealed(Places(starts, places))


def documents_of(texts, tf, inverses):
    """Make documents of texts as kernels take them, and give what weighs their tokens."""
    tokens = [token for text in texts for token in text]
    table = term_frequencies(tf, max(len(tokens), _MOST_COPIES) + 1)
    offsets = np.cumsum([0, *map(len, texts)])
    own = np.array([] if set(inverses) == {1.0} else inverses)
    documents = weighed_documents(np.array(tokens, np.int32), offsets, N_TYPES, own, table)
    return documents, oracle.make_weigh(table.tolist(), inverses)


def weight_of(tokens, weigh):
    return sum(weigh(kind, f) for kind, f in Counter(tokens).items())


def reaches_of(documents, budget, bits):
    reaches = np.full((len(documents.tokens) >> bits) + 1, -1, np.int64)
    counts = np.zeros(N_TYPES, np.int32)
    lookups.find_reaches(documents, np.float64(budget), bits, counts, reaches)
    assert not counts.any()
    return reaches


WEIGHTS = st.just([1.0] * N_TYPES) | st.lists(
    st.sampled_from([0.25, 1.0, 1.7, 6.5]), min_size=N_TYPES, max_size=N_TYPES
)
TEXTS = st.lists(
    st.lists(st.integers(0, N_TYPES - 1), min_size=1, max_size=30), min_size=1, max_size=4
)


@given(
    texts=TEXTS,
    tf=st.sampled_from(TERM_FREQUENCIES),
    inverses=WEIGHTS,
    units=st.integers(1, 30),
    bits=st.integers(0, 3),
)
@examples(200)
def test_find_reaches__of_all_sub_texts(texts, tf, inverses, units, bits):
    documents, weigh = documents_of(texts, tf, inverses)
    budget = units * 2**20
    reaches = reaches_of(documents, budget, bits)
    first = 0
    for text in texts:
        for i in range(len(text)):
            for j in range(i, len(text)):
                if weight_of(text[i : j + 1], weigh) <= budget:
                    bucket = (first + i) >> bits
                    assert bucket + reaches[bucket] >= (first + j) >> bits
        first += len(text)


def least_weights_of(documents, n_least, bits):
    weights = np.full((len(documents.tokens) >> bits) + 1, -1.0)
    counts = np.zeros(N_TYPES, np.int32)
    lookups.find_least_weights(documents, n_least, bits, counts, weights)
    assert not counts.any()
    return weights


@given(
    texts=TEXTS,
    tf=st.sampled_from(TERM_FREQUENCIES),
    inverses=WEIGHTS,
    n_least=st.integers(1, 8),
    bits=st.integers(0, 3),
)
@examples(200)
def test_find_least_weights__of_all_sub_texts(texts, tf, inverses, n_least, bits):
    documents, weigh = documents_of(texts, tf, inverses)
    least = np.full((sum(map(len, texts)) >> bits) + 1, np.inf)
    first = 0
    for text in texts:
        for i in range(len(text) + 1 - n_least):
            # None of more tokens weighs less.
            weight = weight_of(text[i : i + n_least], weigh)
            least[(first + i) >> bits] = min(least[(first + i) >> bits], weight)
        first += len(text)
    found = least_weights_of(documents, n_least, bits)
    assert (found <= least).all()
    if tf in ("binary", "raw"):
        # Rounding is given two units a token, and one.
        assert (found[least < np.inf] >= least[least < np.inf] - 3 * n_least).all()
        assert (found[least == np.inf] == np.inf).all()


def find(texts, queries, tf, inverses, threshold, first_tokens, reach_of, min_tokens=1):
    """Find the starts for each query, of passages as light and as heavy as they may be."""
    documents, weigh = documents_of(texts, tf, inverses)
    numbers = [token for query in queries for token in query]
    stops = np.cumsum([len(query) for query in queries])
    wanted = sealed(
        QueryTokens(
            np.array(numbers, np.int32),
            stops - [len(query) for query in queries],
            stops,
            np.arange(N_TYPES, dtype=np.uint64),
            np.array(inverses),
            term_frequencies(tf, len(numbers) + 1),
            max(map(len, queries)),
        )
    )
    totals = np.full(len(queries), -1, np.int64)
    lookups.weigh_queries(wanted, 0, totals)
    assert totals.tolist() == [weight_of(query, weigh) for query in queries]
    heaviest = float(totals.max() / threshold) * (1 + 1e-6)
    room = np.full((4096, 3), -7, np.int64)
    done, n = lookups.find_buckets(
        *(wanted, 0, np.arange(len(queries)), np.arange(N_TYPES, dtype=np.int32), first_tokens),
        *(len(documents.tokens), place_lists(documents.tokens.tolist())),
        *(reach_of(documents, heaviest, min_tokens), totals * float(threshold) * (1 - 1e-6)),
        *(Limits(1, min_tokens, np.float64(threshold), 0), 0, room),
    )
    assert done == len(queries)
    found = [set() for _ in queries]
    for k, first, behind in room[:n].tolist():
        found[k] |= set(range(first, behind))
    return found


def starts_of_similar(texts, query, tf, inverses, threshold, min_tokens):
    """Give where sub-texts start that are similar enough, by looking at all of them."""
    _, weigh = documents_of(texts, tf, inverses)
    counts = {kind: weigh(kind, f) for kind, f in Counter(query).items()}
    starts, first = set(), 0
    for text in texts:
        rows = [(0, len(text) - 1)] * len(text)
        total = sum(counts.values())
        cells = oracle.similar_cells(text, rows, min_tokens, weigh, counts, total, threshold)
        starts |= {first + i for i, _ in cells}
        first += len(text)
    return starts


def whole_reach(bits, span):
    """Give what makes a reach of some span; from where it is further, there is a run."""

    def reach_of(documents, heaviest, min_tokens):
        reaches = reaches_of(documents, heaviest, bits)
        bounds = np.flatnonzero(np.diff(reaches > span, prepend=False, append=False))
        runs = bounds.reshape(-1, 2).tolist()
        far = [(a, b, (np.arange(a, b) + reaches[a:b]).max()) for a, b in runs]
        weights = least_weights_of(documents, min_tokens, bits)
        return sealed(Reach(bits, span, np.array(far, np.int64).reshape(-1, 3), weights))

    return reach_of


@given(
    texts=TEXTS,
    queries=st.lists(
        st.lists(st.integers(0, N_TYPES - 1), min_size=1, max_size=12), min_size=1, max_size=3
    ),
    tf=st.sampled_from(TERM_FREQUENCIES),
    inverses=WEIGHTS,
    threshold=st.sampled_from(THRESHOLDS),
    bits=st.integers(0, 2),
    span=st.integers(0, 5),
    min_tokens=st.integers(1, 6),
    data=st.data(),
)
@examples(400)
def test_find_buckets__none_is_lost(
    texts, queries, tf, inverses, threshold, bits, span, min_tokens, data
):
    n_tokens = sum(map(len, texts))
    first = st.integers(0, n_tokens)
    first_tokens = np.array(data.draw(st.tuples(*[first for _ in queries])), np.int64)
    found = find(
        *(texts, queries, tf, inverses, threshold, first_tokens),
        *(whole_reach(bits, span), min_tokens),
    )
    for query, first, starts in zip(queries, first_tokens, found, strict=True):
        similar = starts_of_similar(texts, query, tf, inverses, threshold, min_tokens)
        assert {start for start in similar if start >= first} <= starts


def test_find_buckets__over_many_blocks():
    """Rare tokens that stand together far from each other, in text of frequent ones."""
    generator = random.Random(1)
    text = [generator.randrange(4) for _ in range(30_000)]
    places = [3, 8_190, 8_192, 16_383, 29_990]
    for place in places:
        text[place : place + 8] = [0, 4, 5, 1, 6, 7, 2, 8]
    query = [8, 2, 7, 6, 1, 5, 4, 0]

    def near(documents, *_):
        weights = least_weights_of(documents, 8, 3)
        return sealed(Reach(3, 3, np.empty((0, 3), np.int64), weights))

    found = find(
        *([text], [query, [9, 10]], "binary", [1.0] * N_TYPES, Fraction(4, 5)),
        *(np.array([0, 0]), near, 8),
    )
    assert set(places) <= found[0]
    assert len(found[0]) < 600
    assert not found[1]
