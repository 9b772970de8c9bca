"""Spans that the driver knows: executors read their documents again, locate them, and cut them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from neardup.engine.spark.cluster import Cluster, Failure, Task
from neardup.engine.spark.read import ReadTasks, TaskReading, Wanted, from_bytes, to_bytes
from neardup.engine.spark.write import OpenChange
from neardup.errors import NeardupError
from neardup.files.rows import ColumnNames, Source
from neardup.jobs.cut.cut_result import take_out
from neardup.jobs.cut.passages import OfTexts
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans
from neardup.reading.sign import ReadingPlan
from neardup.stages.options import other_columns_of
from neardup.tables import Int64s

if TYPE_CHECKING:
    from pyspark.rdd import RDD

    from neardup.reading.write_pass import Change

T = TypeVar("T")


def planned_collections(
    sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> list[tuple[Sequence[Source], ReadingPlan]]:
    """Return what is read, and how: both collections, the other one first."""
    other = plan.reading.for_other(other_columns_of(plan.options))
    return [(against, other), (sources, plan.reading)]


def read_again_on_executors(
    read: ReadTasks, plan: CutJobPlan, cluster: Cluster, documents: Int64s, function: OfTexts[T]
) -> Iterator[T]:
    """Read some documents again, task by task: a ``ReadAgain``, but for its first arguments."""
    tasks = []
    for number, (task, (start, stop)) in enumerate(zip(read.tasks, read.ranges, strict=True)):
        first, behind = np.searchsorted(documents, [start, stop]).tolist()
        if first < behind:
            wanted = read.wanted(number, documents[first:behind])
            tasks.append(_Again(number, task, wanted, function.part(first, behind)))
    columns = [each.columns.only_text() for each in read.catalogues]
    reading = partial(_read_again, columns, plan.reading.skip_bad)
    made = cluster.work(reading, cluster.lay_out(tasks))
    for _, data in cluster.bring_once(made):
        yield pickle.loads(data)


class _Again(NamedTuple):
    """A task of which some documents are read again, and what is made of them."""

    number: int
    task: Task
    wanted: Wanted
    function: OfTexts[Any]


def _read_again(
    columns: Sequence[ColumnNames], skip_bad: bool, tasks: Iterator[_Again]
) -> Iterator[tuple[None, bytes] | Failure]:
    """Make something of the documents that are wanted, block by block."""
    for number, task, wanted, function in tasks:
        reading = TaskReading(number, task)
        try:
            again = reading.again(wanted, columns, skip_bad=skip_bad)
            for piece, rows, texts in again:
                made = function(texts, np.arange(rows.start, rows.stop), piece.location)
                yield None, pickle.dumps(made)
        except NeardupError as error:
            yield reading.failure(error)


class Writing(NamedTuple):
    """What ``write_on_executors`` has to be given to cut spans out of what it writes."""

    send: Callable[[Int64s], RDD[Any]]
    open_change: OpenChange


def cutting(
    cluster: Cluster, spans: CutSpans, columns: tuple[str, ...], plan: CutJobPlan
) -> Writing:
    """Say how some spans are cut out of the text columns of their documents."""
    return Writing(
        partial(_send_spans, cluster, spans),
        partial(_open_spans, columns, plan.options.replacement),
    )


def _send_spans(cluster: Cluster, spans: CutSpans, starts: Int64s) -> RDD[Any]:
    """Send spans to the tasks that write their documents; ``starts`` are their first ones."""
    bounds = np.append(np.searchsorted(spans.documents, starts), len(spans)).tolist()
    batches = [
        (task, to_bytes(spans.take(slice(start, stop)).to_batch()))
        for task, (start, stop) in enumerate(pairwise(bounds))
        if start < stop
    ]
    sent = cluster.context.parallelize(batches, max(1, len(batches)))
    return cluster.place(sent, len(starts))


@contextmanager
def _open_spans(
    columns: tuple[str, ...], replacement: str, rows: Iterator[tuple[int, bytes]]
) -> Iterator[Change]:
    """Give what cuts the spans that were sent out of blocks of the documents of a task."""
    batches = [from_bytes(data) for _, data in rows]
    yield partial(take_out, CutSpans.of_batches(batches), columns, replacement)
