"""Lanes: threads of a fixed number for each kind of work, with a bounded queue each.

Look-ups, heavy work and writes have lanes of their own, so that none waits for another kind. The
event loop hands work over and gets results back in batches: one wake-up of the loop may bring the
results of many requests.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from neardup.runs.progress import asking
from neardup.service.problems import Problem, busy, out_of_time

if TYPE_CHECKING:
    from starlette.types import Scope

# The memory of requests in flight: a budget for all bodies, one for all answers, shares of each.
#
# Each request takes its share bit by bit, as bytes come in or rows are found, and gives it back
# when it has been answered. One that would take more than is left is turned away; the others go on.

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
        """Take some more."""
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


T = TypeVar("T")


class Deadline:
    """The moment until which a request may be worked on."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, 0 at least."""
        return max(self._end - time.monotonic(), 0.0)

    def check(self) -> None:
        """Raise if there is no time left."""
        if time.monotonic() >= self._end:
            raise out_of_time(self.seconds)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """Check the time whenever a job reports progress, so that the job ends there."""
        self.check()


@dataclass
class _Job(Generic[T]):
    work: Callable[[], T]
    future: asyncio.Future[T]
    deadline: Deadline
    # Only what changes nothing may be left to itself once it has begun.
    may_leave: bool
    has_begun: bool = False
    outcome: tuple[T | None, BaseException | None] = field(default=(None, None))


class Lane:
    """Some threads that do one kind of work.

    Parameters
    ----------
    name
        What it is called in metrics.
    n_threads
        How much is worked on at a time.
    max_waiting
        How many requests may wait besides; more are turned away.
    """

    def __init__(self, name: str, n_threads: int, max_waiting: int) -> None:
        self.name, self.n_threads, self.max_waiting = name, n_threads, max_waiting
        self._inside = 0
        self._jobs: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._done: deque[_Job[Any]] = deque()
        self._is_woken = False
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def n_running(self) -> int:
        """Requests being worked on."""
        return min(self._inside, self.n_threads)

    @property
    def n_waiting(self) -> int:
        """Requests that wait."""
        return max(self._inside - self.n_threads, 0)

    def start(self) -> None:
        """Start the threads; results come back in the event loop that runs now."""
        self._loop = asyncio.get_running_loop()
        for number in range(self.n_threads):
            # A thread that is still at work does not hold up the end of the process.
            threading.Thread(
                target=self._work, name=f"neardup-{self.name}-{number}", daemon=True
            ).start()

    def stop(self) -> None:
        """Let the threads end when they have done what is in the queue."""
        for _ in range(self.n_threads):
            self._jobs.put(None)

    async def run(
        self,
        work: Callable[[], T],
        deadline: Deadline,
        *,
        may_leave: bool = True,
        is_own: bool = False,
    ) -> T:
        """Have a thread do some work, and return what it returns.

        Work that has not begun at its deadline is dropped. Without ``may_leave``, what has begun
        is waited for. What is the service's own is never turned away.
        """
        if not is_own and self._inside >= self.n_threads + self.max_waiting:
            message = f"{self.max_waiting} requests of this kind are waiting already; try again"
            raise busy(message)
        assert self._loop is not None
        job = _Job(work, self._loop.create_future(), deadline, may_leave)
        self._inside += 1
        timer = self._loop.call_later(deadline.left, self._expire, job, deadline.seconds)
        self._jobs.put(job)
        try:
            return cast("T", await job.future)
        finally:
            timer.cancel()

    @staticmethod
    def _expire(job: _Job[Any], seconds: float) -> None:
        if not job.future.done() and (job.may_leave or not job.has_begun):
            job.future.set_exception(out_of_time(seconds))

    def _work(self) -> None:
        assert self._loop is not None
        while (job := self._jobs.get()) is not None:
            job.has_begun = True
            if not job.future.done():
                try:
                    # A change is waited for, and must not be left half done.
                    with asking(job.deadline.check if job.may_leave else lambda: None):
                        job.outcome = (job.work(), None)
                except BaseException as error:
                    job.outcome = (None, error)
            self._done.append(job)
            # If two threads see that nobody is woken, the loop is woken once too often.
            if not self._is_woken:
                self._is_woken = True
                try:
                    self._loop.call_soon_threadsafe(self._deliver)
                except RuntimeError:
                    # The service has ended before this work did: nobody waits for it.
                    return

    def _deliver(self) -> None:
        self._is_woken = False
        while self._done:
            job = self._done.popleft()
            self._inside -= 1
            if job.future.done():
                continue
            value, error = job.outcome
            if error is None:
                job.future.set_result(value)
            elif isinstance(error, StopIteration):
                # No future takes it, and those of all others are still to come.
                job.future.set_exception(RuntimeError("StopIteration"))
            else:
                job.future.set_exception(error)
