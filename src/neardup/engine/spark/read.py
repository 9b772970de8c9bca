"""Read documents on executors, once or again, and write them.

The driver keeps some columns of documents; executors keep the rest.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial, wraps
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.engine.engine import BlockFunction, Change, Revisited
from neardup.engine.spark.cluster import Cluster, Failure, Piece, Task, cut_tasks, local_workspace
from neardup.errors import InvalidInputError, NeardupError, WriteError
from neardup.files.documents import choose_id_column, name_remedy
from neardup.files.remote import RemoteDestination
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.streams import Destination, LocalDestination, file_has_changed, writing
from neardup.options.choices import OutputFormat
from neardup.reading.catalogue import Catalogue, make_catalogue
from neardup.reading.passes import ChangeBlock, TextFunction, write_source
from neardup.reading.sign import Collections, ListedBlock, ReadingPlan, for_driver, with_filter
from neardup.runs.exchange import SpilledBatches
from neardup.runs.work import Workspace
from neardup.tables import Bools, Int64s, Texts, offsets_of

if TYPE_CHECKING:
    from pyspark.rdd import RDD

    from neardup.reading.where import Condition

R = TypeVar("R")

# Bytes of rows that a task buffers before sending, so that blocks are few.
_WAITING_BYTES = 48_000_000


def sending(function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Send a function's rows, each to its partition.

    The decorated function yields pairs of a partition and a block of rows, as Spark sends them, and
    the other pairs of the function as they are.
    """

    @wraps(function)
    def send(*given: Any) -> Iterator[tuple[int, Any]]:
        waiting: list[tuple[pa.RecordBatch, Int64s]] = []
        n_bytes = 0
        for batch, partitions in function(*given):
            if not isinstance(batch, pa.RecordBatch):
                yield batch, partitions
            elif len(batch):
                waiting.append((batch, partitions))
                n_bytes += batch.nbytes
                if n_bytes >= _WAITING_BYTES:
                    yield from _by_partition(waiting)
                    waiting, n_bytes = [], 0
        yield from _by_partition(waiting)

    return send


def _by_partition(waiting: list[tuple[pa.RecordBatch, Int64s]]) -> Iterator[tuple[int, bytes]]:
    if not waiting:
        return
    rows = pa.concat_batches([batch for batch, _ in waiting])
    partitions = np.concatenate([each for _, each in waiting])
    order = np.argsort(partitions, kind="stable")
    rows, partitions = rows.take(pa.array(order)), partitions[order]
    starts = np.flatnonzero(np.diff(partitions, prepend=-1))
    for start, stop in pairwise([*starts.tolist(), len(rows)]):
        yield int(partitions[start]), to_bytes(rows.slice(start, stop - start))


def to_bytes(batch: pa.RecordBatch) -> bytes:
    """Return a batch as bytes, with only its own rows."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def from_bytes(data: bytes) -> pa.RecordBatch:
    """Return the batch that was passed to ``to_bytes``."""
    with pa.ipc.open_stream(data) as stream:
        return stream.read_next_batch()


class Wanted(NamedTuple):
    """Ascending documents of a task's ``n_documents`` to read again."""

    documents: Int64s
    n_documents: int


class TaskReading:
    """Reader of a task's pieces, which tracks its position."""

    def __init__(self, number: int, task: Task) -> None:
        self.number, self._task = number, task
        self._piece: Piece | None = None

    def map(self, function: Callable[[Piece, RowBlock], R]) -> Iterator[tuple[Piece, R]]:
        """Yield each block's piece and the function's result."""
        for piece in self._task:
            self._piece = piece
            for block in piece.blocks():
                try:
                    found = function(piece, block)
                except InvalidInputError as error:
                    raise name_remedy(error, piece.source) from None
                yield piece, found

    def again(
        self, wanted: Wanted, columns: Sequence[ColumnNames], *, skip_bad: bool
    ) -> Iterator[tuple[Piece, slice, Texts]]:
        """Read wanted documents again, given each collection's columns.

        Yields per block with wanted documents its piece, the slice of ``wanted``, and the texts.
        """
        done = 0
        for piece in self._task:
            self._piece = piece
            for block in piece.blocks():
                start, stop = np.searchsorted(wanted.documents, [done, done + len(block)]).tolist()
                select = np.zeros(len(block), np.bool_)
                select[wanted.documents[start:stop] - done] = True
                done += len(block)
                if start == stop:
                    continue
                own = columns[piece.collection]
                parsed = block.parse(own, select=select, skip_bad=skip_bad)
                texts = Texts.from_arrow(parsed.text, block.language)
                yield piece, slice(start, stop), texts
        if done != wanted.n_documents and self._piece is not None:
            raise file_has_changed(self._piece.location)

    def failure(self, error: NeardupError) -> Failure:
        """Return an error that ended the reading, for the driver."""
        return Failure.of(self.number, self._piece, error)


