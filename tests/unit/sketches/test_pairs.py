"""How many pairs there are, and how many of them lie up to a row."""

from __future__ import annotations

from itertools import combinations, product

from neardup.sketches.kind import count_pairs, count_pairs_up_to
from tests.each import each_of


@each_of(("n", "n_left"), [(5, None), (1, None), (5, 2), (4, 4)])
def test_count_pairs_up_to(n, n_left):
    pairs = list(
        combinations(range(n), 2) if n_left is None else product(range(n_left), range(n_left, n))
    )
    assert count_pairs(n, n_left) == len(pairs)
    for row in range(-1, n if n_left is None else n_left):
        assert count_pairs_up_to(row, n, n_left) == sum(left <= row for left, _ in pairs)
