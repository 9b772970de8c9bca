"""The engine of Spark, with rows on executors.

Results do not depend on the order in which Spark delivers rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.engine.engine import (
    DOCUMENT,
    PLACE,
    BlockFunction,
    Change,
    Columns,
    DocumentPartition,
    DocumentRows,
    Engine,
    Exchanged,
    FactsAndRows,
    Group,
    GroupFunction,
    Keys,
    Partitions,
    Pick,
    Read,
    Revisited,
    Route,
    RowPartition,
    TaskResources,
    TaskRows,
    WorkLimits,
    gather_rows,
    pick_placed,
    read_sets_of,
)
from neardup.engine.spark.cluster import (
    Cluster,
    Failure,
    Piece,
    cut_tasks,
    local_workspace,
    spark_errors,
)
from neardup.engine.spark.read import (
    ReadTasks,
    TaskReading,
    Wanted,
    count_filtered,
    from_bytes,
    in_tasks,
    read_again,
    read_on_executors,
    revisit,
    sending,
    to_bytes,
    write_on_executors,
)
from neardup.errors import NeardupError
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.streams import Destination
from neardup.index.open_index import SharedFolder
from neardup.options.choices import OutputFormat
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import TextFunction, part_of
from neardup.reading.sign import (
    Collections,
    ReadingPlan,
    SignedBatches,
    TokenCollections,
    numbers_of,
)
from neardup.runs.exchange import Shuffle
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import TEXT_COLUMNS, Bools, Int64s, TokenLists
from neardup.text.weighting import DocumentFrequencies, count_documents, join_frequencies

if TYPE_CHECKING:
    from pyspark.core.broadcast import Broadcast
    from pyspark.rdd import RDD

T = TypeVar("T")
U = TypeVar("U")

# Least partitions per slot, so that slots finish together; and the ratios of a task's memory to a
# partition's rows, and to rows that are grouped by keys.
_PARTITIONS_A_SLOT, _ROOM, _MEETING_ROOM = 2, 8, 2

# For compared documents: partitions per slot, fewer than per thread because a task costs more, and
# the partition's share of a task's memory.
_COMPARED_A_SLOT, _PARTITION_SHARE = 4, 0.4

# Share of a task's memory for texts that wait to be written to its local disk.
_WAITING_SHARE = 0.2

_KIND = "kind"


class SparkEngine(Engine):
    """Run a job's verbs on a session's executors."""

    name = "spark"

    def __init__(
        self, current_cluster: Callable[[], Cluster], runner: Runner, workspace: Workspace
    ) -> None:
        super().__init__(runner, workspace)
        self._current_cluster = current_cluster

    @cached_property
    def cluster(self) -> Cluster:
        """The executors, started on first use."""
        return self._current_cluster()

    @property
    def workers(self) -> int:
        return self.cluster.slots

    def stream(
        self,
        stage: str,
        sources: Sequence[Source],
        read_block: Callable[[Source, RowBlock], T],
        work: Callable[[Iterator[T], TaskResources], Iterator[U]],
    ) -> Iterator[U]:
        cluster = self.cluster
        count_filtered(cluster, sources)
        laid_out = cluster.lay_out(list(enumerate(cut_tasks([sources], cluster.slots))))
        working = partial(in_tasks, partial(_stream, read_block, work, cluster.task_bytes))
        return cluster.results(working, laid_out, keep=(stage, cluster.task_bytes))

    @contextmanager
    def share(self, folder: Path) -> Iterator[SharedFolder]:
        """Send a folder's files to executors within the block."""
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        context = self.cluster.context
        with spark_errors():
            sent = {
                str(path.relative_to(folder)): context.broadcast(path.read_bytes())
                for path in paths
            }
        try:
            yield _SentFolder(sent)
        finally:
            for data in sent.values():
                data.destroy()

    def count(self, stage: str, collections: TokenCollections) -> DocumentFrequencies:
        return join_frequencies(
            counts
            for sources, listing in collections
            for counts in self.stream(stage, sources, listing, _count)
        )

    def read(
        self,
        collections: Collections,
        read_block: BlockFunction,
        name: str | None = None,
        route: Route | None = None,
    ) -> Read:
        tasks = read_on_executors(collections, read_block, self.cluster, self.workspace, name)
        n_rows = n_bytes = 0
        if name is not None:
            facts = [each for batches in tasks.batches for _, each in batches.with_facts()]
            n_rows = sum(each["n_rows"] for each in facts)
            n_bytes = sum(each["row_bytes"] for each in facts)
        n_partitions = max(
            _PARTITIONS_A_SLOT * self.cluster.slots, -(-n_bytes * _ROOM // self.cluster.task_bytes)
        )
        sent = _SentRows(self.cluster, tasks, route, n_partitions)
        rows, signed = _SparkRows(n_rows, sent, self.runner), SignedBatches(0, tasks.batches)
        plan = collections[0][1]
        return _SparkRead(tasks.catalogues, plan, rows, signed, self.cluster, tasks)

    @property
    def limits(self) -> WorkLimits:
        slots, memory = self.cluster.slots, self.cluster.task_bytes
        return WorkLimits(_COMPARED_A_SLOT * slots, int(memory * _PARTITION_SHARE), slots, memory)

    def write(
        self,
        documents: Catalogue,
        sides: Mapping[str, Bools],
        folder: Destination,
        output_format: OutputFormat,
        runner: Runner,
        write_others: Callable[[], None],
        change: Change | None = None,
    ) -> None:
        write_others()
        n = len(documents)
        send = partial(_send_change, self.cluster, n)
        write_on_executors(self.cluster, documents, sides, folder, output_format, change, send)
        runner.report("write", n, n)


class _SentFolder:
    """A sent folder, written by each process on opening."""

    def __init__(self, sent: Mapping[str, Broadcast[bytes]]) -> None:
        self._sent = sent

    @contextmanager
    def open(self) -> Iterator[Path]:
        with local_workspace(0) as workspace, workspace.temporary_folder() as folder:
            for name, data in self._sent.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data.value)
                # Otherwise PySpark would keep the bytes in this process.
                if hasattr(data, "_path"):
                    vars(data).pop("_value", None)
            yield folder