def in_tasks(function: Callable[..., Iterator[R]], tasks: Iterator[Any]) -> Iterator[R | Failure]:
    """Yield a function's results per task, and errors as rows."""
    for number, task, *more in tasks:
        reading = TaskReading(number, task)
        try:
            yield from function(reading, *more)
        except NeardupError as error:
            yield reading.failure(error)


class ReadBlock(NamedTuple):
    """A task's result ``found`` for a block."""

    task: int
    collection: int
    source: int
    found: Any


@dataclass(frozen=True)
class ReadTasks:
    """Documents on executors, a partition per task.

    ``batches`` have the driver's columns. ``rows`` are ``ReadBlock``. Documents are numbered across
    collections; task k has the numbers from ``starts[k]`` to ``starts[k + 1]``.
    """

    tasks: list[Task]
    rows: RDD[Any]
    starts: Int64s
    catalogues: tuple[Catalogue, ...]
    batches: tuple[SpilledBatches, ...] = ()

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Range of document numbers per task."""
        return list(pairwise(self.starts.tolist()))

    @property
    def columns(self) -> list[ColumnNames]:
        """Columns of the texts of each collection."""
        return [catalogue.columns.only_text() for catalogue in self.catalogues]

    def parts_of(self, columns: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
        """Return each task's first document and part of the columns."""
        return [
            (start, {name: values[start:stop] for name, values in columns.items()})
            for start, stop in self.ranges
        ]

    def again(self, documents: Int64s) -> Iterator[tuple[tuple[int, Task, Wanted], slice]]:
        """Yield tasks with their ascending documents and their range."""
        bounds = np.searchsorted(documents, self.starts).tolist()
        for number, (start, stop) in enumerate(self.ranges):
            own = slice(bounds[number], bounds[number + 1])
            if own.start < own.stop:
                wanted = Wanted(documents[own] - start, stop - start)
                yield (number, self.tasks[number], wanted), own


# Share of the driver's memory for document columns, ids included, and text per file of documents.
_SHARE = 0.3
_FILE_BYTES = 4_000_000_000


def read_on_executors(
    collections: Collections,
    read_block: BlockFunction,
    cluster: Cluster,
    workspace: Workspace,
    name: str | None,
) -> ReadTasks:
    """Read all documents of collections once, as ``Engine.read``."""
    chosen = [
        (sources, replace(plan, columns=choose_id_column(plan.columns, sources)))
        for sources, plan in collections
    ]
    for sources, _ in collections:
        count_filtered(cluster, sources)
    tasks = cut_tasks([sources for sources, _ in chosen], cluster.slots)
    reading = partial(in_tasks, partial(_read, read_block, [plan for _, plan in chosen]))
    laid_out = cluster.lay_out(list(enumerate(tasks)))
    rows = cluster.stored(cluster.apply(reading, laid_out, is_laid_out=True, keep=("read",)))
    counts = np.zeros(len(tasks), np.int64)
    lists = [
        SpilledBatches(
            f"{name or 'signed'}-{k}", workspace, share=_SHARE, weight_of_file=_FILE_BYTES
        )
        for k in range(len(chosen))
    ]
    sent = cluster.collect(cluster.apply(_for_driver, rows))
    waiting = next(sent, None)
    for collection, batches in enumerate(lists):
        with batches:
            while waiting is not None and waiting[0][1] == collection:
                (task, _, facts), data = waiting
                batch = from_bytes(data)
                counts[task] += len(batch)
                batches.append(batch, facts, facts["text_bytes"])
                waiting = next(sent, None)
    catalogues = tuple(
        make_catalogue(sources, plan, batches)
        for (sources, plan), batches in zip(chosen, lists, strict=True)
    )
    read = ReadTasks(tasks, rows, offsets_of(counts), catalogues, tuple(lists))
    # Executors free the rows when the job has no use for them any more.
    weakref.finalize(read, rows.unpersist).atexit = False
    return read


