"""The engine of Spark: executors keep and process rows, the driver collects."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from neardup.engine.engine import (
    DOCUMENT,
    Change,
    Columns,
    Engine,
    Exchanged,
    Given,
    Group,
    Keys,
    Look,
    Means,
    Meet,
    Partition,
    Partitions,
    Pick,
    Read,
    Revisited,
    Route,
    Rows,
)
from neardup.engine.spark.cluster import (
    Cluster,
    Failure,
    Piece,
    Task,
    cut_tasks,
    local_workspace,
    spark_errors,
)
from neardup.engine.spark.exchanged import SparkExchanged, exchange_rows, meet_on_executors
from neardup.engine.spark.read import (
    OpenChange,
    Outbox,
    ReadTasks,
    TaskReading,
    Wanted,
    count_filtered,
    count_on_executors,
    from_bytes,
    no_change,
    read_on_executors,
    sign_parts_on_executors,
    to_bytes,
    write_on_executors,
)
from neardup.engine.threads import group_of, partition_of
from neardup.errors import NeardupError
from neardup.files.streams import file_has_changed
from neardup.index.handle import SharedFolder
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import OfTexts, Parts
from neardup.reading.sign import (
    Collections,
    Counted,
    ListedBlock,
    ReadingPlan,
    SignedBatches,
    SignedBlock,
    numbers_of,
    sign_block,
    to_batch,
)
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Int64s
from neardup.text.weighting import DocumentFrequencies

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.core.broadcast import Broadcast
    from pyspark.rdd import RDD

    from neardup.files.rows import ColumnNames, RowBlock, Source
    from neardup.files.streams import Destination
    from neardup.options.choices import OutputFormat
    from neardup.reading.passes import Change as ChangeBlock

T = TypeVar("T")
U = TypeVar("U")

# Least partitions per slot, so that slots finish together; and the ratio of a task's memory to a
# partition's rows.
_PARTITIONS_A_SLOT, _ROOM = 2, 8

# For compared documents: partitions per slot, fewer than per thread because a task costs more, and
# the partition's share of a task's memory.
_COMPARED_A_SLOT, _PARTITION_SHARE = 4, 0.4


class SparkEngine(Engine):
    """Run the verbs of a job on the executors of a session.

    Parameters
    ----------
    current_cluster
        Returns the executors, and starts them when they are first needed.
    runner, workspace
        Runner and workspace of the driver.
    """

    name = "spark"

    def __init__(
        self, current_cluster: Callable[[], Cluster], runner: Runner, workspace: Workspace
    ) -> None:
        super().__init__(runner, workspace)
        self._current_cluster = current_cluster

    @cached_property
    def cluster(self) -> Cluster:
        """The executors."""
        return self._current_cluster()

    def describe_cluster(self) -> dict[str, Any]:
        return self.describe()

    def errors(self) -> AbstractContextManager[None]:
        return spark_errors()

    @property
    def workers(self) -> int:
        return self.cluster.slots

    def stream(
        self,
        stage: str,
        sources: Sequence[Source],
        look: Callable[[Source, RowBlock], T],
        work: Callable[[Iterator[T], Means], Iterator[U]],
    ) -> Iterator[U]:
        cluster = self.cluster
        count_filtered(cluster, sources)
        laid_out = cluster.lay_out(list(enumerate(cut_tasks([sources], cluster.slots))))
        working = partial(_stream, look, work, cluster.task_bytes)
        keep = stage, cluster.task_bytes
        made = cluster.work(working, laid_out, is_laid_out=True, keep=keep)
        for _, data in cluster.bring_once(made):
            yield pickle.loads(data)

    @contextmanager
    def share(self, folder: Path) -> Iterator[SharedFolder]:
        """Send the files of the folder to executors, which keep them within the block."""
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        sent = {
            str(path.relative_to(folder)): self.cluster.context.broadcast(path.read_bytes())
            for path in paths
        }
        try:
            yield _SentFolder(sent)
        finally:
            for data in sent.values():
                data.destroy()

    def count(self, stage: str, collections: Counted) -> DocumentFrequencies:
        return count_on_executors(stage, collections, self.cluster)

    def read(
        self, name: str, collections: Collections, look: Look, route: Route | None = None
    ) -> Read:
        read = read_on_executors(
            collections, partial(_look_at, look), self.cluster, self.workspace, tell=_tell
        )
        known = [facts for batches in read.batches for _, facts in batches.known()]
        n_bytes = sum(facts["row_bytes"] for facts in known)
        n_partitions = max(
            _PARTITIONS_A_SLOT * self.cluster.slots, -(-n_bytes * _ROOM // self.cluster.task_bytes)
        )
        n_rows = sum(facts["n_rows"] for facts in known)
        sent = _SentRows(self.cluster, read, route, n_partitions)
        rows = _SparkRows(sent, n_rows)
        return Read(read.catalogues, collections[0][1], rows, SignedBatches(0, read.batches))

    def sign(self, collections: Collections) -> Read:
        read = read_on_executors(
            collections, sign_block, self.cluster, self.workspace, tell=_tell_signed
        )
        return self._read_of(read, collections[0][1])

    def sign_parts(self, read: Read, parts: Parts, reading: ReadingPlan) -> Read:
        signed = sign_parts_on_executors(self.cluster, _tasks_of(read), parts, reading)
        return self._read_of(signed, reading)

    def _read_of(self, tasks: ReadTasks, reading: ReadingPlan) -> Read:
        rows = _SparkRows(_SentRows(self.cluster, tasks, None, 0), int(tasks.starts[-1]))
        return Read(tasks.catalogues, reading, rows, SignedBatches(0, tasks.batches))

    def meet(
        self, read: Read, given: Columns, keys: Keys, function: Meet, stage: str | None = None
    ) -> Iterator[Any]:
        yield from meet_on_executors(self.cluster, _tasks_of(read), given, keys, function)

    def exchange(self, name: str, read: Read, pick: Pick, partitions: Partitions) -> Exchanged:
        tasks = _tasks_of(read)
        rows = exchange_rows(self.cluster, tasks, pick, partitions)
        return SparkExchanged(self.cluster, tasks, read.reading, partitions, rows)

    @property
    def least_partitions(self) -> int:
        return _COMPARED_A_SLOT * self.cluster.slots

    @property
    def partition_bytes(self) -> int | None:
        return int(self.cluster.task_bytes * _PARTITION_SHARE)

    @property
    def groups_at_once(self) -> int:
        return self.cluster.slots

    @property
    def group_bytes(self) -> int | None:
        return self.cluster.task_bytes

    def group(self, read: Read, n_groups: int, known: Callable[[int], pa.RecordBatch]) -> Rows:
        assert isinstance(read.rows, _SparkRows)
        sent = read.rows.sent
        groups = _SentGroups(sent.cluster, sent.read, [known(number) for number in range(n_groups)])
        return replace(read.rows, groups=groups)

    def work(self, rows: Rows, function: Callable[[Any], Iterator[Given]]) -> Rows:
        assert isinstance(rows, _SparkRows)
        return replace(rows, function=function)

    def collect(self, rows: Rows, stage: str, first: int = 0) -> Iterator[tuple[int, list[Given]]]:
        assert isinstance(rows, _SparkRows)
        assert not first
        if rows.function is None:
            read = rows.sent.read
            attached = self.cluster.attach(read.starts[:-1].tolist(), read.rows)
            listed = self.cluster.work(_give_rows, attached)
            yield from ((1, [(None, from_bytes(data))]) for _, data in self.cluster.bring(listed))
            return
        if rows.groups is not None:
            made_of = self.cluster.bring_once(rows.groups.work(rows.function, stage))
        else:
            made_of = self.cluster.bring(rows.made)
        for (number, *known), data in made_of:
            made: Given = (known[0], from_bytes(data)) if known else (pickle.loads(data), None)
            yield number + 1, [made]
            if rows.groups is not None:
                self.runner.report(stage, number + 1, len(rows.groups.known))

    def read_again(self, read: Read, documents: Int64s, function: OfTexts[T]) -> Iterator[T]:
        return read_again_on_executors(
            _tasks_of(read), read.reading, self.cluster, documents, function
        )

    def revisit(self, read: Read, wanted: Bools, function: Callable[[Revisited], T]) -> Iterator[T]:
        tasks, cluster = _tasks_of(read), self.cluster
        are_wanted: Bools = np.zeros(read.rows.n_rows, np.bool_)
        are_wanted[len(are_wanted) - len(wanted) :] = wanted
        payloads = [
            (number, task, np.packbits(are_wanted[start:stop]))
            for number, (task, (start, stop)) in enumerate(
                zip(tasks.tasks, tasks.ranges, strict=True)
            )
        ]
        made = cluster.work(partial(_revisit, function), cluster.attach(payloads, tasks.rows))
        for _, data in cluster.bring_once(made):
            yield pickle.loads(data)

    def release(self, read: Read) -> None:
        _tasks_of(read).rows.unpersist()

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
        send: Callable[[Int64s], RDD[Any]] | None = None
        opened: OpenChange = no_change
        if change is not None:
            send = partial(_send_gathered, self.cluster, change, len(documents))
            if isinstance(change.rows, _SparkRows):
                send = partial(_send_made, self.cluster, change.rows.made)
            opened = partial(_open_change, change.apply, change.gather, self.cluster.task_bytes)
        write_on_executors(self.cluster, documents, sides, folder, output_format, send, opened)
        runner.report("write", len(documents), len(documents))


def _tasks_of(read: Read) -> ReadTasks:
    assert isinstance(read.rows, _SparkRows)
    return read.rows.sent.read


class _SentFolder:
    """A folder whose files the driver has sent; each process writes them on opening."""

    def __init__(self, sent: Mapping[str, Broadcast[bytes]]) -> None:
        self._sent = sent

    @contextmanager
    def open(self) -> Iterator[Path]:
        """Yield the folder, and remove it afterwards."""
        with local_workspace(0) as workspace, workspace.passing_folder() as folder:
            for name, data in self._sent.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data.value)
                # Otherwise PySpark would keep the bytes in this process.
                if hasattr(data, "_path"):
                    vars(data).pop("_value", None)
            yield folder


def _stream(
    look: Callable[[Source, RowBlock], T],
    work: Callable[[Iterator[T], Means], Iterator[Any]],
    memory: int,
    tasks: Iterator[tuple[int, Task]],
) -> Iterator[tuple[None, bytes] | Failure]:
    def look_at(piece: Piece, block: RowBlock) -> T:
        return look(piece.source, block)

    for number, task in tasks:
        reading = TaskReading(number, task)
        try:
            with local_workspace(memory) as workspace, Runner(1) as runner:
                blocks = (found for _, found in reading.map(look_at))
                for made in work(blocks, Means(runner, workspace, _report_nothing)):
                    yield None, pickle.dumps(made)
        except NeardupError as error:
            yield reading.failure(error)


def _report_nothing(_: float) -> None:
    """Report no progress: Spark counts tasks."""


def _look_at(look: Look, block: RowBlock, plan: ReadingPlan) -> ListedBlock:
    found, rows = look(block, plan)
    return replace(found, rows=rows)


def _tell(found: ListedBlock) -> tuple[pa.RecordBatch, dict[str, Any]]:
    """Return the columns and facts of a block that the driver keeps."""
    assert found.rows is not None
    facts = {**found.facts, "row_bytes": found.rows.nbytes, "n_rows": len(found.rows)}
    return to_batch(found, with_sketches=False, with_digests=False), facts


def _tell_signed(found: SignedBlock) -> tuple[pa.RecordBatch, dict[str, Any]]:
    """Return the documents of a block for the driver, with their digests for an index."""
    return to_batch(found, with_sketches=False, with_digests=found.earlier is not None), {}


@dataclass(frozen=True)
class _SentRows:
    """Rows of documents on executors, sent to the partitions of their route."""

    cluster: Cluster
    read: ReadTasks
    route: Route | None
    n_partitions: int
    columns: Mapping[str, Int64s] = field(default_factory=dict)

    @cached_property
    def placed(self) -> RDD[Any]:
        """The rows by partition, sent only once."""
        assert self.route is not None
        attached = [
            (start, {name: values[start:stop] for name, values in self.columns.items()})
            for start, stop in self.read.ranges
        ]
        sending = partial(_send_rows, self.route, self.n_partitions)
        sent = self.cluster.work(sending, self.cluster.attach(attached, self.read.rows))
        return self.cluster.place(sent, self.n_partitions)


@dataclass(frozen=True)
class _SentGroups:
    """Rows of documents on executors, sent to the tasks of document groups."""

    cluster: Cluster
    read: ReadTasks
    known: list[pa.RecordBatch]

    @cached_property
    def placed(self) -> RDD[Any]:
        """The rows by group, sent only once."""
        documents = np.concatenate([numbers_of(each, DOCUMENT) for each in self.known])
        groups = np.repeat(np.arange(len(self.known)), [len(each) for each in self.known])
        order = np.argsort(documents, kind="stable")
        documents, groups = documents[order], groups[order]
        bounds = np.searchsorted(documents, self.read.starts).tolist()
        attached = [
            (start, documents[first:stop], groups[first:stop])
            for (start, _), (first, stop) in zip(self.read.ranges, pairwise(bounds), strict=True)
        ]
        sent = self.cluster.work(_send_to_groups, self.cluster.attach(attached, self.read.rows))
        return self.cluster.place(sent, len(self.known))

    def work(self, function: Callable[[Group], Iterator[Given]], stage: str) -> RDD[Any]:
        memory = self.cluster.task_bytes
        working = partial(_work_on_group, function, memory)
        rows = self.cluster.attach(list(enumerate(self.known)), self.placed)
        return self.cluster.work(working, rows, keep=(stage, memory))


@dataclass(frozen=True)
class _SparkRows(Rows):
    """Rows, and a function's results by partition or by group."""

    sent: _SentRows
    n_rows: int
    groups: _SentGroups | None = None
    function: Callable[[Any], Iterator[Given]] | None = None

    def with_columns(self, columns: Mapping[str, Int64s]) -> Rows:
        sent = replace(self.sent, columns={**self.sent.columns, **columns})
        return replace(self, sent=sent)

    @cached_property
    def made(self) -> RDD[Any]:
        """The function's result per partition, stored by executors."""
        assert self.function is not None
        cluster = self.sent.cluster
        working = partial(_work, self.function, cluster.task_bytes)
        return cluster.stored(cluster.work(working, self.sent.placed))


