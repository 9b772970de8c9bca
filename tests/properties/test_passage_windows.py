from __future__ import annotations

import math
import random
from collections import Counter
from functools import cache
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.common import hashing
from neardup.kernels.passage import lookups
from neardup.kernels.sketch import weighted_minhash
from neardup.passages import windows as passage_windows
from neardup.passages.windows import (
    ALL_COPIES,
    gather_queries,
    group_occurrences,
    make_passage_scheme,
    multiset_windows,
    weighted_windows,
)
from neardup.tables import TokenLists
from neardup.text.weighting import count_documents, term_frequencies
from tests.arrays import as_uint64, ragged, random_words
from tests.each import each_of
from tests.oracles import weighted as weighted_oracle
from tests.oracles import windows as oracle
from tests.oracles.hashing import mix

WORDS = list(dict.fromkeys(random_words(random.Random(4), 5000)))[:4000]
WEIGHTINGS = [
    ("log", "smooth"),
    ("squared", "standard"),
    ("raw", "probabilistic"),
]


def table_of(lists):
    """Give keys and corners, a column each."""
    starts, spans = lists.starts.astype(np.int64), lists.spans.astype(np.int64)
    assert (lists.keys[1:] >= lists.keys[:-1]).all()
    return lists.keys, *np.cumsum(np.column_stack([starts, spans]), axis=1).T


def assert_ordered(lists):
    """Within a key starts ascend, and so do last starts; more than that, they are disjoint."""
    keys, a, b, _, _ = table_of(lists)
    same = keys[1:] == keys[:-1]
    assert (a[1:] > b[:-1])[same].all()


def rows_by_text(lists, offsets):
    keys, a, b, c, d = (column.tolist() for column in table_of(lists))
    spans = [(q - p, r - q, s - r) for p, q, r, s in zip(a, b, c, d, strict=True)]
    return oracle.read_rows(keys, a, spans, offsets.tolist())


def make_texts(n_types, sizes, seed):
    generator = random.Random(seed)
    return [[WORDS[generator.randrange(n_types)] for _ in range(n)] for n in sizes]


some_texts = st.builds(
    make_texts,
    st.sampled_from([1, 2, 3, 8, 40]),
    st.lists(st.integers(0, 40), max_size=6),
    st.integers(0, 2**32),
)
seeds = st.integers(0, 2**64 - 1)
least_tokens = st.sampled_from([1, 1, 2, 3, 5, 9, 20, 40])
most = st.sampled_from([1, 2, ALL_COPIES])


@given(some_texts, seeds, least_tokens, st.sampled_from([1, 40]))
def test_multiset_windows__of_each_text_alone(texts, seed, min_tokens, spare):
    """Texts know nothing of their neighbours, nor of how much fits at a time."""
    grouped = group_occurrences(TokenLists(*ragged(texts)))
    whole = multiset_windows(grouped, seed, min_tokens)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passage_windows, "_LEAST_ROOM", 10**6)
        patch.setattr(passage_windows, "_ROOM", 0)
        patch.setattr(passage_windows, "_SPARE_ROOM", spare)
        in_parts = multiset_windows(grouped, seed, min_tokens)
    for name, column in vars(whole).items():
        assert np.array_equal(column, getattr(in_parts, name)), name
        assert column.dtype == getattr(in_parts, name).dtype
    for text, found in zip(texts, rows_by_text(whole, grouped.offsets), strict=True):
        alone = group_occurrences(TokenLists(*ragged([text])))
        lists = multiset_windows(alone, seed, min_tokens)
        assert rows_by_text(lists, alone.offsets) == [found]


def assert_whole(columns, n, min_tokens):
    """Check that windows hold as many long sub-texts as a text of n tokens has."""
    _, a, b, c, d = columns
    assert (a >= 0).all()
    assert (a <= b).all()
    assert (b <= c).all()
    assert (c <= d).all()
    assert (d < n).all()
    assert (d - a + 1 >= min_tokens).all()

    def within(first, last):
        size = np.maximum(last - first + 2 - min_tokens, 0)
        return size * (size + 1) // 2

    inside = within(a, d) - within(b + 1, d) - within(a, c - 1) + within(b + 1, c - 1)
    longest = max(n + 1 - min_tokens, 0)
    assert inside.sum() == longest * (longest + 1) // 2


