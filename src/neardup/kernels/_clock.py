"""The seconds that this process has spent compiling; loads nothing, so that anyone may ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class CompileClock:
    """Adds up the time in which kernels were compiled, not that in which they were loaded.

    Whoever uses it holds Numba's lock of compilation, so one thread does at a time.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.announce: Callable[[str], None] = _say_nothing
        self._depth = 0

    @contextmanager
    def compiling(self, name: str) -> Iterator[None]:
        """Count the time within the ``with`` block, and announce what is compiled in it.

        Kernels that others call are compiled within these, and counted once.
        """
        self._depth += 1
        start = time.perf_counter()
        try:
            if self._depth == 1:
                self.announce(name)
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.perf_counter() - start


def _say_nothing(name: str) -> None:
    """Take the name of a kernel that is about to be compiled."""


CLOCK = CompileClock()
"""That of this process."""
