from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage.sweep import sweep_windows
from tests.oracles import passages as oracle


def swept(windows, wanted, room=None):
    """What the kernel writes, and what it returns."""
    columns = np.array(windows, np.int64).reshape(-1, 4).T
    room = 16 * len(windows) ** 2 + 4 if room is None else room
    rectangles = np.full((room + 1, 4), -7, np.int64)
    n = sweep_windows(*(np.ascontiguousarray(c) for c in columns), wanted, rectangles[:room])
    assert (rectangles[min(n, room) :] == -7).all()
    return [tuple(row) for row in rectangles[: min(n, room)].tolist()], n


@st.composite
def window_lists(draw, largest=14):
    corner = st.lists(st.integers(0, largest), min_size=4, max_size=4).map(sorted)
    windows = draw(st.lists(corner.map(tuple), max_size=12))
    # Some start where others end, so that windows leave and enter at the same position.
    if windows and draw(st.booleans()):
        windows += [
            (b + 1, b + 1 + draw(st.integers(0, 3)), c + 6, d + 6)
            for _, b, c, d in draw(st.lists(st.sampled_from(windows), max_size=4))
        ]
    return windows


@given(windows=window_lists(), wanted=st.integers(1, 5))
def test_sweep_windows__oracle(windows, wanted):
    expected = oracle.rectangles(windows, wanted)
    assert swept(windows, wanted) == (expected, len(expected))


@given(windows=window_lists(), wanted=st.integers(1, 3), room=st.integers(0, 6))
def test_sweep_windows__room(windows, wanted, room):
    expected = oracle.rectangles(windows, wanted)
    rectangles, n = swept(windows, wanted, room)
    assert n == len(expected)
    # Those that are written are complete, although they may end after the room has.
    assert rectangles == expected[:room]


def test_sweep_windows__repeated_text():
    # Every start has two windows over the same ends; the same cells are covered at every place.
    n = 300
    windows = [(i, i, i + 5, i + 9) for i in range(n)] + [(i, i, i + 8, i + 12) for i in range(n)]
    assert swept(windows, 2, n)[0] == [(i, i, i + 8, i + 9) for i in range(n)]
