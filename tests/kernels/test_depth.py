from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage.candidates import MANY, reaches
from tests.each import each_of
from tests.oracles import passages as oracle


def asked(windows, least, min_tokens=1, first=None, last=None):
    """Ask the kernel, with junk where it may write; starts from and to what windows have."""
    corners = np.full((4, len(windows) + 2), 3, np.int64)
    corners[:, : len(windows)] = np.array(windows, np.int64).reshape(-1, 4).T
    first = min((w[0] for w in windows), default=0) if first is None else first
    last = max((w[1] for w in windows), default=0) if last is None else last
    depths, ends = np.full((2, MANY), 9, np.int32), np.full((2, MANY), 9, np.int64)
    sizes = [np.int64(x) for x in (len(windows), first, last, least, min_tokens)]
    return bool(reaches(corners, *sizes, depths, ends))


corner = st.lists(st.integers(0, 12), min_size=4, max_size=4).map(sorted)
some_windows = st.lists(corner.map(tuple), max_size=10)


@given(windows=some_windows, least=st.integers(1, 5), room=st.integers(0, 2))
def test_reaches__oracle(windows, least, room):
    first = max(min((w[0] for w in windows), default=0) - room, 0)
    last = max((w[1] for w in windows), default=0) + room
    expected = bool(oracle.covered_cells(windows, least))
    assert asked(windows, least, first=first, last=last) == expected


@given(windows=some_windows, least=st.integers(1, 4), min_tokens=st.integers(2, 9))
def test_reaches__long_passages_only(windows, least, min_tokens):
    cells = oracle.covered_cells(windows, least)
    expected = any(j - i + 1 >= min_tokens for i, j in cells)
    assert asked(windows, least, min_tokens) == expected


@each_of(
    ("windows", "least", "min_tokens", "expected"),
    [
        ([], 1, 1, False),
        ([(2, 3, 5, 9)], 1, 1, True),
        ([(2, 3, 5, 9)], 2, 1, False),
        ([(2, 3, 5, 9)], 1, 8, True),
        ([(2, 3, 5, 9)], 1, 9, False),
        # Starts of all three overlap, ends of two at a time only.
        ([(0, 4, 5, 7), (2, 6, 7, 9), (3, 3, 8, 12)], 3, 1, False),
        ([(0, 4, 5, 7), (2, 6, 7, 9), (3, 3, 7, 12)], 3, 1, True),
        # One leaves before the last enters, in between there are enough.
        ([(0, 2, 5, 9), (1, 3, 5, 9), (3, 5, 5, 9)], 3, 1, False),
        ([(0, 2, 5, 9), (1, 3, 5, 9), (3, 5, 5, 9)], 2, 1, True),
        ([(0, 2, 5, 9), (1, 3, 5, 9), (2, 5, 5, 9)], 3, 1, True),
        # Short passages are common, long ones are not.
        ([(2, 4, 5, 6), (4, 4, 5, 9)], 2, 3, True),
        ([(2, 4, 5, 6), (4, 4, 5, 9)], 2, 4, False),
        # Long ones of a start that the first does not have.
        ([(2, 6, 6, 9), (5, 6, 6, 12)], 2, 5, True),
        ([(2, 6, 6, 9), (5, 6, 6, 12)], 2, 6, False),
        # Ends are as far as long passages reach from the newest start.
        ([(0, 9, 9, 20), (8, 9, 9, 11), (8, 9, 18, 20)], 3, 1, False),
        ([(0, 3, 9, 12), (2, 3, 9, 10), (3, 3, 12, 12)], 3, 9, False),
    ],
)
def test_reaches__examples(windows, least, min_tokens, expected):
    assert asked(windows, least, min_tokens) == expected
