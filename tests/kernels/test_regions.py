from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage import matches
from neardup.text.weighting import (
    INVERSE_FREQUENCIES,
    TERM_FREQUENCIES,
    DocumentFrequencies,
    term_frequencies,
)
from tests.examples import examples
from tests.oracles import passages as oracle

# In how many of 40 documents each type is: by some weightings the last ones weigh least.
DOCUMENTS, N_DOCUMENTS = (1, 2, 5, 13, 30, 40), 40


@given(
    st.lists(st.integers(0, 9), max_size=30),
    st.lists(st.integers(0, 9), unique=True, max_size=6),
)
def test_number_region__own_numbers(tokens, of_query):
    known = np.full(10, -1, np.int32)
    known[of_query] = range(len(of_query))
    before = known.copy()
    numbers, types = (np.full(len(tokens) + 1, -7, np.int32) for _ in range(2))
    region = np.array(tokens, np.int32)
    n = matches.number_region(
        region, len(of_query), known, numbers[: len(tokens)], types[: len(tokens)]
    )
    others = list(dict.fromkeys(token for token in tokens if token not in of_query))
    entries = [*of_query, *others]
    assert n == len(entries)
    assert numbers.tolist() == [*map(entries.index, tokens), -7]
    assert types.tolist() == others + [-7] * (len(tokens) + 1 - len(others))
    assert known.tolist() == before.tolist()


def narrowed(tokens, tf, type_weights, query_total, p, q, rows):
    """Give the ends that are left at each start, rows of (least, greatest) before."""
    numbers = np.array(tokens, np.int32)
    table = term_frequencies(tf, max(Counter(tokens).values()) + 1)
    counts = np.zeros(len(type_weights), np.int32)
    lows = np.array([low for low, _ in rows], np.int64)
    highs = np.array([high for _, high in rows], np.int64)
    matches.narrow_rows(
        *(numbers, table[:-1].copy(), np.array(type_weights), query_total, p, q),
        *(0, counts, lows, highs),
    )
    assert not counts.any()
    return [
        set(range(low, high + 1)) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
    ], oracle.make_weigh(table.tolist(), type_weights)


def weight_of(tokens, weigh):
    return sum(weigh(kind, f) for kind, f in Counter(tokens).items())


def assert_narrowed(tokens, tf, type_weights, query, p, q, rows):
    """Compare what is left with the bounds, and with all sub-texts that are similar enough.

    ``query`` counts its types, or is what they weigh.
    """
    table = term_frequencies(tf, max([*Counter(tokens).values(), 40]))
    weigh = oracle.make_weigh(table.tolist(), type_weights)
    counts = query if isinstance(query, dict) else {}
    of_query = {kind: weigh(kind, f) for kind, f in counts.items()}
    total = sum(of_query.values()) if counts else query
    found, weigh = narrowed(tokens, tf, type_weights, total, p, q, rows)
    n_similar = 0
    for i, (low, high) in enumerate(rows):
        wanted = set()
        for j in range(max(low, i), high + 1):
            part = Counter(tokens[i : j + 1])
            weight = weight_of(tokens[i : j + 1], weigh)
            if weight * q >= total * p and weight * p <= total * q:
                wanted.add(j)
            weights = {kind: weigh(kind, f) for kind, f in part.items()}
            kinds = weights.keys() | of_query.keys()
            pairs = [(weights.get(k, 0), of_query.get(k, 0)) for k in kinds]
            shared, either = sum(map(min, pairs)), sum(map(max, pairs))
            if counts and either and Fraction(shared, either) >= Fraction(p, q):
                assert j in found[i], (i, j)
                n_similar += 1
        assert found[i] == wanted, i
    return n_similar


def inverses(idf, of_types):
    frequencies = DocumentFrequencies(
        np.arange(len(DOCUMENTS), dtype=np.uint64), np.array(DOCUMENTS), N_DOCUMENTS
    )
    return frequencies.idf_of(np.array(of_types, np.uint64), idf).tolist()


FRACTIONS = [(1, 2), (1, 1), (4, 5), (9, 10), (1, 10), (333, 1000)]


def random_case(generator, n, n_types, p, q):
    """Tokens, a query that is a changed part of them, and rows within the text."""
    tokens = [generator.randrange(n_types) for _ in range(n)]
    i = generator.randrange(n)
    part = tokens[i : generator.randrange(i, n) + 1]
    part[generator.randrange(len(part))] = generator.randrange(n_types)
    rows = []
    for start in range(generator.randint(1, n)):
        low = generator.randrange(start, n)
        rows.append((low, generator.randrange(low - 1, n)))
        if generator.random() < 0.6:
            rows[-1] = (start, n - 1)
    return tokens, dict(Counter(part)), p, q, rows


@examples(100)
@given(
    st.randoms(use_true_random=False),
    st.sampled_from(TERM_FREQUENCIES),
    st.sampled_from(INVERSE_FREQUENCIES),
    st.integers(1, 25),
    st.integers(1, 6),
    st.sampled_from(FRACTIONS),
)
def test_narrow_rows__as_oracle(generator, tf, idf, n, n_types, fraction):
    type_weights = inverses(idf, generator.sample(range(6), n_types))
    tokens, query, p, q, rows = random_case(generator, n, n_types, *fraction)
    assert_narrowed(tokens, tf, type_weights, query, p, q, rows)


def test_narrow_rows__products_beyond_64_bits():
    """Weights of 2^50 each, times denominators of a million."""
    tokens, rows = [0, 1, 2] * 8, [(i, 23) for i in range(24)]
    for total in (1 << 50, 7 << 50, (7 << 50) + 1, (12 << 50) - 1):
        for p, q in ((1, 2), (500_001, 1_000_000), (10**9 - 1, 10**9), (7, 10)):
            assert_narrowed(tokens, "squared", [2.0**30, 2.0**31, 2.0**25], total, p, q, rows)
