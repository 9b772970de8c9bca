"""The seconds that this process has spent compiling; loads nothing, so that anyone may ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class CompileClock:
    """Adds up the time in which kernels were compiled, not that in which they were loaded.

    ``announce`` is called whenever that begins. Whoever uses the clock holds Numba's lock of
    compilation, so one thread does at a time.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.announce: Callable[[], None] = _say_nothing
        self._depth = 0

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Count the time within the ``with`` block, and announce it.

        Kernels that others call are compiled within these, and counted once.
        """
        self._depth += 1
        start = time.perf_counter()
        try:
            if self._depth == 1:
                self.announce()
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.perf_counter() - start


def _say_nothing() -> None:
    """Announce nothing: who uses the package as a library is not spoken to."""


CLOCK = CompileClock()
"""That of this process."""
