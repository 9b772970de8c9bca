"""Segments are put together so that few are left, and so that no document is written often."""

from __future__ import annotations

import random

import pytest

from neardup.documents.index import FANOUT, count_to_merge


def grow(additions, sizes=()):
    """Add segments; return the sizes that there are in the end, the most there were, and the work.

    The work is the number of documents that were written when segments were put together.
    """
    sizes, most, written = list(sizes), 0, 0
    for size in additions:
        sizes.append(size)
        while n := count_to_merge(sizes):
            merged = sum(sizes[-n:])
            written += merged
            sizes[-n:] = [merged]
        most = max(most, len(sizes))
    return sizes, most, written


def test_count_to_merge__equal_ones_behind_a_larger_one():
    larger = [1_000_000]
    assert count_to_merge([*larger, *[1000] * (FANOUT - 1)]) == 0
    assert count_to_merge([*larger, *[1000] * FANOUT]) == FANOUT
    # Those in front have become one of the next size, of which there are few.
    assert count_to_merge([*larger, 8000, *[1000] * (FANOUT - 1)]) == 0


@pytest.mark.parametrize("seed", range(3))
def test_growth__stays_within_what_is_promised(seed):
    rng = random.Random(seed)
    additions = [int(10 ** rng.uniform(0, 5)) for _ in range(2000)]
    sizes, most, written = grow(additions)
    assert sum(sizes) == sum(additions)
    n_tiers = 7
    assert most <= (FANOUT - 1) * n_tiers + 1
    assert written <= 2 * n_tiers * sum(additions)
