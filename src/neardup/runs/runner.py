"""The runner of a job: threads, progress, clock and memory."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import resource
import sys
import time
import weakref
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from logging import getLogger
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, local
from typing import Any, Generic, NamedTuple, TypeVar

from neardup.options.groups import RunOptions, WorkerOptions
from neardup.runs.progress import Display, Progress, Report

T = TypeVar("T")
R = TypeVar("R")

# Share of free memory; the rest is for growth of other programs and the system's cache.
_SHARE = 0.6
# Bytes, if the free memory is unknown.
_MODEST = 10**9
_LEAST = 64 * 10**6


def peak_memory_bytes() -> int:
    """Return this process's peak resident memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def release_memory() -> None:
    """Return unused memory of libraries to the system."""
    # Loading Arrow would take more than it could return.
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    # Only the GNU C library has it, and its arenas grow with every thread.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def default_memory_bytes() -> int:
    """Return a run's memory limit, 60 % of free memory."""
    available = available_memory_bytes()
    return _MODEST if available is None else max(_LEAST, int(_SHARE * available))


def available_memory_bytes(root: Path = Path("/")) -> int | None:
    """Return the memory free for this process, None if unknown.

    Memory for the system's file cache counts as free. Limits are of version 2 of control groups.
    """
    rooms: list[int | None] = []
    if (kilobytes := _numbers(root / "proc/meminfo").get("MemAvailable:")) is not None:
        rooms.append(kilobytes * 1024)
    top = root / "sys/fs/cgroup"
    for line in _lines(root / "proc/self/cgroup"):
        number, _, group = line.split(":", 2)
        names = group.strip("/").split("/") if number == "0" else []
        rooms += [_room_of_group(top.joinpath(*names[:n])) for n in range(len(names) + 1)]
    return min((room for room in rooms if room is not None), default=None)


def _room_of_group(folder: Path) -> int | None:
    """Return a control group's remaining memory, None if unlimited."""
    numbers = {}
    for name in ("max", "high", "current"):
        text = "".join(_lines(folder / f"memory.{name}"))
        if text.isdecimal():
            numbers[name] = int(text)
    used = numbers.pop("current", None)
    if not numbers or used is None:
        return None
    # The system reclaims this memory under pressure.
    statistics = _numbers(folder / "memory.stat")
    reclaimable = ("inactive_file", "active_file", "slab_reclaimable")
    used -= sum(statistics.get(name, 0) for name in reclaimable)
    return max(0, min(numbers.values()) - max(0, used))


def _numbers(path: Path) -> dict[str, int]:
    rows = [line.split() for line in _lines(path)]
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


# Seconds; a shorter stage leaves too little memory behind to release.
_BRIEF = 0.005

_log = getLogger(__name__)
# Without a handler, programs without logging would print messages on standard error.
logging.getLogger("neardup").addHandler(logging.NullHandler())


class Runner:
    """Run the stages of one job.

    Stages define functions of blocks; the runner schedules them. Results come in the order of the
    blocks, independent of the number of threads.

    ``workers`` are threads, at least 1; None is one per core that this process may use.
    ``progress`` True shows progress within the runner's ``with`` block; a function is called with a
    stage's name, the work done so far, and the total if it is known. A display is used as it is;
    its owner starts it.
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

    def __exit__(self, *raised: Any) -> None:
        if self._own_display is not None:
            self._own_display.__exit__(*raised)

    @contextmanager
    def stage(self, name: str) -> Iterator[Callable[..., None]]:
        """Time, show and log a stage, and yield its count function."""
        counts: dict[str, object] = {}
        _log.info("%s: begins", name)
        start = time.perf_counter()
        if self._display is not None:
            self._display.begin(name)
        try:
            yield counts.update
        finally:
            elapsed = time.perf_counter() - start
            if elapsed > _BRIEF:
                release_memory()
                elapsed = time.perf_counter() - start
            self._seconds[name] = self._seconds.get(name, 0.0) + elapsed
        if self._display is not None:
            self._display.end(name)
        if _log.isEnabledFor(logging.INFO):
            listed = "".join(f", {count.replace('_', ' ')} {n}" for count, n in counts.items())
            _log.info("%s: ends after %.3f s%s", name, elapsed, listed)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage so far, to the millisecond."""
        return {name: round(seconds, 3) for name, seconds in self._seconds.items()}

    def map(
        self,
        function: Callable[[T], R],
        items: Iterable[T],
        stage: str | None = None,
        ends: Sequence[int] = (),
    ) -> Iterator[R]:
        """Apply a function to blocks and yield ordered results.

        Threads work and log as for ``map_ordered``. With a ``stage``, each item in turn completes
        its work up to one of ``ends``.
        """
        results = map_ordered(function, items, self.workers)
        return results if stage is None else self._reported(results, stage, ends)

    def _reported(self, results: Iterator[R], stage: str, ends: Sequence[int]) -> Iterator[R]:
        for result, done in zip(results, ends, strict=True):
            yield result
            self.report(stage, done, ends[-1])

    def report(self, stage: str, done: int, total: int | None = None) -> None:
        """Report the completed work of a stage."""
        if self._report is not None:
            self._report(stage, done, total)

    def counter(self, stage: str, total: int | None = None) -> Callable[[int], None]:
        """Return a thread-safe counter of a stage's work."""
        lock = Lock()
        done = 0

        def add(count: int) -> None:
            nonlocal done
            with lock:
                done += count
                self.report(stage, done, total)

        return add