def _stream(
    read_block: Callable[[Source, RowBlock], T],
    work: Callable[[Iterator[T], TaskResources], Iterator[U]],
    memory: int,
    reading: TaskReading,
) -> Iterator[U]:
    def read_piece(piece: Piece, block: RowBlock) -> T:
        return read_block(piece.source, block)

    with local_workspace(memory) as workspace, Runner(1) as runner:
        blocks = (found for _, found in reading.map(read_piece))
        # Spark counts tasks, so nothing is reported within one.
        yield from work(blocks, TaskResources(runner, workspace, lambda _: None))


def _count(lists: Iterator[TokenLists], _: TaskResources) -> Iterator[DocumentFrequencies]:
    yield count_documents(lists)


@dataclass(frozen=True)
class _SentRows:
    cluster: Cluster
    read: ReadTasks
    route: Route | None
    n_partitions: int
    columns: Mapping[str, Int64s] = field(default_factory=dict)
    groups: list[pa.RecordBatch] | None = None

    @cached_property
    def placed(self) -> RDD[Any]:
        """The rows by partition or group, sent only once."""
        cluster, read = self.cluster, self.read
        if self.groups is None:
            assert self.route is not None
            n = self.n_partitions
            sender: Callable[..., Iterator[Any]] = partial(_send_rows, self.route, n)
            items: list[Any] = read.parts_of(self.columns)
        else:
            sender, n = _send_to_groups, len(self.groups)
            documents = np.concatenate([numbers_of(each, DOCUMENT) for each in self.groups])
            groups = np.repeat(np.arange(n), list(map(len, self.groups)))
            order = np.argsort(documents, kind="stable")
            documents, groups = documents[order], groups[order]
            bounds = np.searchsorted(documents, read.starts).tolist()
            items = [
                (start, documents[first:stop], groups[first:stop])
                for (start, _), (first, stop) in zip(read.ranges, pairwise(bounds), strict=True)
            ]
        return cluster.place(cluster.apply(sender, cluster.attach(items, read.rows)), n)