def _read(
    read_block: BlockFunction,
    plans: Sequence[ReadingPlan],
    reading: TaskReading,
) -> Iterator[ReadBlock]:
    def read_piece(piece: Piece, block: RowBlock) -> ListedBlock:
        return read_block(block, plans[piece.collection])

    for piece, found in reading.map(read_piece):
        yield ReadBlock(reading.number, piece.collection, piece.number, found)


def _for_driver(
    rows: Iterator[ReadBlock | Failure],
) -> Iterator[tuple[tuple[int, int, dict[str, Any]], bytes] | Failure]:
    for row in rows:
        if isinstance(row, Failure):
            yield row
            continue
        found: ListedBlock = row.found
        facts = found.facts | {"source": row.source}
        if found.rows is not None:
            facts |= {"row_bytes": found.rows.nbytes, "n_rows": len(found.rows)}
        yield (row.task, row.collection, facts), to_bytes(for_driver(found.documents))


def count_filtered(cluster: Cluster, sources: Sequence[Source]) -> None:
    """Count excluded rows on executors."""
    filtered = [
        (source, source.row_filter)
        for source in sources
        if source.row_filter is not None and source.row_filter.n_others is None
    ]
    if not filtered:
        return
    tasks = cut_tasks([[with_filter(source, None) for source, _ in filtered]], cluster.slots)
    counting = partial(in_tasks, partial(_count_filtered, filtered[0][1].condition))
    counts, rows = np.zeros(len(filtered), np.int64), cluster.lay_out(list(enumerate(tasks)))
    for number, n in cluster.results(counting, rows, keep=("where",)):
        counts[number] += n
    for (_, row_filter), n in zip(filtered, counts.tolist(), strict=True):
        row_filter.n_others = n


def _count_filtered(condition: Condition, reading: TaskReading) -> Iterator[tuple[int, int]]:
    def count(piece: Piece, block: RowBlock) -> int:
        return int((~condition.of(piece.source, block)).sum())

    return ((piece.number, n) for piece, n in reading.map(count))


def read_again(
    columns: Sequence[ColumnNames],
    skip_bad: bool,
    reading: TaskReading,
    wanted: Wanted,
    function: TextFunction[R],
) -> Iterator[R]:
    """Apply a function to texts that a task reads again."""
    for piece, rows, texts in reading.again(wanted, columns, skip_bad=skip_bad):
        yield function(texts, np.arange(rows.start, rows.stop), piece.location)


def revisit(function: Callable[[Revisited], R], rows: Iterator[Any]) -> Iterator[R | Failure]:
    """Apply a function to signed blocks that a task reads again."""
    number, task, packed = next(rows)
    wanted = np.unpackbits(packed).astype(np.bool_)
    if not wanted.any():
        return
    reading = TaskReading(number, task)
    done = 0

    def revisit_block(piece: Piece, block: RowBlock) -> list[R]:
        nonlocal done
        row = next(rows, None)
        if row is None or len(row.found.documents) != len(block):
            raise file_has_changed(piece.location)
        select = wanted[done : done + len(block)]
        done += len(block)
        if not select.any():
            return []
        return [function(Revisited(piece.source, block, row.found.documents, select))]

    try:
        for _, made in reading.map(revisit_block):
            yield from made
    except NeardupError as error:
        yield reading.failure(error)


# Folder in the output for incomplete files while the output is written.
_ATTEMPTS = ".attempts"


class _Job(NamedTuple):
    """A source, its document numbers, and target folders as bits."""

    piece: Piece
    start: int
    stop: int
    packed: dict[str, bytes]