def count_workers(workers: int | None) -> int:
    """Check a worker number, one per usable core for None."""
    if workers is None:
        return len(os.sched_getaffinity(0))
    number: int = WorkerOptions.known["workers"].checked(workers)
    return number


class Task(Generic[R]):
    """A call made once, by the first available thread."""

    def __init__(self, function: Callable[[], R]) -> None:
        # None once a thread has taken it, so that neither the arguments nor the result wait in a
        # queue.
        self._function: Callable[[], R] | None = function
        self._error: BaseException | None = None
        # Held during the call, and until the call is made.
        self._calling, self._missing = Lock(), Lock()
        self._missing.acquire()

    @property
    def is_done(self) -> bool:
        """Whether the call is made."""
        return not self._missing.locked()

    def take(self) -> bool:
        """Make the call unless taken, and return whether made.

        ``result`` raises its ``Exception``; interrupts and other errors are raised here.
        """
        if self._calling.locked():
            return False
        # An interrupt can come anywhere but between taking the lock and entering the block.
        with self._calling:
            return self._call()

    def _call(self) -> bool:
        function, self._function = self._function, None
        if function is None:
            return False
        try:
            self._value = function()
        except BaseException as error:
            self._error = error
            if not isinstance(error, Exception):
                raise
        finally:
            self._missing.release()
        return True

    def wait(self) -> None:
        """Wait until any thread has made the call."""
        with self._missing:
            pass

    def result(self) -> R:
        """Wait for the call, and return its result once."""
        self.wait()
        if self._error is not None:
            # The traceback of an error refers to this frame, which refers to the error.
            error, self._error = self._error, None
            try:
                raise error
            finally:
                del error
        value = self._value
        del self._value
        return value

    def drop(self) -> None:
        """Cancel the call if it has not started."""
        self._function = None

    def leave(self) -> None:
        """Cancel the call, or wait if it has started."""
        self.drop()
        with self._calling:
            vars(self).pop("_value", None)


class Threads:
    """Threads that make calls in order of arrival.

    They start on demand, and first call ``begin``. The ``with`` block ends when all calls are done
    or dropped; interrupts meanwhile are raised afterwards.
    """

    def __init__(self, number: int, begin: Callable[[], None] = lambda: None) -> None:
        self._number, self._begin = number, begin
        self._tasks: SimpleQueue[Task[Any] | None] = SimpleQueue()
        # Locks of the threads, each held until its thread ends.
        self._running: list[Any] = []
        self._starting = Lock()
        # If a generator that owns threads is abandoned, the interpreter's exit closes them.
        self._close = weakref.finalize(self, _end_threads, self._tasks, self._running)

    def do(self, function: Callable[[], R]) -> Task[R]:
        """Make a call in a thread."""
        task = Task(function)
        self._tasks.put(task)
        with self._starting:
            if len(self._running) < self._number:
                running = Lock()
                running.acquire()
                start_new_thread(_run_tasks, (self._begin, self._tasks, running))
                self._running.append(running)
        return task

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()


