"""Equal passages on executors: they sample, let samples meet, and read again what is compared.

The driver compares the tokens of the documents that share a sample, as it does after threads have
read them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.errors import NeardupError
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.jobs.cut.cut_result import take_out
from neardup.jobs.cut.equal_passages import DOCUMENT, sample_texts, samples_in
from neardup.jobs.cut.passages import OfTexts
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans
from neardup.passages.repeats import Samples
from neardup.reading.first_pass import part_of
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.signed_batches import numbers_of
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.cluster import Cluster, Failure, Task
from neardup.spark.read import (
    Outbox,
    TaskReading,
    from_bytes,
    read_on_executors,
    to_bytes,
)
from neardup.stages.options import other_columns_of
from neardup.tables import Int64s

if TYPE_CHECKING:
    from pyspark.rdd import RDD

    from neardup.reading.write_pass import Change

T = TypeVar("T")

# Partitions by hash a slot at least; bytes of a sample, and of so many times those a task has room.
_PARTITIONS_A_SLOT, _SAMPLE_BYTES, _MEETING = 2, 16, 10


@dataclass(frozen=True, kw_only=True)
class _SampleBlock(ListedBlock):
    """A block's documents and a row for each of their samples, which count documents from 0."""

    samples: pa.RecordBatch


class ReadOnExecutors:
    """Reads documents on the executors of a session: ``jobs.cut.equal_passages.Reading``."""

    def __init__(
        self,
        cluster: Cluster,
        sources: Sequence[Source],
        against: Sequence[Source],
        plan: CutJobPlan,
        workspace: Workspace,
        _: Runner,
    ) -> None:
        other = plan.reading.for_other(other_columns_of(plan.options))
        collections = [(against, other), (sources, plan.reading)]
        self._cluster, self._skip_bad = cluster, plan.reading.skip_bad
        self._read = read_on_executors(
            collections, partial(_list_samples, plan), cluster, workspace
        )
        self.catalogues = self._read.catalogues[0], self._read.catalogues[1]
        n_tokens = sum(int(np.maximum(each.n_tokens, 0).sum()) for each in self.catalogues)
        n_bytes = 4 * n_tokens // plan.min_tokens * _SAMPLE_BYTES
        least = _PARTITIONS_A_SLOT * cluster.slots
        n_partitions = max(least, -(-n_bytes * _MEETING // cluster.task_bytes))
        payloads = [start for start, _ in self._read.ranges]
        sent = cluster.work(
            partial(_send_samples, n_partitions), cluster.attach(payloads, self._read.rows)
        )
        self._samples = cluster.stored(cluster.place(sent, n_partitions))
        self.n_samples = sum(
            n for n, _ in cluster.bring(cluster.work(_count_samples, self._samples))
        )
        self._read.rows.unpersist()

    def each_part(self, look: Callable[[Samples], T]) -> Iterator[T]:
        """Look at the samples of each partition."""
        looked = self._cluster.work(partial(_look_at, look), self._samples)
        for _, data in self._cluster.bring_once(looked):
            yield pickle.loads(data)

    def read_again(self, documents: Int64s, function: OfTexts[T]) -> Iterator[T]:
        """Read some documents again, task by task."""
        tasks = []
        for number, (task, (start, stop)) in enumerate(
            zip(self._read.tasks, self._read.ranges, strict=True)
        ):
            first, behind = np.searchsorted(documents, [start, stop]).tolist()
            if first < behind:
                wanted = documents[first:behind] - start
                tasks.append(
                    _Again(number, task, stop - start, wanted, function.part(first, behind))
                )
        columns = [each.columns.only_text() for each in self.catalogues]
        reading = partial(_read_again, columns, self._skip_bad)
        made = self._cluster.work(reading, self._cluster.lay_out(tasks))
        for _, data in self._cluster.bring_once(made):
            yield pickle.loads(data)


def _list_samples(plan: CutJobPlan, block: RowBlock, reading: ReadingPlan) -> _SampleBlock:
    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    n_tokens, ((samples, _), _) = sample_texts(parsed.text, plan)
    known = listed(block, parsed, n_tokens, with_lengths=reading.with_lengths)
    return _SampleBlock(**vars(known), samples=samples)


def _send_samples(n_partitions: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send samples, with the numbers of their documents, to where equal ones meet."""
    done = next(rows)
    outbox = Outbox()
    for row in rows:
        samples = row.found.samples
        place = samples.schema.get_field_index(DOCUMENT)
        documents = numbers_of(samples, DOCUMENT) + done
        samples = samples.set_column(place, DOCUMENT, pa.array(documents))
        partitions = part_of(samples_in([samples]).hashes, n_partitions)
        yield from outbox.add(samples, partitions.astype(np.int64))
        done += len(row.found.numbers)
    yield from outbox.rest()


def _count_samples(rows: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    yield sum(len(from_bytes(data)) for _, data in rows), b""


def _look_at(
    look: Callable[[Samples], Any], rows: Iterator[tuple[int, bytes]]
) -> Iterator[tuple[None, bytes]]:
    samples = samples_in(from_bytes(data) for _, data in rows)
    yield None, pickle.dumps(look(samples))


class _Again(NamedTuple):
    """A task of which some documents are read again, counted from its first one."""

    number: int
    task: Task
    n_documents: int
    wanted: Int64s
    function: OfTexts[Any]


def _read_again(
    columns: Sequence[ColumnNames], skip_bad: bool, tasks: Iterator[_Again]
) -> Iterator[tuple[None, bytes] | Failure]:
    """Make something of the documents that are wanted, block by block."""
    for number, task, n_documents, wanted, function in tasks:
        reading = TaskReading(number, task)
        try:
            again = reading.again(wanted, n_documents, columns, skip_bad=skip_bad)
            for piece, rows, texts in again:
                made = function(texts, np.arange(rows.start, rows.stop), piece.location)
                yield None, pickle.dumps(made)
        except NeardupError as error:
            yield reading.failure(error)


# What goes, sent to the tasks that write.


def send_spans(cluster: Cluster, spans: CutSpans, starts: Int64s) -> RDD[Any]:
    """Send spans to the tasks that write their documents; ``starts`` are their first ones."""
    bounds = np.append(np.searchsorted(spans.documents, starts), len(spans)).tolist()
    batches = [
        (task, to_bytes(pa.RecordBatch.from_pydict(vars(spans.select(slice(start, stop))))))
        for task, (start, stop) in enumerate(pairwise(bounds))
        if start < stop
    ]
    sent = cluster.context.parallelize(batches, max(1, len(batches)))
    return cluster.place(sent, len(starts))


@contextmanager
def cutting_spans(
    columns: tuple[str, ...], replacement: str, rows: Iterator[tuple[int, bytes]]
) -> Iterator[Change]:
    """Give what cuts the spans that were sent out of blocks of the documents of a task."""
    batches = [from_bytes(data) for _, data in rows]
    spans = CutSpans.join(
        [CutSpans(*(column.to_numpy() for column in batch.columns)) for batch in batches]
    )
    yield partial(take_out, spans, columns, replacement)
