from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.kernels.common import hashing


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


def test_number_digests__unwanted_are_not_remembered():
    table = Table(16)
    digests = [(1, 1), (2, 2), (1, 1), (3, 3)]
    assert table.number(digests, [False, True, True, False]) == [-1, 0, 1, -1]
    assert table.number([(3, 3), (1, 1)]) == [2, 1]


@pytest.mark.parametrize("n_slots", [64, 256])
def test_number_digests__random_and_rebuilt(n_slots):
    """Half full, in several steps, with a rebuilt table between them."""
    generator = random.Random(n_slots)
    pool = [(generator.getrandbits(64), generator.getrandbits(64)) for _ in range(n_slots // 8)]
    # Some differ in one half only, and their slots are one.
    pool += [(low ^ 1 << 63, high) for low, high in pool] + [
        (low, ~high % 2**64) for low, high in pool[::2]
    ]
    table = Table(n_slots)
    for _ in range(6):
        digests = generator.choices(pool, k=n_slots // 4)
        wanted = [generator.random() < 0.8 for _ in digests]
        assert table.number(digests, wanted) == table.expected(digests, wanted)
        bigger = np.full(n_slots * generator.choice((1, 2)), -1, np.int64)
        hashing.rebuild_slots(bigger, table.known, table.size)
        assert sorted(bigger[bigger >= 0].tolist()) == list(range(table.size))
        table.slots = bigger
