from __future__ import annotations

import random

import numpy as np

from neardup.kernels.join import set_join_kernels
from tests.kernels.sets import suffix_bound
from tests.oracles import joins


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
        found = set_join_kernels.suffix_distance(
            tokens, 1, len(x) + 1, start, start + len(y), np.int64(limit)
        )
        bound = suffix_bound(x, y, 2)
        assert bound <= joins.difference(x, y)
        assert found == bound if bound <= limit else found > limit
        n_beyond += bound > limit >= abs(len(x) - len(y))
    assert n_beyond > 0
