"""The memory of requests in flight: a budget for all bodies, one for all answers, shares of each.

Each request takes its share bit by bit, as bytes come in or rows are found, and gives it back when
it has been answered. One that would take more than is left is turned away; the others go on.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from neardup.service.problems import Problem, busy

if TYPE_CHECKING:
    from starlette.types import Scope

_SHARES = "neardup.shares"


class Budget:
    """Bytes that all requests together may hold of one thing; for any number of threads.

    Parameters
    ----------
    what
        What is held, in the plural.
    n_bytes
        How much there is.
    """

    def __init__(self, what: str, n_bytes: int) -> None:
        self.what, self.n_bytes = what, n_bytes
        self.n_held = 0
        self._lock = threading.Lock()

    def share(self, scope: Scope) -> Share:
        """Return the share of a request, which begins with nothing and ends with the request."""
        share = Share(self)
        scope.setdefault(_SHARES, []).append(share)
        return share

    def move(self, n_bytes: int) -> bool:
        """Take so much, or give it back if it is below 0; return whether there was as much."""
        with self._lock:
            if n_bytes > 0 and self.n_held + n_bytes > self.n_bytes:
                return False
            self.n_held += n_bytes
            return True


class Share:
    """What one request holds of a budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._n_bytes = 0
        # A thread may still be at work for a request that was given up.
        self._lock = threading.Lock()
        self._is_over = False

    def grow(self, n_bytes: int) -> None:
        """Take some more.

        Raises
        ------
        Problem
            503 if others hold too much, 413 if it is too much for one request in any case.
        """
        with self._lock:
            what, most = self._budget.what, self._budget.n_bytes
            if self._n_bytes + n_bytes > most:
                message = (
                    f"{what} may take {most:,} bytes of memory together, and this request alone "
                    "needs more; ask for less at a time, or raise --max-body of `neardup serve`"
                )
                raise Problem(413, message, "InvalidInputError", {"connection": "close"})
            if self._is_over or not self._budget.move(n_bytes):
                raise busy(f"{what} take all the memory that there is for them; try again")
            self._n_bytes += n_bytes

    def end(self) -> None:
        """Give all of it back; there is no more after that."""
        with self._lock:
            self._budget.move(-self._n_bytes)
            self._n_bytes, self._is_over = 0, True


def end_shares(scope: Scope) -> None:
    """Give back all that a request holds."""
    for share in scope.pop(_SHARES, ()):
        share.end()
