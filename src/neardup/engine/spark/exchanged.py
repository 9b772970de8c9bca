"""Group signed documents on executors by key, or exchange their rows and texts.

Results do not depend on the order in which Spark delivers rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.engine.engine import (
    PLACE,
    Columns,
    DocumentPartition,
    DocumentRows,
    Exchanged,
    Keys,
    Meet,
    Partitions,
    Pick,
    pick_placed,
    read_sets_of,
)
from neardup.engine.spark.cluster import Cluster, Failure, Task, local_workspace
from neardup.engine.spark.read import (
    Outbox,
    ReadTasks,
    TaskReading,
    Wanted,
    from_bytes,
)
from neardup.errors import NeardupError
from neardup.reading.passes import part_of
from neardup.reading.sign import ReadingPlan, numbers_of, to_batch
from neardup.runs.exchange import Shuffle
from neardup.runs.runner import Runner
from neardup.tables import TEXT_COLUMNS, Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.rdd import RDD

    from neardup.files.rows import ColumnNames

# Least partitions per slot, so that slots finish together; and the ratio of a task's memory to its
# rows while they are grouped.
_PARTITIONS_A_SLOT, _ROOM = 2, 2

# Share of a task's memory for texts that wait to be written to its local disk.
_WAITING_SHARE = 0.2

_KIND = "kind"


def meet_on_executors(
    cluster: Cluster, read: ReadTasks, given: Columns, keys: Keys, function: Meet
) -> Iterator[Any]:
    """Group documents by equal keys, and yield the result for each range of keys."""
    n_bytes = int(read.starts[-1]) * keys.n_kinds * keys.row_bytes
    least = _PARTITIONS_A_SLOT * cluster.slots
    n_partitions = max(least, -(-n_bytes * _ROOM // cluster.task_bytes))
    attached = [
        (start, {name: values[start:stop] for name, values in given.items()})
        for start, stop in read.ranges
    ]
    sending = partial(_send_keys, keys, n_partitions)
    rows = cluster.work(sending, cluster.attach(attached, read.rows))
    met = cluster.work(partial(_meet, function), cluster.place(rows, n_partitions))
    for _, data in cluster.bring_once(met):
        yield pickle.loads(data)


def _send_keys(keys: Keys, n_partitions: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send the keys of documents, by ranges of keys."""
    import pyarrow as pa

    first, given = next(rows)
    outbox = Outbox()
    done = 0
    for row in rows:
        batch = to_batch(row.found)
        own = {name: values[done : done + len(batch)] for name, values in given.items()}
        documents = DocumentRows(first + done, batch, own)
        done += len(batch)
        for kind in range(keys.n_kinds):
            columns = keys.list_keys(documents, kind)
            partitions = part_of(columns["key"], n_partitions).astype(np.int64)
            kinds = np.full(len(partitions), kind, np.uint16)
            sent = pa.RecordBatch.from_pydict({_KIND: kinds, **columns})
            yield from outbox.add(sent, partitions)
    yield from outbox.rest()