def write_on_executors(
    cluster: Cluster,
    documents: Catalogue,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    change: Change | None,
    send: Callable[[Change, Int64s], RDD[Any]],
) -> None:
    """Write rows to the folders of ``sides``, as ``Engine.write``.

    All executors reach the folder under the same path or URL. ``send`` returns the rows of a change
    at the tasks that write their documents, given each task's first document number.
    """
    bounds = [(start, stop) for _, start, stop in documents.ranges()]
    tasks: list[list[_Job]] = []
    for task in cut_tasks([documents.sources], cluster.slots, are_whole=True):
        jobs = []
        for piece in task:
            start, stop = bounds[piece.number]
            packed = {side: np.packbits(rows[start:stop]).tobytes() for side, rows in sides.items()}
            jobs.append(_Job(piece, start, stop, packed))
        tasks.append(jobs)
    rows = cluster.lay_out(list(enumerate(tasks)))
    apply = gather = None
    if change is not None:
        apply, gather = change.apply, change.gather
        rows = rows.union(send(change, np.array([jobs[0].start for jobs in tasks], np.int64)))
    changing = partial(_gathered, apply, gather, cluster.task_bytes)
    target = folder if isinstance(folder, RemoteDestination) else Path(str(folder)).absolute()
    if isinstance(target, Path):
        (target / _ATTEMPTS).mkdir()
    write = partial(_write, target, output_format, changing)
    cluster.run(cluster.apply(write, rows, lasts=True))
    if isinstance(target, Path):
        shutil.rmtree(target / _ATTEMPTS)


@contextmanager
def _gathered(
    apply: Callable[[Any, RowBlock, slice], RowBlock] | None,
    gather: Callable[[Iterator[pa.RecordBatch], Workspace], Any] | None,
    memory: int,
    rows: Iterator[tuple[int, bytes]],
) -> Iterator[ChangeBlock]:
    if apply is None or gather is None:
        yield lambda block, _: block
        return
    with local_workspace(memory) as workspace:
        yield partial(apply, gather((from_bytes(data) for _, data in rows), workspace))


def _write(
    folder: RemoteDestination | Path,
    output_format: OutputFormat,
    changing: Callable[[Iterator[Any]], AbstractContextManager[ChangeBlock]],
    rows: Iterator[Any],
) -> Iterator[tuple[int, bytes] | Failure]:
    """Write the sources of the task in the first row."""
    task: tuple[int, Sequence[_Job]]
    for task in islice(rows, 1):
        number, jobs = task
        piece = None
        try:
            with changing(rows) as change:
                for job in jobs:
                    piece = job.piece
                    if isinstance(folder, Path):
                        _write_local(folder, job, output_format, change)
                    else:
                        # Object stores show a file when it is complete.
                        _write_rows(folder, job, output_format, change)
                    yield number, b""
        except NeardupError as error:
            yield Failure.of(number, piece, error)


def _write_local(folder: Path, job: _Job, output_format: OutputFormat, change: ChangeBlock) -> None:
    """Write a source's rows under temporary names, then rename.

    Another attempt at the same task may be running, or may have left files.
    """
    if not (folder / _ATTEMPTS).is_dir():
        message = (
            f"the executors do not see {folder.parent}, where the driver has begun the output; "
            "choose a folder that all of them share"
        )
        raise WriteError(message)
    with writing(LocalDestination(folder)):
        attempt = Path(tempfile.mkdtemp(dir=folder / _ATTEMPTS))
    try:
        _write_rows(LocalDestination(attempt), job, output_format, change)
        with writing(LocalDestination(folder)):
            for path in sorted(attempt.rglob("*")):
                place = folder / path.relative_to(attempt)
                if path.is_dir():
                    place.mkdir(parents=True, exist_ok=True)
                else:
                    path.replace(place)
    finally:
        shutil.rmtree(attempt, ignore_errors=True)


def _write_rows(
    folder: Destination, job: _Job, output_format: OutputFormat, change: ChangeBlock
) -> None:
    piece, start, stop, packed = job
    sides = {
        side: np.unpackbits(np.frombuffer(bits, np.uint8), count=stop - start).astype(np.bool_)
        for side, bits in packed.items()
    }
    write_source(piece.source, start, sides, folder, output_format, change)
