"""Data on executors: partitions that we number, what goes along with them, what comes back."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from neardup.engines.spark.failures import Failure, raise_first
from neardup.errors import EngineError
from neardup.version import __version__

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.rdd import RDD

# Bytes that come to the driver at a time; Spark ends a job that brings more than 1 GB.
_BYTES_AT_ONCE = 200_000_000


@dataclass(frozen=True)
class Cluster:
    """Executors of a session: ``slots`` tasks run at the same time, with so much memory each."""

    context: SparkContext
    slots: int
    task_bytes: int

    def lay_out(self, items: Sequence[Any]) -> RDD[Any]:
        """Return some items, each in a partition by itself that has its number."""
        numbered = self.context.parallelize(list(enumerate(items)), max(1, len(items)))
        return self.place(numbered, len(items)).mapPartitions(_values, preservesPartitioning=True)

    def work(
        self,
        function: Callable[[Iterator[Any]], Iterator[Any]],
        rows: RDD[Any],
        *,
        is_laid_out: bool = False,
    ) -> RDD[Any]:
        """Have a function work on the rows of each partition.

        ``is_laid_out`` says that what it gives may have items attached. Rows to be placed may not:
        Spark takes them for placed if there happen to be as many partitions.
        """
        working = partial(_work, __version__, function)
        return rows.mapPartitions(working, preservesPartitioning=is_laid_out)

    def place(self, rows: RDD[Any], n_partitions: int) -> RDD[Any]:
        """Bring pairs of a partition and something to these partitions."""
        return rows.partitionBy(max(1, n_partitions), _same)

    def attach(self, items: Sequence[Any], rows: RDD[Any]) -> RDD[Any]:
        """Put an item in front of each partition of what ``lay_out`` has given; nothing moves."""
        return self.lay_out(items).union(rows)

    def stored(self, rows: RDD[Any]) -> RDD[Any]:
        """Have executors keep what they work out, on their disks."""
        from pyspark import StorageLevel

        return rows.persist(StorageLevel.DISK_ONLY)

    def work_out(self, rows: RDD[Any]) -> list[Answer]:
        """Work out all partitions, and return what is known of each.

        Raises
        ------
        NeardupError
            That of the first task, in the order of the documents, which has met one.
        """
        most = _BYTES_AT_ONCE // max(1, rows.getNumPartitions())
        answers: list[Answer] = rows.mapPartitions(partial(_answer, most)).collect()
        raise_first(failure for answer in answers for failure in answer.failures)
        return answers

    def bring(self, rows: RDD[Any]) -> Iterator[Any]:
        """Yield pairs of anything and bytes, partition after partition, some at a time.

        What executors do not keep they work out twice if it is large.

        Raises
        ------
        NeardupError
            As ``work_out``.
        """
        group: list[int] = []
        size = 0
        for number, answer in enumerate(self.work_out(rows)):
            is_here = answer.rows is not None
            if group and (is_here or size + answer.size > _BYTES_AT_ONCE):
                yield from self.context.runJob(rows, iter, group)
                group, size = [], 0
            if answer.rows is not None:
                yield from answer.rows
            else:
                group.append(number)
                size += answer.size
        if group:
            yield from self.context.runJob(rows, iter, group)

    def bring_once(self, rows: RDD[Any]) -> Iterator[Any]:
        """Do as ``bring`` what is much work."""
        stored = self.stored(rows)
        try:
            yield from self.bring(stored)
        finally:
            stored.unpersist()


@dataclass
class Answer:
    """What is known of a partition: bytes, errors, and the rows themselves if they are few."""

    size: int
    failures: list[Failure]
    rows: list[Any] | None


def _same(partition: int) -> int:
    return partition


def _work(
    version: str, function: Callable[[Iterator[Any]], Iterator[Any]], rows: Iterator[Any]
) -> Iterator[Any]:
    """Do a task, unless the driver has another version."""
    # Spark collects garbage after each task, which takes longer than many a task: libraries have
    # some hundred thousand objects. Those that are left now stay for good.
    gc.freeze()
    if version != __version__:
        message = (
            f"the executors have neardup {__version__}, the driver {version}; install the same "
            "version everywhere"
        )
        raise EngineError(message)
    return function(rows)


def _values(pairs: Iterator[tuple[int, Any]]) -> Iterator[Any]:
    return (value for _, value in pairs)


def _answer(most: int, rows: Iterator[Any]) -> Iterator[Answer]:
    answer = Answer(0, [], [])
    for row in rows:
        if isinstance(row, Failure):
            answer.failures.append(row)
            continue
        answer.size += len(row[1])
        if answer.rows is not None:
            answer.rows.append(row)
            if answer.size > most:
                answer.rows = None
    yield answer