def _meet(function: Meet, rows: Iterator[tuple[int, bytes]]) -> Iterator[tuple[None, bytes]]:
    """Process the rows of a range of keys, kind by kind, in the documents' order."""
    import pyarrow as pa

    batches = [from_bytes(data) for _, data in rows]
    if not batches:
        return
    batch = pa.concat_batches(batches)
    del batches
    columns = {
        name: column.to_numpy(zero_copy_only=False)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    kinds = columns.pop(_KIND)
    order = np.lexsort((columns["document"], kinds))
    bounds = np.searchsorted(kinds[order], np.arange(int(kinds.max()) + 2))

    def by_kind() -> Iterator[Iterable[Columns]]:
        for start, stop in pairwise(bounds.tolist()):
            own = order[start:stop]
            yield [{name: values[own] for name, values in columns.items()}]

    yield None, pickle.dumps(function(by_kind()))


def exchange_rows(
    cluster: Cluster, read: ReadTasks, pick: Pick, partitions: Partitions
) -> RDD[Any]:
    """Send picked rows of documents to their partitions."""
    places = partitions.places_of_all(int(read.starts[-1]))
    attached = []
    for start, stop in read.ranges:
        rows = np.flatnonzero(places[start:stop] >= 0)
        attached.append((rows, places[start:stop][rows]))
    sending = partial(_send_rows, pick, partitions.bounds)
    sent = cluster.work(sending, cluster.attach(attached, read.rows))
    return cluster.place(sent, len(partitions))


def _send_rows(pick: Pick, bounds: Int64s, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    wanted, places = next(rows)
    outbox = Outbox()
    done = 0
    for row in rows:
        batch = to_batch(row.found)
        start, stop = np.searchsorted(wanted, [done, done + len(batch)])
        own: Int64s = np.full(len(batch), -1, np.int64)
        own[wanted[start:stop] - done] = places[start:stop]
        done += len(batch)
        picked = pick_placed(pick, batch, own)
        partitions = np.searchsorted(bounds, numbers_of(picked, PLACE), side="right") - 1
        yield from outbox.add(picked, partitions)
    yield from outbox.rest()


@dataclass(frozen=True)
class SparkExchanged(Exchanged):
    """Rows of documents, and texts of some, to be sent to one task per partition."""

    cluster: Cluster
    read: ReadTasks
    reading: ReadingPlan
    partitions: Partitions
    rows: RDD[Any]

    def with_sets(self, are_wanted: Bools) -> Exchanged:
        """Have executors read documents again, and send their texts to the partitions."""
        read = self.read
        places = self.partitions.places_of_all(int(read.starts[-1]), are_wanted)
        tasks = []
        for number, (task, (start, stop)) in enumerate(zip(read.tasks, read.ranges, strict=True)):
            documents = np.flatnonzero(places[start:stop] >= 0) + start
            tasks.append((number, (task, read.wanted(number, documents), places[documents])))
        columns = [catalogue.columns.only_text() for catalogue in read.catalogues]
        sending = partial(_send_texts, self.partitions.bounds, columns, self.reading.skip_bad)
        sent = self.cluster.work(sending, self.cluster.lay_out(tasks))
        texts = self.cluster.place(sent, len(self.partitions))
        return replace(self, rows=self.rows.union(texts))

    def work(
        self,
        stage: str,
        function: Callable[[DocumentPartition], Columns],
        facts: Callable[[int], Any],
    ) -> Iterator[Columns]:
        """Yield a function's result per partition, each from one task."""
        if not len(self.partitions):
            return
        cluster = self.cluster
        attached = [(number, facts(number)) for number in range(len(self.partitions))]
        working = partial(_work, function, self.reading, cluster.task_bytes)
        rows = cluster.attach(attached, self.rows)
        made = cluster.work(working, rows, keep=(stage, cluster.task_bytes))
        for _, data in cluster.bring_once(made):
            yield pickle.loads(data)


def _send_texts(
    bounds: Int64s,
    columns: Sequence[ColumnNames],
    skip_bad: bool,
    tasks: Iterator[tuple[int, tuple[Task, Wanted, Int64s]]],
) -> Iterator[tuple[int, bytes | Failure]]:
    """Send the texts of documents that are read again, with their positions."""
    import pyarrow as pa

    outbox = Outbox()
    for number, (task, wanted, places) in tasks:
        if not len(places):
            continue
        reading = TaskReading(number, task)
        try:
            for _, rows, texts in reading.again(wanted, columns, skip_bad=skip_bad):
                own = places[rows]
                batch = pa.RecordBatch.from_pydict({PLACE: own, **texts.columns()})
                yield from outbox.add(batch, np.searchsorted(bounds, own, side="right") - 1)
            yield from outbox.rest()
        except NeardupError as error:
            failure = reading.failure(error)
            # Every partition gets the failure, because each may lack texts of this task.
            yield from ((partition, failure) for partition in range(len(bounds) - 1))


def _work(
    function: Callable[[DocumentPartition], Columns],
    reading: ReadingPlan,
    memory: int,
    rows: Iterator[Any],
) -> Iterator[tuple[None, bytes] | Failure]:
    """Process a partition, whose rows and texts come in any order after the facts."""
    number, facts = next(rows)
    with local_workspace(memory) as workspace, Runner(1) as runner:
        texts = Shuffle("texts", workspace, 1, in_memory=False, share=_WAITING_SHARE)
        batches: list[pa.RecordBatch] = []
        failures: list[Failure] = []
        with texts:
            for _, data in rows:
                if isinstance(data, Failure):
                    failures.append(data)
                    continue
                batch = from_bytes(data)
                if TEXT_COLUMNS[0] in batch.schema.names:
                    texts.add(batch, np.zeros(len(batch), np.int64), weight=batch.nbytes)
                else:
                    batches.append(batch)
        if failures:
            yield from failures
            return
        read_sets = partial(read_sets_of, texts, 0, reading)
        partition = DocumentPartition(
            facts, lambda: iter(batches), read_sets, has_sets=False, runner=runner
        )
        try:
            made = function(partition)
        except NeardupError as error:
            yield Failure.of(number, None, error)
            return
    yield None, pickle.dumps(dict(made))