@dataclass(frozen=True)
class _SparkRows(TaskRows):
    sent: _SentRows
    runner: Runner
    function: Callable[[Any], Iterator[FactsAndRows]] | None = None

    @cached_property
    def made(self) -> RDD[Any]:
        """The function's result per partition, stored by executors."""
        assert self.function is not None
        cluster = self.sent.cluster
        working = partial(_work, self.function, cluster.task_bytes)
        return cluster.stored(cluster.apply(working, self.sent.placed))

    def group(self, n_groups: int, documents_of: Callable[[int], pa.RecordBatch]) -> TaskRows:
        groups = [documents_of(number) for number in range(n_groups)]
        return replace(self, sent=replace(self.sent, groups=groups))

    def work(
        self,
        function: Callable[[Any], Iterator[FactsAndRows]],
        columns: Mapping[str, Int64s] | None = None,
    ) -> TaskRows:
        sent = replace(self.sent, columns=columns) if columns else self.sent
        return replace(self, sent=sent, function=function)

    def collect(self, stage: str, first: int = 0) -> Iterator[tuple[int, list[FactsAndRows]]]:
        assert not first
        cluster, read, groups = self.sent.cluster, self.sent.read, self.sent.groups
        if self.function is None:
            attached = cluster.attach(read.starts[:-1].tolist(), read.rows)
            listed = cluster.collect(cluster.apply(_give_rows, attached))
            yield from ((1, [(None, from_bytes(data))]) for _, data in listed)
            return
        if groups is None:
            made_of = cluster.collect(self.made)
        else:
            working = partial(_work_on_group, self.function, cluster.task_bytes)
            placed = cluster.attach(list(enumerate(groups)), self.sent.placed)
            made_of = cluster.collect_once(
                cluster.apply(working, placed, keep=(stage, cluster.task_bytes))
            )
        for number, data in made_of:
            facts, batch = pickle.loads(data)
            yield number + 1, [(facts, None if batch is None else from_bytes(batch))]
            if groups is not None:
                self.runner.report(stage, number + 1, len(groups))


