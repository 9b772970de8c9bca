"""Where rows stand that follow each other, by their lengths alone."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.files.rows import Place
from neardup.reading.catalogue import RowLengths


def place(starts, ends):
    return Place(1000, np.array(starts, np.uint32), np.array(ends, np.uint32))


@pytest.mark.parametrize(("longest", "n_bytes"), [(255, 1), (256, 2), (65_535, 2), (65_536, 4)])
def test_row_lengths__of_rows_without_gaps(longest, n_bytes):
    ends = np.cumsum([7, longest, 1])
    given = place([3, *(ends[:-1] + 3)], ends + 3)
    kept = RowLengths.of(given)
    assert isinstance(kept, RowLengths)
    assert kept.lengths.nbytes == 3 * n_bytes
    again = kept.place()
    assert again.offset == 1000
    for name in ("starts", "ends"):
        np.testing.assert_array_equal(getattr(again, name), getattr(given, name))
        assert getattr(again, name).dtype == np.uint32


def test_row_lengths__up_to_the_last_byte_of_a_piece():
    given = place([0, 2**32 - 9], [2**32 - 9, 2**32 - 1])
    again = RowLengths.of(given).place()
    assert again.starts.tolist() == given.starts.tolist()
    assert again.ends.tolist() == given.ends.tolist()


@pytest.mark.parametrize("given", [None, place([], []), place([0, 9], [8, 12])])
def test_row_lengths__as_it_is_where_there_are_gaps(given):
    assert RowLengths.of(given) is given
