from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage.candidates import MANY, reaches
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
