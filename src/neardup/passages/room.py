"""Room for what a kernel finds, which is known only when it has found it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels.types import Int
from neardup.tables import Int64s


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
