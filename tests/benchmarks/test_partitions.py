"""The algorithms that windows are held against: AllAlign, MonoAll, active keys, the lower bound."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks.papers.monoactive.allalign import allalign_windows
from benchmarks.papers.monoactive.monoall import (
    count_active_keys,
    expected_active_keys,
    one_list,
    one_text,
    seeds_of,
    visit_keys,
)
from neardup.passages.windows import make_passage_scheme, window_lister
from tests.oracles import windows as oracle

# What only developers use, and each of it is compiled first.
pytestmark = pytest.mark.slow

SEEDS = seeds_of(4)


def text_of(n_types: int, size: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, n_types, size).tolist()


TEXTS = [text_of(n_types, size, 7 * n_types + size) for n_types in (1, 3, 20) for size in (1, 30)]


@pytest.mark.parametrize("tokens", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_allalign__is_a_partition_by_min_hashes(tokens, seed):
    """Each sub-text is in one window, and all of a window have one min-hash."""
    keys, corners = allalign_windows(one_text(np.array(tokens, np.uint64)), seed, 1)
    least = oracle.minima(tokens, oracle.multiset_values(seed))
    covered: Counter[tuple[int, int]] = Counter()
    hashes: dict[int, set[object]] = {}
    for key, (a, b, c, d) in zip(keys.tolist(), np.cumsum(corners, axis=1).tolist(), strict=True):
        inside = [(i, j) for i in range(a, b + 1) for j in range(c, d + 1)]
        covered.update(inside)
        hashes.setdefault(key, set()).update(least[place] for place in inside)
    assert covered == dict.fromkeys(least, 1)
    assert all(len(values) == 1 for values in hashes.values())
    assert len(set().union(*hashes.values())) == len(hashes)


@pytest.mark.parametrize("tokens", TEXTS, ids=range(len(TEXTS)))
def test_monoall__has_as_many_windows_and_visits_all_keys(tokens):
    values = np.array(tokens, np.uint64)
    texts = one_text(values)
    list_windows = window_lister(
        one_list(values), make_passage_scheme(min_tokens=1, tf="raw"), None
    )
    frequencies = Counter(tokens).values()
    for seed in SEEDS:
        every = visit_keys(texts, seed, only_active=False)
        active = visit_keys(texts, seed, only_active=True)
        assert every[0] == active[0] == len(list_windows(seed))
        assert every[1] == sum(f * (f + 1) // 2 for f in frequencies)
        # An active key of x copies is at each place where a run of them begins.
        value_of = oracle.multiset_values(seed)
        assert active[1] == sum(
            f - x + 1
            for token, f in Counter(tokens).items()
            for x in oracle.active_copies(token, f, value_of)
        )
        assert count_active_keys(texts, "raw", [seed]) == active[1]


def test_expected_active_keys__by_the_formulas():
    tokens = text_of(4, 200, 1)
    texts = one_text(np.array(tokens, np.uint64))
    frequencies = list(Counter(tokens).values())
    harmonic = {f: sum(1 / x for x in range(1, f + 1)) for f in frequencies}
    expected = sum((f + 1) * harmonic[f] - f for f in frequencies)
    assert expected_active_keys(texts, "raw") == pytest.approx(expected)
    assert expected_active_keys(texts, "binary") == pytest.approx(len(tokens))
    squared = sum(
        (f - x + 1) * (x**2 - (x - 1) ** 2) / x**2 for f in frequencies for x in range(1, f + 1)
    )
    assert expected_active_keys(texts, "squared") == pytest.approx(squared)


def test_windows__of_one_word_are_as_many_as_the_lower_bound():
    """Sub-texts of x copies, x active, cannot share a window: so many are needed, and no more."""
    values = np.zeros(300, np.uint64)
    list_windows = window_lister(
        one_list(values), make_passage_scheme(min_tokens=1, tf="raw"), None
    )
    for seed in SEEDS:
        active = oracle.active_copies(0, 300, oracle.multiset_values(seed))
        assert len(list_windows(seed)) == sum(300 - x + 1 for x in active)
