from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.kernels.common import hashing
from tests.each import each_of


class Table:
    """A hash table of exactly the size that the kernel's description asks for, and its oracle."""

    def __init__(self, n_slots):
        self.slots = np.full(n_slots, -1, np.int64)
        self.known = np.zeros((n_slots // 2, 2), np.uint64)
        self.size = 0
        self.numbers: dict[tuple[int, int], int] = {}

    def number(self, digests, wanted=None):
        wanted = [True] * len(digests) if wanted is None else wanted
        found = np.full(len(digests), -9, np.int64)
        self.size = hashing.number_digests(
            self.slots,
            self.known,
            self.size,
            np.array(digests, np.uint64).reshape(-1, 2),
            np.array(wanted, np.bool_),
            found,
        )
        return found.tolist()

    def expected(self, digests, wanted=None):
        wanted = [True] * len(digests) if wanted is None else wanted
        return [
            self.numbers.setdefault(digest, len(self.numbers)) if is_wanted else -1
            for digest, is_wanted in zip(digests, wanted, strict=True)
        ]


# Lower halves that fall on the same slot of 16: the first, one in the middle, the last (so that the
# search for a free one goes over the end); whole lower halves alike; upper halves alike.
COLLIDING = {
    "first-slot": [(i << 4, i) for i in range(8)],
    "middle-slot": [(i << 60 | 7, 1) for i in range(8)],
    "last-slot": [((i << 4) | 15, 3) for i in range(8)],
    "largest": [(2**64 - 1 - (i << 4), 2**64 - 1) for i in range(8)],
    "equal-lower-halves": [(5, i) for i in range(8)],
    "equal-upper-halves": [(i, 5) for i in range(8)],
    "swapped": [(1, 2), (2, 1), (2, 2), (1, 1)],
    "zero": [(0, 0), (0, 1), (1, 0)],
}


@each_of("digests", COLLIDING.values(), ids=COLLIDING.keys())
def test_number_digests__collisions(digests):
    table = Table(16)
    sequence = [*digests, *digests[::-1], *digests]
    assert table.number(sequence) == table.expected(sequence)
    assert table.size == len(digests)
    assert [tuple(row) for row in table.known[: table.size].tolist()] == digests


def test_number_digests__unwanted_are_not_remembered():
    table = Table(16)
    digests = [(1, 1), (2, 2), (1, 1), (3, 3)]
    assert table.number(digests, [False, True, True, False]) == [-1, 0, 1, -1]
    assert table.number([(3, 3), (1, 1)]) == [2, 1]


@pytest.mark.parametrize("n_slots", [64, 256])
def test_number_digests__random_and_rebuilt(n_slots):
    """Half full, in several steps, with a rebuilt table between them."""
    generator = random.Random(n_slots)
    pool = [(generator.getrandbits(64), generator.getrandbits(64)) for _ in range(n_slots // 4)]
    pool += [(low ^ 1 << 63, high) for low, high in pool]
    table = Table(n_slots)
    for _ in range(6):
        digests = generator.choices(pool, k=n_slots // 4)
        wanted = [generator.random() < 0.8 for _ in digests]
        assert table.number(digests, wanted) == table.expected(digests, wanted)
        bigger = np.full(n_slots * generator.choice((1, 2)), -1, np.int64)
        hashing.rebuild_slots(bigger, table.known, table.size)
        assert sorted(bigger[bigger >= 0].tolist()) == list(range(table.size))
        table.slots = bigger


@each_of("digests", COLLIDING.values(), ids=COLLIDING.keys())
def test_rebuild_slots__collisions(digests):
    table = Table(16)
    table.number(digests)
    rebuilt = np.full(16, -1, np.int64)
    hashing.rebuild_slots(rebuilt, table.known, table.size)
    table.slots = rebuilt
    assert table.number(digests) == list(range(len(digests)))
