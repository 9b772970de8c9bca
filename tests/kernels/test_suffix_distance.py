from __future__ import annotations

import random

import numpy as np

from neardup.kernels.join import set_join
from tests.kernels.sets import suffix_bound
from tests.oracles import joins


def test_suffix_distance__never_too_high():
    """Where two runs differ in no more than the limit, the bound is no more than they do."""
    generator = random.Random(5)
    for _ in range(1500):
        x = sorted(generator.sample(range(25), generator.randrange(13)))
        y = sorted(generator.sample(range(25), generator.randrange(13)))
        limit = generator.randrange(15)
        limit += (limit - abs(len(x) - len(y))) % 2
        tokens = np.array([9, *x, 9, *y, 9], np.int32)
        start = len(x) + 2
        bound = set_join.suffix_distance(
            tokens, 1, len(x) + 1, start, start + len(y), np.int64(limit)
        )
        true = joins.difference(x, y)
        assert true > limit or bound <= true


def test_suffix_distance__prunes():
    tokens = np.array([1, 2, 3, 4, 11, 12, 13, 14], np.int32)
    assert set_join.suffix_distance(tokens, 0, 4, 4, 8, np.int64(4)) > 4


def test_suffix_distance__by_definition():
    """The bound of two levels where it is within the limit, whatever is left out beyond."""
    generator = random.Random(6)
    n_beyond = 0
    for _ in range(1500):
        universe = generator.choice([8, 25])
        x, y = (
            sorted(generator.sample(range(universe), generator.randrange(min(universe, 14))))
            for _ in range(2)
        )
        limit = generator.randrange(15)
        tokens = np.array([9, *x, 9, *y, 9], np.int32)
        start = len(x) + 2
        found = set_join.suffix_distance(
            tokens, 1, len(x) + 1, start, start + len(y), np.int64(limit)
        )
        bound = suffix_bound(x, y, 2)
        assert bound <= joins.difference(x, y)
        assert found == bound if bound <= limit else found > limit
        n_beyond += bound > limit >= abs(len(x) - len(y))
    assert n_beyond > 0
