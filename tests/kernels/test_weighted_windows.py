from __future__ import annotations

import random
from decimal import Decimal
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels._compile import uncompiled
from neardup.kernels.common import hashing
from neardup.kernels.passage import windows
from neardup.kernels.sketch import weighted as consistent
from neardup.text import weighting
from neardup.text.weighting import (
    INVERSE_FREQUENCIES,
    TERM_FREQUENCIES,
    count_documents,
    term_frequencies,
)
from tests.arrays import as_uint64
from tests.examples import examples
from tests.kernels.test_windows import (
    WORDS,
    Lister,
    least_tokens,
    random_text,
    seeds,
    some_texts,
)
from tests.oracles import weighted
from tests.oracles import windows as oracle


class WeightedLister(Lister):
    def rows(self, logs, seed, min_tokens, room, first_text=0, function=None):
        arguments = logs, first_text, np.uint64(seed), min_tokens
        return self.listed(function or windows.weighted_windows, arguments, room)


def log_of(weight):
    if weight == 0:
        return -np.inf
    result = np.empty(1)
    hashing.logarithms(np.array([weight], np.float64), result)
    return float(result[0])


def sampled_values(seed, weigh):
    """Order and identity of copies that weigh as much, each by itself."""

    @cache
    def sample(token, weight):
        orders, identities = np.empty(1, np.uint64), np.empty(1, np.uint64)
        types, counts = np.empty(1, np.int32), np.empty(1, np.int32)
        n = consistent.list_weighted(
            *(as_uint64([token]), np.array([0, 1], np.int64), 1, np.array([log_of(weight)])),
            *(np.uint64(seed), orders, identities, types, counts),
        )
        return (int(orders[0]), int(identities[0])) if n else None

    return cache(lambda token, x: sample(token, weigh(token, x)))


def identity(value):
    return value[1]


def weigh_by(tf, idf, texts):
    """Give what tokens weigh, from the definition: whole numbers of 2^-20."""
    frequencies = weighted.document_frequencies(texts)

    @cache
    def weigh(token, x):
        inverse = weighted.inverse_frequency(idf, frequencies[token], len(texts))
        return weighted.scaled(weighted.term_frequency(tf, x) * inverse)

    return weigh


def log_weights(lister, tf, idf):
    grouped = lister.grouped
    table = term_frequencies(tf, max(map(len, lister.texts), default=0))
    inverses = count_documents([lister.token_lists]).idf_of(grouped.type_hashes, idf)
    logs = np.full(len(grouped.positions), np.nan)
    consistent.fill_log_weights(
        grouped.type_starts, len(grouped.type_hashes), table, inverses, logs
    )
    return logs


def assert_right(texts, tf, idf, seed, min_tokens):
    lister = WeightedLister(texts)
    weigh = weigh_by(tf, idf, lister.texts)
    value_of = sampled_values(seed, weigh)
    listed = lister.windows(log_weights(lister, tf, idf), seed, min_tokens)
    for text, found in zip(lister.texts, listed, strict=True):
        oracle.assert_windows(found, text, value_of, identity, min_tokens)
        oracle.assert_lists_ascend(found)
        if min_tokens == 1:
            assert len(found) == len(oracle.monotonic_windows(text, value_of))
            assert len(found) <= len(oracle.greedy_windows(text, value_of))
    return listed


@examples(80)
@given(
    some_texts,
    st.sampled_from(TERM_FREQUENCIES),
    st.sampled_from(INVERSE_FREQUENCIES),
    seeds,
    least_tokens,
)
def test_weighted_windows__as_oracle(texts, tf, idf, seed, min_tokens):
    assert_right(texts, tf, idf, seed, min_tokens)


def test_weighted_windows__none_without_weights(monkeypatch):
    """If a token in all texts weighs nothing, only sub-texts with others count."""
    monkeypatch.setattr(weighting, "_LEAST_IDF", 0.0)
    monkeypatch.setattr(weighted, "LEAST_IDF", Decimal(0))
    texts = [[0, 0, 1, 0, 0, 0], [0, 0, 0], [0, 2, 2, 0]]
    first, second, third = assert_right(texts, "raw", "standard", 5, 1)
    assert second == []
    # One key for the only token that counts: those that hold it.
    assert [window[1:] for window in first] == [(0, 2, 2, 5)]
    assert {cell for window in third for cell in oracle.cells(window)} == {
        (i, j) for i in range(4) for j in range(i, 4) if (i, j) not in ((0, 0), (3, 3))
    }
    assert assert_right([[0] * 9] * 2, "squared", "probabilistic", 5, 1) == [[], []]


def given_values(table):
    """Stand in for the sampling of values: (order, identity) of each token and copy."""

    def list_weighted(hashes, starts, n, logs, seed, orders, identities, types, copies):
        rows = [
            (*table(token, x), k, x)
            for k, token in enumerate(hashes[:n].tolist())
            for x in oracle.active_copies(token, int(starts[k + 1] - starts[k]), table)
        ]
        for i, row in enumerate(rows):
            orders[i], identities[i], types[i], copies[i] = row
        return len(rows)

    return list_weighted


@examples(60)
@given(some_texts, st.integers(0, 1000), st.sampled_from([1, 2, 10]), least_tokens)
def test_weighted_windows__equal_orders(texts, seed, n_orders, min_tokens):
    """Values of one order are compared by identity, of whichever token."""
    generator = random.Random(seed)
    identities = random.Random(seed).sample(range(1, 2**62), 41 * len(WORDS))

    @cache
    def table(token, x):
        return generator.randrange(n_orders), identities[41 * WORDS.index(token) + x]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "list_weighted", given_values(table))
        kernel = windows.weighted_windows
        lister = WeightedLister(texts)
        logs = np.zeros(len(lister.grouped.positions))
        listed = lister.windows(logs, 0, min_tokens, function=uncompiled(kernel))
    for text, found in zip(lister.texts, listed, strict=True):
        oracle.assert_windows(found, text, table, identity, min_tokens)
        oracle.assert_lists_ascend(found)
        if min_tokens == 1:
            assert len(found) == len(oracle.monotonic_windows(text, table))


def test_weighted_windows__room():
    """Texts whose windows do not fit are left for later; those before are complete."""
    generator = random.Random(6)
    lister = WeightedLister([random_text(generator, n, 3) for n in (9, 12, 0, 3, 13, 1)])
    logs = log_weights(lister, "raw", "smooth")
    done, whole = lister.rows(logs, 1, 1, 1000)
    assert done == 6
    for room in range(len(whole[0]) + 2):
        reached, columns = lister.rows(logs, 1, 1, room)
        assert columns == tuple(column[: len(columns[0])] for column in whole)
        assert (reached == 6) == (room >= len(whole[0]))
        again, rest = lister.rows(logs, 1, 1, 1000, first_text=reached)
        assert again == 6
        assert [first + other for first, other in zip(columns, rest, strict=True)] == list(whole)