def probes(generator, n, min_tokens, how_many=300):
    """Sub-texts of all lengths, among them the shortest and the whole."""
    for k in range(how_many):
        most = n if k % 3 else min(n, 2 * min_tokens + 10)
        length = generator.randint(min_tokens, most) if k else n
        i = generator.randint(0, n - length)
        yield i, i + length - 1


def assert_probes(columns, n, min_tokens, key_of, how_many=300):
    keys, a, b, c, d = columns
    for i, j in probes(random.Random(n), n, min_tokens, how_many):
        rows = np.flatnonzero((a <= i) & (i <= b) & (c <= j) & (j <= d))
        assert keys[rows].tolist() == [key_of(i, j)], (i, j)


def zipf_text(generator, n, n_types):
    """A few tokens very often, many now and then."""
    return [WORDS[int(n_types ** generator.random()) % n_types] for _ in range(n)]


@pytest.mark.slow
@pytest.mark.parametrize("most_copies", [1, 3, ALL_COPIES])
@pytest.mark.parametrize("min_tokens", [1, 50, 1000])
@pytest.mark.parametrize("n_types", [2, 300, 4000])
def test_multiset_windows__long_text(n_types, min_tokens, most_copies):
    generator = random.Random(n_types + min_tokens)
    text = zipf_text(generator, 5200, n_types)
    grouped = group_occurrences(TokenLists(*ragged([text])))
    lists = multiset_windows(grouped, 77, min_tokens, most_copies)
    assert_ordered(lists)
    columns = table_of(lists)
    assert_whole(columns, len(text), min_tokens)
    value_of = oracle.multiset_values(77, most_copies)
    assert_probes(
        *(columns, len(text), min_tokens),
        lambda i, j: mix(oracle.least_value(text[i : j + 1], value_of)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("min_tokens", [1, 50, 90_000])
def test_multiset_windows__all_tokens_equal(min_tokens):
    """A hundred thousand of them: spans are wide, and all windows are of one token."""
    n, seed = 100_000, 5
    grouped = group_occurrences(TokenLists(*ragged([[9] * n])))
    lists = multiset_windows(grouped, seed, min_tokens)
    assert_ordered(lists)
    columns = table_of(lists)
    assert_whole(columns, n, min_tokens)
    value_of = oracle.multiset_values(seed)
    least = list(accumulate((value_of(9, x) for x in range(1, n + 1)), min))
    assert_probes(columns, n, min_tokens, lambda i, j: mix(least[j - i]), 80)


@pytest.mark.parametrize("min_tokens", [1, 50])
def test_multiset_windows__all_tokens_equal__as_sets(min_tokens):
    """One hash value for all, often above the first ceiling; starts and ends reach far."""
    n = 100_000
    grouped = group_occurrences(TokenLists(*ragged([[9] * n])))
    for seed in range(4):
        lists = multiset_windows(grouped, seed, min_tokens, 1)
        assert_ordered(lists)
        columns = table_of(lists)
        assert_whole(columns, n, min_tokens)
        assert len(set(lists.keys.tolist())) == 1
        # The windows of the last starts are too short.
        assert len(lists) == n + 1 - min_tokens


@pytest.mark.slow
@pytest.mark.parametrize("n_types", [1, 2, 3])
@pytest.mark.parametrize("most_copies", [1, 2, ALL_COPIES])
def test_multiset_windows__above_the_first_ceiling(n_types, most_copies):
    """Fifty tokens of few types: their hashes may all be large."""
    n_above = 0
    for seed in range(10):
        texts = make_texts(n_types, (120, 49, 60), seed)
        grouped = group_occurrences(TokenLists(*ragged(texts)))
        lists = multiset_windows(grouped, seed, 50, most_copies)
        assert_ordered(lists)
        value_of = oracle.multiset_values(seed, most_copies)
        found = rows_by_text(lists, grouped.offsets)
        assert found[1] == []
        for text in (0, 2):
            oracle.assert_windows(found[text], texts[text], value_of, mix, 50)
        least = oracle.least_value(texts[0], value_of)
        n_above += least > math.log(100 * 120) / 50 * 2.0**64
    assert n_above > 0 or most_copies == ALL_COPIES


@pytest.mark.slow
@each_of(("tf", "idf"), WEIGHTINGS)
@each_of("min_tokens", [1, 50])
def test_weighted_windows__long_texts(tf, idf, min_tokens):
    """Windows have the identity that a query of the same tokens has."""
    generator = random.Random(f"{tf} {idf}")
    n = 5100
    texts = [zipf_text(generator, size, 500) for size in (n, 30, 200, 10)]
    # With standard and probabilistic weights this one weighs least.
    texts = [[WORDS[0], *text] for text in texts]
    token_lists = TokenLists(*ragged(texts))
    grouped = group_occurrences(token_lists)
    logs = np.empty(len(grouped.positions))
    table = term_frequencies(tf, n)
    inverses = count_documents([token_lists]).idf_of(grouped.type_hashes, idf)
    weighted_minhash.fill_log_weights(
        grouped.type_starts, len(grouped.type_hashes), table, inverses, logs
    )
    lists = weighted_windows(grouped, logs, 123, min_tokens)
    assert_ordered(lists)
    keys, a, b, c, d = table_of(lists)
    first = a < len(texts[0])
    columns = [column[first] for column in (keys, a, b, c, d)]
    assert_whole(columns, len(texts[0]), min_tokens)
    frequencies = weighted_oracle.document_frequencies(texts)

    @cache
    def log_weight(token, f):
        inverse = weighted_oracle.inverse_frequency(idf, frequencies[token], len(texts))
        weight = weighted_oracle.scaled(weighted_oracle.term_frequency(tf, f) * inverse)
        result = np.empty(1)
        hashing.logarithms(np.array([weight], np.float64), result)
        return float(result[0])

    def key_of(i, j):
        counts = Counter(texts[0][i : j + 1])
        key = np.empty(1, np.uint64)
        log_weights = np.array([log_weight(*pair) for pair in counts.items()])
        has_weight = weighted_minhash.weighted_minimum(
            as_uint64(counts), log_weights, as_uint64([123]), key
        )
        return int(key[0]) if has_weight else None

    for i, j in probes(random.Random(1), len(texts[0]), min_tokens, 200):
        rows = np.flatnonzero(
            (columns[1] <= i) & (i <= columns[2]) & (columns[3] <= j) & (j <= columns[4])
        )
        found = columns[0][rows].tolist()
        expected = key_of(i, j)
        assert found == ([] if expected is None else [expected]), (i, j)


def test_multiset_windows__have_the_keys_of_queries():
    """What a query's tokens give is the key of the window of the same sub-text."""
    text = zipf_text(random.Random(3), 600, 100)
    tokens, offsets = ragged([text])
    grouped = group_occurrences(TokenLists(tokens, offsets))
    for most_copies in (1, ALL_COPIES):
        columns = table_of(multiset_windows(grouped, 8, 20, most_copies))

        def key_of(i, j, most_copies=most_copies):
            place = np.array([i], np.int64), np.array([j + 1], np.int64)
            wanted = gather_queries(tokens, *place, make_passage_scheme(), None).wanted
            key, has_weight = np.zeros((1, 1), np.uint64), np.empty(1, np.bool_)
            lookups.least_keys(wanted, np.arange(1), most_copies, as_uint64([8]), key, has_weight)
            return int(key[0, 0])

        assert_probes(columns, len(text), 20, key_of, 150)


@each_of(("n", "min_tokens"), [(400, 1), (400, 5), (400, 25), (400, 100)])
def test_multiset_windows__how_many_of_different_tokens(n, min_tokens):
    """2 (n + 1) / (t + 1) - 1 on average, within five standard errors."""
    grouped = group_occurrences(TokenLists(*ragged([WORDS[:n]])))
    sizes = np.array([len(multiset_windows(grouped, seed, min_tokens)) for seed in range(400)])
    expected = 2 * (n + 1) / (min_tokens + 1) - 1
    assert abs(sizes.mean() - expected) <= 5 * sizes.std() / 20
    if min_tokens == 1:
        assert set(sizes.tolist()) == {n}


def test_multiset_windows__how_many_of_one_token():
    """(f + 1) H(f) - f on average, as many as there are active keys: none is wasted."""
    f = 100
    grouped = group_occurrences(TokenLists(*ragged([[7] * f])))
    sizes = []
    for seed in range(400):
        sizes.append(len(multiset_windows(grouped, seed, 1)))
        copies = oracle.active_copies(7, f, oracle.multiset_values(seed))
        assert sizes[-1] == sum(f + 1 - x for x in copies)
    expected = (f + 1) * sum(1 / x for x in range(1, f + 1)) - f
    assert abs(np.mean(sizes) - expected) <= 5 * np.std(sizes) / 20
