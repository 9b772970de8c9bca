"""Room for what a kernel finds, which is known only when it has found it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from neardup.kernels.types import Int
from neardup.tables import Int64s

# Rows for which there is room at first.
_FIRST_ROOM = 1 << 10


def fill_array(fill: Callable[[Int64s], Int], room: Int64s, *, axis: int = 0) -> tuple[Int64s, int]:
    """Let a kernel fill an array, or a larger one if it finds more than fits.

    ``fill`` returns how many places it needs along ``axis``, whether they are there or not. Returns
    the array that has room for them, and their number.
    """
    while (n := int(fill(room))) > room.shape[axis]:
        shape = list(room.shape)
        shape[axis] = 2 * n
        room = np.empty(shape, np.int64)
    return room, n


def fill_in_parts(
    fill: Callable[[int, Int64s], tuple[Int, Int]], n_items: int, n_columns: int
) -> Iterator[Int64s]:
    """Let a kernel work through items and yield what it finds, part by part.

    ``fill`` gets the first item not done, and an array with ``n_columns``. It does as many items as
    what it finds for them fits, and returns the first one not done, and how many rows it has
    written. There is more room where there was too little for one item. A part is written over when
    the next one is asked for.
    """
    done = 0
    room: Int64s = np.empty((_FIRST_ROOM, n_columns), np.int64)
    while done < n_items:
        reached, n = (int(number) for number in fill(done, room))
        if n:
            yield room[:n]
        if reached == done:
            room = np.empty((4 * len(room), n_columns), np.int64)
        done = reached