def _send_rows(route: Route, n_partitions: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send rows with their document numbers and more columns to their partitions."""
    import pyarrow as pa

    first, columns = next(rows)
    outbox = Outbox()
    for batch in _numbered(first, rows):
        documents = numbers_of(batch, DOCUMENT) - first
        for name, values in columns.items():
            batch = batch.append_column(name, pa.array(values[documents]))
        yield from outbox.add(batch, route(batch, n_partitions))
    yield from outbox.rest()


def _give_rows(rows: Iterator[Any]) -> Iterator[tuple[None, bytes]]:
    for batch in _numbered(next(rows), rows):
        yield None, to_bytes(batch)


def _numbered(first: int, rows: Iterator[Any]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for row in rows:
        batch = row.found.rows
        assert batch is not None
        place = batch.schema.get_field_index(DOCUMENT)
        if place >= 0:
            documents = numbers_of(batch, DOCUMENT) + first
            batch = batch.set_column(place, DOCUMENT, pa.array(documents))
        yield batch
        first += len(row.found.numbers)


def _send_to_groups(rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send the rows of documents to all groups that contain the documents."""
    import pyarrow as pa

    first, documents, groups = next(rows)
    outbox = Outbox()
    for batch in _numbered(first, rows):
        if not len(batch):
            continue
        own = numbers_of(batch, DOCUMENT)
        order = np.argsort(own)
        start, stop = np.searchsorted(documents, [own[order[0]], own[order[-1]] + 1])
        places = order[np.searchsorted(own, documents[start:stop], sorter=order)]
        yield from outbox.add(batch.take(pa.array(places)), groups[start:stop])
    yield from outbox.rest()


def _work_on_group(
    function: Callable[[Group], Iterator[Given]], memory: int, rows: Iterator[Any]
) -> Iterator[tuple[Any, bytes] | Failure]:
    """Process a group, whose rows come in any order after its documents."""
    for number, known in islice(rows, 1):
        with local_workspace(memory) as workspace, Runner(1) as runner:
            batches = (from_bytes(data) for _, data in rows)
            group = group_of(batches, known, runner, workspace)
            yield from _packed(number, function(group))


def _packed(number: int, made: Iterator[Given]) -> Iterator[tuple[Any, bytes] | Failure]:
    try:
        for known, batch in made:
            if batch is None:
                yield (number,), pickle.dumps(known)
            else:
                yield (number, known), to_bytes(batch)
    except NeardupError as error:
        yield Failure.of(number, None, error)


def _work(
    function: Callable[[Partition], Iterator[Given]],
    memory: int,
    rows: Iterator[tuple[int, bytes]],
) -> Iterator[tuple[Any, bytes] | Failure]:
    first = next(rows, None)
    if first is None:
        return
    number = first[0]
    with local_workspace(memory) as workspace, Runner(1) as runner:
        batches = (from_bytes(data) for _, data in chain([first], rows))
        partition = partition_of(batches, runner, workspace)
        yield from _packed(number, function(partition))


def _send_made(cluster: Cluster, made: RDD[Any], starts: Int64s) -> RDD[Any]:
    """Send rows to the tasks that write their documents, which begin at ``starts``."""
    return cluster.place(cluster.work(partial(_send_by_document, starts), made), len(starts))


def _send_by_document(
    starts: Int64s, rows: Iterator[tuple[Any, bytes]]
) -> Iterator[tuple[int, bytes]]:
    outbox = Outbox()
    for _, data in rows:
        batch = from_bytes(data)
        documents = numbers_of(batch, DOCUMENT)
        yield from outbox.add(batch, np.searchsorted(starts, documents, side="right") - 1)
    yield from outbox.rest()


def _send_gathered(cluster: Cluster, change: Change, n_documents: int, starts: Int64s) -> RDD[Any]:
    """Send the driver's gathered rows to the tasks that write."""
    stops = [*starts[1:].tolist(), n_documents]
    batches = [
        (task, to_bytes(batch))
        for task, (start, stop) in enumerate(zip(starts.tolist(), stops, strict=True))
        for batch in [change.send(change.gathered, slice(start, stop))]
        if len(batch)
    ]
    sent = cluster.context.parallelize(batches, max(1, len(batches)))
    return cluster.place(sent, len(starts))


@contextmanager
def _open_change(
    apply: Callable[[Any, RowBlock, slice], RowBlock],
    gather: Callable[[Iterator[pa.RecordBatch], Workspace], Any],
    memory: int,
    rows: Iterator[tuple[int, bytes]],
) -> Iterator[ChangeBlock]:
    """Gather the rows of a task's documents, in any order, and open the change of blocks."""
    with local_workspace(memory) as workspace:
        gathered = gather((from_bytes(data) for _, data in rows), workspace)
        yield partial(apply, gathered)


def read_again_on_executors(
    read: ReadTasks,
    plan: ReadingPlan,
    cluster: Cluster,
    documents: Int64s,
    function: OfTexts[T],
) -> Iterator[T]:
    """Read some documents again, task by task, as ``Engine.read_again``."""
    tasks = []
    for number, (task, (start, stop)) in enumerate(zip(read.tasks, read.ranges, strict=True)):
        first, behind = np.searchsorted(documents, [start, stop]).tolist()
        if first < behind:
            wanted = read.wanted(number, documents[first:behind])
            tasks.append(_Again(number, task, wanted, function.part(first, behind)))
    columns = [each.columns.only_text() for each in read.catalogues]
    reading = partial(_read_again, columns, plan.skip_bad)
    made = cluster.work(reading, cluster.lay_out(tasks))
    for _, data in cluster.bring_once(made):
        yield pickle.loads(data)


def _revisit(
    function: Callable[[Revisited], Any], rows: Iterator[Any]
) -> Iterator[tuple[None, bytes] | Failure]:
    number, task, packed = next(rows)
    wanted = np.unpackbits(packed).astype(np.bool_)
    if not wanted.any():
        return
    reading = TaskReading(number, task)
    done = 0

    def look(piece: Piece, block: RowBlock) -> bytes | None:
        nonlocal done
        row = next(rows, None)
        if row is None or len(row.found.numbers) != len(block):
            raise file_has_changed(piece.location)
        select = wanted[done : done + len(block)]
        done += len(block)
        if not select.any():
            return None
        return pickle.dumps(function(Revisited(piece.source, block, to_batch(row.found), select)))

    try:
        for _, data in reading.map(look):
            if data is not None:
                yield None, data
    except NeardupError as error:
        yield reading.failure(error)


class _Again(NamedTuple):
    """A task with documents to read again, and the function for their texts."""

    number: int
    task: Task
    wanted: Wanted
    function: OfTexts[Any]


def _read_again(
    columns: Sequence[ColumnNames], skip_bad: bool, tasks: Iterator[_Again]
) -> Iterator[tuple[None, bytes] | Failure]:
    """Apply the function to the wanted documents, block by block."""
    for number, task, wanted, function in tasks:
        reading = TaskReading(number, task)
        try:
            again = reading.again(wanted, columns, skip_bad=skip_bad)
            for piece, rows, texts in again:
                made = function(texts, np.arange(rows.start, rows.stop), piece.location)
                yield None, pickle.dumps(made)
        except NeardupError as error:
            yield reading.failure(error)