def _run_tasks(
    begin: Callable[[], None], tasks: SimpleQueue[Task[Any] | None], running: Any
) -> None:
    try:
        begin()
        while (task := tasks.get()) is not None:
            # ``result`` raises the error.
            with suppress(BaseException):
                task.take()
            # Otherwise the last task would stay in memory while the thread waits.
            del task
    finally:
        # The end mark is passed on to all threads.
        tasks.put(None)
        running.release()


def _end_threads(tasks: SimpleQueue[Task[Any] | None], running: list[Any]) -> None:
    tasks.put(None)
    interrupt = None
    for thread in running:
        has_ended = False
        while not has_ended:
            try:
                with thread:
                    has_ended = True
            except BaseException as error:
                interrupt = error
    if interrupt is not None:
        raise interrupt


class _Pool(NamedTuple):
    """The threads of a map, and slots for nested maps."""

    threads: Threads
    slots: SimpleQueue[None]


# ``pool`` is the pool of a thread; other threads have none.
_of_thread = local()


def map_ordered(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Apply a function in threads and yield ordered results.

    Kernels, Arrow and file reading run outside the interpreter lock, so threads use all cores. At
    most two items per worker are running or waiting, which bounds memory. When the consumer stops
    early or an item fails, waiting items are dropped and running ones awaited.

    A nested call, within a function or an item source of another map, starts no threads: idle
    threads of the outer map help.
    """
    if hasattr(_of_thread, "pool"):
        with NestedMap(function) as nested:
            for item in items:
                yield from nested.add(item)
            yield from nested.rest()
        return
    if workers == 1:
        yield from map(function, items)
        return

    def begin() -> None:
        _of_thread.pool = pool

    def joined(items: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while True:
            _of_thread.pool = pool
            try:
                item = next(items, end)
            finally:
                del _of_thread.pool
            if item is end:
                return
            yield item

    waiting: deque[Task[R]] = deque()
    with Threads(workers, begin) as threads:
        pool = _Pool(threads, SimpleQueue())
        for _ in range(2 * workers):
            pool.slots.put(None)
        try:
            remaining = joined(iter(items))
            first = deque(islice(remaining, 2))
            if len(first) < 2:
                # No thread starts for a single item, unless it hands items on.
                yield from joined(map(function, first))
                return
            # No name holds the first items, so that their memory is free when they are done.
            for item in chain((first.popleft() for _ in range(len(first))), remaining):
                waiting.append(threads.do(partial(function, item)))
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for task in waiting:
                task.drop()


class NestedMap(Generic[T, R]):
    """Apply a function within a map, with the help of its idle threads.

    Results come in the order of the items. The thread itself processes items if too many are
    queued, and items that have not started when their results are due; so does a thread outside of
    a map. Use it in a ``with`` block, or call ``abandon``.
    """

    def __init__(self, function: Callable[[T], R]) -> None:
        self._function = function
        self._pool: _Pool | None = getattr(_of_thread, "pool", None)
        self._waiting: deque[Task[R]] = deque()

    def add(self, item: T) -> list[R]:
        """Queue an item, and return the next ready results."""
        results: list[R] = []
        if self._pool is None:
            return [self._function(item)]
        while not self._take_slot(self._pool):
            if not self._waiting:
                return [*results, self._function(item)]
            results.append(self._next())
        self._waiting.append(self._pool.threads.do(partial(self._function, item)))
        while self._waiting and self._waiting[0].is_done:
            results.append(self._next())
        return results

    def rest(self) -> Iterator[R]:
        """Yield the remaining results."""
        while self._waiting:
            yield self._next()

    def abandon(self) -> None:
        """Drop unstarted items, and await running items, ignoring errors."""
        for task in self._waiting:
            task.drop()
        while self._waiting:
            self._waiting[0].leave()
            self._pop()

    def __enter__(self) -> NestedMap[T, R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _next(self) -> R:
        """Return the first result, processing unstarted items meanwhile."""
        first = self._waiting[0]
        while not first.is_done:
            if not any(task.take() for task in self._waiting):
                first.wait()
        self._pop()
        return first.result()

    @staticmethod
    def _take_slot(pool: _Pool) -> bool:
        """Take a slot for one item, and return whether there was one."""
        try:
            pool.slots.get_nowait()
        except Empty:
            return False
        return True

    def _pop(self) -> None:
        assert self._pool is not None
        self._waiting.popleft()
        self._pool.slots.put(None)
