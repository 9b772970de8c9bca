"""Passages that have moved: all but a heaviest set that stands in one order in both texts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.differences import find_moved

SPANS = st.lists(
    st.tuples(st.integers(0, 8), st.integers(1, 4), st.integers(0, 8), st.integers(1, 4)),
    max_size=8,
)


def arrays(spans):
    a, n, b, m = (np.array(column, np.int64) for column in zip(*spans, strict=True))
    return a, a + n, b, b + m


def heaviest(spans) -> int:
    """Weigh all sets whose places ascend in both texts."""

    def ascends(chosen):
        ordered = sorted(chosen)
        return all(x[0] < y[0] and x[2] < y[2] for x, y in combinations(ordered, 2))

    sets = (each for k in range(len(spans) + 1) for each in combinations(spans, k))
    return max(sum(s[1] + s[3] for s in chosen) for chosen in sets if ascends(chosen))


@given(SPANS)
def test_find_moved__what_stays_is_the_heaviest_in_one_order(spans):
    if not spans:
        return
    stays = [
        span for span, moved in zip(spans, find_moved(*arrays(spans)), strict=True) if not moved
    ]
    assert heaviest(stays) == sum(span[1] + span[3] for span in stays) == heaviest(spans)
