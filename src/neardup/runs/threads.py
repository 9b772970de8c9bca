"""Parallel execution of blocks, with results in the order of the work.

Python raises KeyboardInterrupt in the main thread between any two bytecode steps, also in its own
libraries. Within ``Condition``, the base of its futures, events, semaphores and thread starts, this
leaves a lock held forever, and the next thread that needs it deadlocks. So threads synchronize here
only through locks and queues that are implemented wholly in C.
"""

from __future__ import annotations

import os
import weakref
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from queue import Empty, SimpleQueue
from threading import Lock, get_ident, local, main_thread
from typing import Any, Generic, NamedTuple, TypeVar, cast

from neardup.options.groups import WorkerOptions

T = TypeVar("T")
R = TypeVar("R")


def count_workers(workers: int | None) -> int:
    """Check a number of workers; None is one per core that this process may use."""
    if workers is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    number: int = WorkerOptions.known["workers"].given(workers)
    return number


class Task(Generic[R]):
    """A call that is made once, by the first thread that takes it."""

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
        """Make the call unless another thread has taken it; return whether it was made here.

        ``result`` raises its ``Exception``; interrupts and other errors are raised here.
        """
        if get_ident() == main_thread().ident:
            # An interrupt between taking the lock and recording it would leave it held, except in a
            # ``with`` statement.
            if self._calling.locked():
                return False
            with self._calling:
                return self._call()
        if not self._calling.acquire(blocking=False):
            return False
        try:
            return self._call()
        finally:
            self._calling.release()

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
        """Wait for the call, and return or raise its result, once."""
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
        """Cancel the call if it has not started, else wait for it."""
        self.drop()
        with self._calling:
            vars(self).pop("_value", None)


class Threads:
    """Threads that make calls in order of arrival, started on demand.

    The ``with`` block ends when all calls are done or dropped; interrupts meanwhile are raised
    afterwards.

    Parameters
    ----------
    number
        Number of threads, at least 1.
    begin
        Called first in each thread.
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


class _Crew(NamedTuple):
    """The threads of a map, and queue slots for tasks that they hand to each other.

    ``ahead`` are slots for items needed later, ``behind`` for items finished later: neither ever
    waits for the other. The length of a queue is the number of free slots.
    """

    n_workers: int
    threads: Threads
    ahead: SimpleQueue[None]
    behind: SimpleQueue[None]


# ``crew`` is the crew of a thread; other threads have none.
_of_thread = local()


def map_ordered(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Apply a function to items in threads and yield the results in the items' order.

    Kernels, Arrow and file reading run outside the interpreter lock, so threads use all cores. At
    most two items per worker are running or waiting, which bounds memory. When the consumer stops
    early or an item fails, waiting items are dropped and running ones awaited.

    A nested call, within a function or an item source of another map, starts no threads: idle
    threads of the outer map help.
    """
    if hasattr(_of_thread, "crew"):
        with Handed(function, is_ahead=True) as handed:
            for item in items:
                yield from handed.add(item)
            yield from handed.rest()
        return
    if workers == 1:
        yield from map(function, items)
        return
    ahead: SimpleQueue[None] = SimpleQueue()
    behind: SimpleQueue[None] = SimpleQueue()
    for _ in range(workers):
        ahead.put(None)
        behind.put(None)

    def join() -> None:
        _of_thread.crew = _Crew(workers, threads, ahead, behind)

    def joined(items: Iterator[T]) -> Iterator[T]:
        """Yield items, with the help of this map's threads."""
        end = object()
        while True:
            join()
            try:
                item = next(items, end)
            finally:
                del _of_thread.crew
            if item is end:
                return
            yield cast("T", item)

    waiting: deque[Task[R]] = deque()
    with Threads(workers, join) as threads:
        try:
            remaining = joined(iter(items))
            first = deque(islice(remaining, 2))
            if len(first) == 1:
                # No thread starts for a single item, unless it hands items on.
                join()
                try:
                    result = function(first.pop())
                finally:
                    del _of_thread.crew
                yield result
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


class Handed(Generic[T, R]):
    """Apply a function to a thread's items, with the help of idle threads of its map.

    Results come in the order of the items. All tasks of a map together queue as many items as it
    has workers, unfetched results included. The thread itself processes any further items, and
    items that have not started when their results are due; so does a thread outside of a map.

    Use it in a ``with`` block, or call ``abandon``.

    Parameters
    ----------
    function
        Function of an item.
    is_ahead
        Whether the thread processes the results next; otherwise it ignores them.
    """

    def __init__(self, function: Callable[[T], R], *, is_ahead: bool = False) -> None:
        self._function = function
        crew: _Crew | None = getattr(_of_thread, "crew", None)
        self._threads = None if crew is None else crew.threads
        self._n_workers = 1 if crew is None else crew.n_workers
        self._room = None if crew is None else crew.ahead if is_ahead else crew.behind
        self._waiting: deque[Task[R]] = deque()

    def add(self, item: T) -> list[R]:
        """Queue an item, and return the next results that are ready."""
        results: list[R] = []
        if self._threads is None:
            return [self._function(item)]
        while not self._has_room():
            if not self._waiting:
                return [*results, self._function(item)]
            results.append(self._next())
        self._waiting.append(self._threads.do(partial(self._function, item)))
        while self._waiting and self._waiting[0].is_done:
            results.append(self._next())
        return results

    def rest(self) -> Iterator[R]:
        """Yield the remaining results."""
        while self._waiting:
            yield self._next()

    def abandon(self) -> None:
        """Drop items that have not started, and await the others, ignoring errors."""
        for task in self._waiting:
            task.drop()
        while self._waiting:
            self._waiting[0].leave()
            self._waiting.popleft()
            self._give_room()

    def __enter__(self) -> Handed[T, R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _next(self) -> R:
        """Return the first result; while another thread computes it, process unstarted items."""
        first = self._waiting[0]
        while not first.is_done:
            if not any(task.take() for task in self._waiting):
                first.wait()
        self._waiting.popleft()
        self._give_room()
        return first.result()

    def _has_room(self) -> bool:
        """Take a slot for one item, if there is one."""
        assert self._room is not None
        try:
            self._room.get_nowait()
        except Empty:
            return False
        return True

    def _give_room(self) -> None:
        assert self._room is not None
        self._room.put(None)