@dataclass(frozen=True)
class _SparkRead(Read):
    cluster: Cluster
    tasks: ReadTasks

    def group_by_keys(
        self, given: Columns, keys: Keys, function: GroupFunction, stage: str | None = None
    ) -> Iterator[Any]:
        cluster, tasks = self.cluster, self.tasks
        n_bytes = self.n_documents * keys.n_kinds * keys.row_bytes
        least = _PARTITIONS_A_SLOT * cluster.slots
        n_partitions = max(least, -(-n_bytes * _MEETING_ROOM // cluster.task_bytes))
        attached = cluster.attach(tasks.parts_of(given), tasks.rows)
        sent = cluster.apply(partial(_send_keys, keys, n_partitions), attached)
        return cluster.results(partial(_group_by_keys, function), cluster.place(sent, n_partitions))

    def exchange(self, name: str, pick: Pick, partitions: Partitions) -> Exchanged:
        cluster, tasks = self.cluster, self.tasks
        places = partitions.places_by_document(self.n_documents)
        picked = []
        for start, stop in tasks.ranges:
            rows = np.flatnonzero(places[start:stop] >= 0)
            picked.append((rows, places[start:stop][rows]))
        attached = cluster.attach(picked, tasks.rows)
        sent = cluster.apply(partial(_send_picked, pick, partitions.bounds), attached)
        placed = cluster.place(sent, len(partitions))
        return _SparkExchanged(cluster, tasks, self.reading, partitions, placed)

    def again(self, documents: Int64s, function: TextFunction[T]) -> Iterator[T]:
        reading = partial(in_tasks, partial(read_again, self.tasks.columns, self.reading.skip_bad))
        tasks = [
            (*task, function.part(own.start, own.stop)) for task, own in self.tasks.again(documents)
        ]
        return self.cluster.results(reading, self.cluster.lay_out(tasks))

    def revisit(self, wanted: Bools, function: Callable[[Revisited], T]) -> Iterator[T]:
        read, cluster = self.tasks, self.cluster
        are_wanted: Bools = np.zeros(self.n_documents, np.bool_)
        are_wanted[self.n_documents - len(wanted) :] = wanted
        packed = [np.packbits(are_wanted[start:stop]) for start, stop in read.ranges]
        tasks = list(zip(range(len(packed)), read.tasks, packed, strict=True))
        return cluster.results(partial(revisit, function), cluster.attach(tasks, read.rows))


@sending
def _send_rows(route: Route, n_partitions: int, rows: Iterator[Any]) -> Iterator[Any]:
    first, columns = next(rows)
    for batch in _numbered(first, rows):
        documents = numbers_of(batch, DOCUMENT) - first
        for name, values in columns.items():
            batch = batch.append_column(name, pa.array(values[documents]))
        yield batch, route(batch, n_partitions)


def _give_rows(rows: Iterator[Any]) -> Iterator[tuple[None, bytes]]:
    for batch in _numbered(next(rows), rows):
        yield None, to_bytes(batch)


def _numbered(first: int, rows: Iterator[Any]) -> Iterator[pa.RecordBatch]:
    for row in rows:
        batch = row.found.rows
        assert batch is not None
        place = batch.schema.get_field_index(DOCUMENT)
        if place >= 0:
            documents = numbers_of(batch, DOCUMENT) + first
            batch = batch.set_column(place, DOCUMENT, pa.array(documents))
        yield batch
        first += len(row.found.documents)


@sending
def _send_to_groups(rows: Iterator[Any]) -> Iterator[Any]:
    first, documents, groups = next(rows)
    for batch in _numbered(first, rows):
        if not len(batch):
            continue
        own = numbers_of(batch, DOCUMENT)
        order = np.argsort(own)
        start, stop = np.searchsorted(documents, [own[order[0]], own[order[-1]] + 1])
        places = order[np.searchsorted(own, documents[start:stop], sorter=order)]
        yield batch.take(pa.array(places)), groups[start:stop]


def _work_on_group(
    function: Callable[[Group], Iterator[FactsAndRows]], memory: int, rows: Iterator[Any]
) -> Iterator[tuple[int, bytes] | Failure]:
    """Process a group's rows, in any order after its documents."""
    for number, documents in islice(rows, 1):
        with local_workspace(memory) as workspace, Runner(1) as runner:
            batches = (from_bytes(data) for _, data in rows)
            group = Group(documents, runner, gather_rows(batches, workspace))
            yield from _packed(number, function(group))


def _work(
    function: Callable[[RowPartition], Iterator[FactsAndRows]],
    memory: int,
    rows: Iterator[tuple[int, bytes]],
) -> Iterator[tuple[int, bytes] | Failure]:
    for number, data in islice(rows, 1):
        with local_workspace(memory) as workspace:
            batches = (from_bytes(each) for each in chain([data], (each for _, each in rows)))
            gathered = gather_rows(batches, workspace)
            partition = RowPartition(gathered, 0, 1, int(gathered.sizes()[0]), workspace)
            yield from _packed(number, function(partition))


def _packed(number: int, made: Iterator[FactsAndRows]) -> Iterator[tuple[int, bytes] | Failure]:
    try:
        for facts, batch in made:
            yield number, pickle.dumps((facts, None if batch is None else to_bytes(batch)))
    except NeardupError as error:
        yield Failure.of(number, None, error)


def _send_change(cluster: Cluster, n_documents: int, change: Change, starts: Int64s) -> RDD[Any]:
    if isinstance(change.rows, _SparkRows):
        sent = cluster.apply(partial(_send_by_document, starts), change.rows.made)
        return cluster.place(sent, len(starts))
    batches = [
        (task, to_bytes(batch))
        for task, (start, stop) in enumerate(pairwise([*starts.tolist(), n_documents]))
        for batch in [change.send(change.gathered, slice(start, stop))]
        if len(batch)
    ]
    sent = cluster.context.parallelize(batches, max(1, len(batches)))
    return cluster.place(sent, len(starts))


@sending
def _send_by_document(starts: Int64s, rows: Iterator[tuple[int, bytes]]) -> Iterator[Any]:
    for _, data in rows:
        batch = from_bytes(pickle.loads(data)[1])
        documents = numbers_of(batch, DOCUMENT)
        yield batch, np.searchsorted(starts, documents, side="right") - 1


@sending
def _send_keys(keys: Keys, n_partitions: int, rows: Iterator[Any]) -> Iterator[Any]:
    first, given = next(rows)
    done = 0
    for row in rows:
        batch = row.found.documents
        own = {name: values[done : done + len(batch)] for name, values in given.items()}
        documents = DocumentRows(first + done, batch, own)
        done += len(batch)
        for kind in range(keys.n_kinds):
            columns = keys.list_keys(documents, kind)
            partitions = part_of(columns["key"], n_partitions).astype(np.int64)
            kinds = np.full(len(partitions), kind, np.uint16)
            yield pa.RecordBatch.from_pydict({_KIND: kinds, **columns}), partitions


def _group_by_keys(function: GroupFunction, rows: Iterator[tuple[int, bytes]]) -> Iterator[Any]:
    """Process a range of keys kind by kind, in order."""
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

    def by_kind() -> Iterator[Columns]:
        for start, stop in pairwise(bounds.tolist()):
            own = order[start:stop]
            yield {name: values[own] for name, values in columns.items()}

    yield function(by_kind())


@sending
def _send_picked(pick: Pick, bounds: Int64s, rows: Iterator[Any]) -> Iterator[Any]:
    wanted, places = next(rows)
    done = 0
    for row in rows:
        batch = row.found.documents
        start, stop = np.searchsorted(wanted, [done, done + len(batch)])
        own: Int64s = np.full(len(batch), -1, np.int64)
        own[wanted[start:stop] - done] = places[start:stop]
        done += len(batch)
        picked = pick_placed(pick, batch, own)
        yield picked, np.searchsorted(bounds, numbers_of(picked, PLACE), side="right") - 1


@dataclass(frozen=True)
class _SparkExchanged(Exchanged):
    cluster: Cluster
    read: ReadTasks
    reading: ReadingPlan
    partitions: Partitions
    rows: RDD[Any]

    def with_sets(self, are_wanted: Bools) -> Exchanged:
        cluster, read = self.cluster, self.read
        places = self.partitions.places_by_document(int(read.starts[-1]), are_wanted)
        documents = np.flatnonzero(places >= 0)
        tasks = [(*task, places[documents[own]]) for task, own in read.again(documents)]
        bounds, skip_bad = self.partitions.bounds, self.reading.skip_bad
        sender = partial(_send_texts, bounds, read.columns, skip_bad)
        sent = cluster.apply(sender, cluster.lay_out(tasks))
        texts = cluster.place(sent, len(self.partitions))
        return replace(self, rows=self.rows.union(texts))

    def work(
        self,
        stage: str,
        function: Callable[[DocumentPartition], Columns],
        facts: Callable[[int], Any],
    ) -> Iterator[Columns]:
        if not len(self.partitions):
            return iter(())
        cluster = self.cluster
        attached = [(number, facts(number)) for number in range(len(self.partitions))]
        working = partial(_work_on_partition, function, self.reading, cluster.task_bytes)
        rows = cluster.attach(attached, self.rows)
        return cluster.results(working, rows, keep=(stage, cluster.task_bytes))


@sending
def _send_texts(
    bounds: Int64s, columns: Sequence[ColumnNames], skip_bad: bool, tasks: Iterator[Any]
) -> Iterator[Any]:
    def read(reading: TaskReading, wanted: Wanted, places: Int64s) -> Iterator[Any]:
        for _, rows, texts in reading.again(wanted, columns, skip_bad=skip_bad):
            own = places[rows]
            batch = pa.RecordBatch.from_pydict({PLACE: own, **texts.columns()})
            yield batch, np.searchsorted(bounds, own, side="right") - 1

    for row in in_tasks(read, tasks):
        if isinstance(row, Failure):
            # Every partition gets the failure, because each may lack texts of this task.
            yield from ((partition, row) for partition in range(len(bounds) - 1))
        else:
            yield row


def _work_on_partition(
    function: Callable[[DocumentPartition], Columns],
    plan: ReadingPlan,
    memory: int,
    rows: Iterator[Any],
) -> Iterator[Any]:
    """Process a partition's rows and texts, after its facts."""
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
        read_sets = partial(read_sets_of, texts, 0, plan)
        partition = DocumentPartition(
            facts, lambda: iter(batches), read_sets, has_sets=False, runner=runner
        )
        try:
            yield dict(function(partition))
        except NeardupError as error:
            yield Failure.of(number, None, error)
