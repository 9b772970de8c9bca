"""Blocks of work on several cores, with results in the order of the work."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar, cast

from neardup.options import table

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
    number: int = table.WORKERS.given(workers)
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
