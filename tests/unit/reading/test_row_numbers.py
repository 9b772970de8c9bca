"""Numbers of rows, kept as stretches without a gap."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.reading.catalogue import RowNumbers

PARTS = st.lists(st.lists(st.integers(0, 20), max_size=9).map(sorted), max_size=6)


@given(PARTS, st.lists(st.integers(0, 200)), st.integers(0, 60), st.integers(0, 60))
def test_row_numbers__are_those_that_were_given(parts, some, start, stop):
    every = np.array([row for part in parts for row in part], np.int64)
    numbers = RowNumbers(np.array(part, np.int64) for part in parts)
    assert len(numbers) == len(every)
    assert numbers[start:stop].tolist() == every[start:stop].tolist()
    chosen = np.array([n for n in some if n < len(every)], np.int64)
    assert numbers[chosen].tolist() == every[chosen].tolist()


def test_row_numbers__of_rows_without_a_gap_are_few():
    numbers = RowNumbers([np.arange(1, 1000), np.arange(1000, 1500), np.arange(1, 50)])
    assert numbers.firsts.tolist() == [0, 1499, 1548]
    assert numbers.rows.tolist() == [1, 1]
