"""Memory that the blocks of a file are read into, used again when nothing refers to a block."""

from __future__ import annotations

import weakref

import numpy as np
import pyarrow as pa


class Buffers:
    """Gives out memory, and takes it back when neither it nor a view of it is used any more.

    Memory that is used again costs no page faults, which take as long as reading from the system's
    cache does. As many buffers as were in use at a time are kept as long as this object is.
    """

    def __init__(self) -> None:
        self._free: list[pa.Buffer] = []

    def take(self, size: int) -> memoryview:
        """Return writable memory of ``size`` bytes, with any content."""
        buffer = None
        while self._free and buffer is None:
            known = self._free.pop()
            # One that is too small is let go: rows have become longer.
            buffer = known if known.size >= size else None
        if buffer is None:
            buffer = pa.allocate_buffer(size)
        # All views refer to this array, because what is below it is no array.
        array = np.frombuffer(buffer, np.uint8, size)
        weakref.finalize(array, self._free.append, buffer).atexit = False
        return array.data
