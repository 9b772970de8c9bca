"""Blocks of work on several cores, with results in the order of the work.

Python raises KeyboardInterrupt in the main thread between any two steps of its code, those of its
own libraries among them. Within ``Condition``, on which its futures, events, semaphores and the
start of its threads rest, this leaves a lock held for good, and whoever needs it next waits for
ever. So threads meet here in nothing but locks and queues that are C code as a whole.
"""

from __future__ import annotations

import os
import weakref
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, get_ident, local, main_thread
from typing import Any, Generic, NamedTuple, TypeVar, cast

from neardup.options.groups import WorkerOptions

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
    number: int = WorkerOptions.known["workers"].given(workers)
    return number


class Task(Generic[R]):
    """A call that is made once, by the first who takes it."""

    def __init__(self, function: Callable[[], R]) -> None:
        # None when somebody has taken it: neither what it holds nor what comes of it is to wait in
        # a queue until a thread comes by.
        self._function: Callable[[], R] | None = function
        self._error: BaseException | None = None
        # Held by whoever makes the call, and until it is made.
        self._calling, self._missing = Lock(), Lock()
        self._missing.acquire()

    @property
    def is_done(self) -> bool:
        """Whether the call is made."""
        return not self._missing.locked()

    def take(self) -> bool:
        """Make the call unless somebody has taken it, and return whether it was made here.

        Its error is raised by ``result``; an interrupt, and what else is no ``Exception``, here.
        """
        if get_ident() == main_thread().ident:
            # An interrupt between taking the lock and knowing of it would leave it held, but not so
            # in a ``with`` statement.
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
        """Wait until the call is made, by whoever takes it."""
        with self._missing:
            pass

    def result(self) -> R:
        """Wait for the call, and return or raise what came of it, once."""
        self.wait()
        if self._error is not None:
            # An error refers to where it was raised, so here to itself.
            error, self._error = self._error, None
            try:
                raise error
            finally:
                del error
        value = self._value
        del self._value
        return value

    def drop(self) -> None:
        """Let nobody begin the call any more."""
        self._function = None

    def leave(self) -> None:
        """Wait for who has begun the call; when nobody has, it is dropped."""
        self.drop()
        with self._calling:
            vars(self).pop("_value", None)


class Threads:
    """Threads that make calls, in the order in which they come; the first start when needed.

    The ``with`` block ends when what was handed over is done or dropped; interrupts meanwhile are
    raised after that.

    Parameters
    ----------
    number
        Threads, at least 1.
    begin
        Called in each thread first.
    """

    def __init__(self, number: int, begin: Callable[[], None] = lambda: None) -> None:
        self._number, self._begin = number, begin
        self._tasks: SimpleQueue[Task[Any] | None] = SimpleQueue()
        # Locks of the threads, each held until its thread ends.
        self._running: list[Any] = []
        self._starting = Lock()
        # Where a generator that owns threads is left as it is, the interpreter's end closes them.
        self._close = weakref.finalize(self, _end_threads, self._tasks, self._running)

    def do(self, function: Callable[[], R]) -> Task[R]:
        """Have a thread make a call."""
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
            # Who asks for the result gets the error.
            with suppress(BaseException):
                task.take()
            # Else the last one would stay as long as the thread waits.
            del task
    finally:
        # The end is for all, however many there are.
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
    """The threads of a map, and room for what its tasks hand on to each other.

    ``ahead`` is room for what is not yet needed, ``behind`` for what is not yet finished: neither
    ever waits for the other. What is in these queues is how much more there is room for.
    """

    n_workers: int
    threads: Threads
    ahead: SimpleQueue[None]
    behind: SimpleQueue[None]


# ``crew`` is the one that a thread is of; other threads have none.
_of_thread = local()


def map_ordered(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Apply a function to items in threads and yield the results in the items' order.

    Kernels, Arrow and file reading run outside the interpreter lock, so threads use all cores. At
    most two items a worker are under way or waiting, which bounds memory. When the consumer stops
    early or an item fails, waiting items are dropped and running ones awaited.

    Called in the work on an item of another such map, or for its items, it has no threads of its
    own: those of the other one that are idle help.
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
        """Yield items, for which threads may help, too."""
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
            for item in joined(iter(items)):
                waiting.append(threads.do(partial(function, item)))
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for task in waiting:
                task.drop()


class Handed(Generic[T, R]):
    """Applies a function to what a thread hands over; idle threads of the map it works for help.

    Results come in the order of the items. All tasks of a map together hand over as many items at a
    time as it has workers, results that nobody has fetched among them. What is beyond that, or not
    begun when its result is due, the thread works on itself; so does one that is of no map.

    Used in a ``with`` block, or left by ``abandon``.

    Parameters
    ----------
    function
        What is to be done.
    is_ahead
        Whether results are what the thread works on next; else it has nothing more to do with them.
    """

    def __init__(self, function: Callable[[T], R], *, is_ahead: bool = False) -> None:
        self._function = function
        crew: _Crew | None = getattr(_of_thread, "crew", None)
        self._threads = None if crew is None else crew.threads
        self._n_workers = 1 if crew is None else crew.n_workers
        self._room = None if crew is None else crew.ahead if is_ahead else crew.behind
        self._waiting: deque[Task[R]] = deque()

    def add(self, item: T) -> list[R]:
        """Hand an item over; return the results that come next, as far as they are there."""
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
        """Yield the results that are missing."""
        while self._waiting:
            yield self._next()

    def abandon(self) -> None:
        """Drop what nobody has begun, and await what is under way, whatever comes of it."""
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
        """Return the first result; while another thread works on it, work on what nobody has."""
        first = self._waiting[0]
        while not first.is_done:
            if not any(task.take() for task in self._waiting):
                first.wait()
        self._waiting.popleft()
        self._give_room()
        return first.result()

    def _has_room(self) -> bool:
        """Take room for one item, if there is any."""
        assert self._room is not None
        try:
            self._room.get_nowait()
        except Empty:
            return False
        return True

    def _give_room(self) -> None:
        assert self._room is not None
        self._room.put(None)
