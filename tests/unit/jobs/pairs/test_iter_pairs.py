"""Pairs one by one: those of the table, in its order, without the table."""

from __future__ import annotations

import tracemalloc

import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError, ResultLimitError
from tests.calls import grouped
from tests.each import each_of

TEXTS = [f"one two three four five {number % 40} {number // 40}" for number in range(120)]


@pytest.mark.slow
@each_of(
    "options",
    [
        {"ngram": 1, "threshold": "0.7"},
        {"ngram": 1, "threshold": "0.7", "against": TEXTS[::3]},
        {"max_distance": 2},
        {"ngram": 1, "top": 50},
        {"ngram": 1, "method": "minhash", "measure": "containment"},
    ],
)
def test_iter_pairs__are_those_of_the_table(options):
    table = neardup.find_pairs(TEXTS, **grouped(**options)).pairs
    columns = [table[name].to_pylist() for name in ("id_a", "id_b", "similarity")]
    pairs = list(neardup.iter_pairs(TEXTS, **grouped(**options)))
    assert len(pairs) > 40
    assert pairs == list(map(neardup.types.Pair, *columns))


def test_iter_pairs__errors_come_before_the_first_pair():
    with pytest.raises(InvalidParameterError):
        neardup.iter_pairs(TEXTS, threshold=80)
    with pytest.raises(InvalidInputError):
        neardup.iter_pairs([1, 2])
    with pytest.raises(ResultLimitError):
        neardup.iter_pairs(TEXTS, threshold="0.5", limit=3, text=neardup.TextOptions(ngram=1))


def test_iter_pairs__holds_some_at_a_time():
    found = neardup.iter_pairs(["a b c d"] * 300, text=neardup.TextOptions(ngram=1))
    tracemalloc.start()
    try:
        n = sum(1 for _ in found)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n == 300 * 299 // 2
    # As values of Python all of them would take some 7 MB.
    assert most < 2_500_000
