"""The runner of a job: blocks of work over threads, progress and clock in one object."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from types import TracebackType
from typing import TypeVar, cast

from neardup.options.groups import RunOptions
from neardup.runs.display import Display
from neardup.runs.memory import release_memory
from neardup.runs.progress import Progress, Report

# Blocks of work on several cores, with results in the order of the work.

T = TypeVar("T")
R = TypeVar("R")


def count_workers(workers: int | None) -> int:
    """Check a number of workers; None is one for each core that this process may use."""
    if workers is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    number: int = RunOptions.known["workers"].given(workers)
    return number


def read_ahead(items: Iterable[T]) -> Generator[T]:
    """Yield items in their order while a thread already fetches the next one.

    Whoever may stop early closes it.
    """
    iterator = iter(items)
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="neardup-read") as pool:
        coming = pool.submit(next, iterator, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, iterator, end)
            yield cast("T", item)


def map_ordered(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Apply a function to items in threads and yield the results in the items' order.

    Kernels, Arrow and file reading run outside the interpreter lock, so threads use all cores. At
    most two items a worker are under way or waiting, which bounds memory. When the consumer stops
    early or an item fails, waiting items are dropped and running ones awaited.
    """
    if workers == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="neardup") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


_log = logging.getLogger(__name__)
# Without it messages of programs that configure no logging would go to standard error.
logging.getLogger("neardup").addHandler(logging.NullHandler())


class Runner:
    """Runs the stages of one job.

    Stages say what is to be done to which blocks; the runner decides where and when. Results come
    in the order of the blocks, so that they do not depend on the number of threads.

    Parameters
    ----------
    workers
        Threads, at least 1; None is one for each core that this process may use.
    progress
        True shows it while the runner's ``with`` block runs; a function is called with a stage's
        name, the work done so far, and its amount where it is known. A display is used as it is,
        by whoever has started it.
    """

    def __init__(
        self, workers: int | None = None, progress: Display | Progress | None = None
    ) -> None:
        self.workers = count_workers(workers)
        self._seconds: dict[str, float] = {}
        given = RunOptions.known["progress"].checked(progress)
        self._own_display = Display() if given is True else None
        self._display = given if isinstance(given, Display) else self._own_display
        self._report: Report | None = self._display or given or None

    def __enter__(self) -> Runner:
        if self._own_display is not None:
            self._own_display.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._own_display is not None:
            self._own_display.__exit__(kind, error, traceback)

    @contextmanager
    def _shown(self, name: str) -> Iterator[None]:
        """Show that a stage begins, and that it ends unless an error ends it."""
        if self._display is not None:
            self._display.begin(name)
        yield
        if self._display is not None:
            self._display.end(name)

    @contextmanager
    def stage(self, name: str) -> Iterator[Callable[..., None]]:
        """Add the time within the ``with`` block to a stage's, and log that it begins and ends.

        Yields a function that takes counts by keyword, for the log.
        """
        counts: dict[str, object] = {}
        _log.info("%s: begins", name)
        start = time.perf_counter()
        with self._shown(name):
            try:
                yield counts.update
            finally:
                release_memory()
                elapsed = time.perf_counter() - start
                self._seconds[name] = self._seconds.get(name, 0.0) + elapsed
        if _log.isEnabledFor(logging.INFO):
            listed = "".join(f", {count.replace('_', ' ')} {n}" for count, n in counts.items())
            _log.info("%s: ends after %.3f s%s", name, elapsed, listed)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage so far, to the millisecond."""
        return {name: round(seconds, 3) for name, seconds in self._seconds.items()}

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Apply a function to blocks of work and yield the results in the blocks' order.

        At most two blocks a worker are under way or waiting, which bounds memory.
        """
        return map_ordered(function, items, self.workers)

    def report(self, stage: str, done: int, total: int | None = None) -> None:
        """Report how much of a stage's work is done."""
        if self._report is not None:
            self._report(stage, done, total)

    def counter(self, stage: str, total: int | None = None) -> Callable[[int], None]:
        """Return a function that adds to the work done in a stage and reports it; threads may."""
        lock = Lock()
        done = 0

        def add(count: int) -> None:
            nonlocal done
            with lock:
                done += count
                self.report(stage, done, total)

        return add
