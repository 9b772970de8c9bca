"""Read documents on executors; return to the driver the columns that it keeps."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from neardup.engine.spark.cluster import Cluster, Failure, Piece, Task, cut_tasks, spark_errors
from neardup.errors import InvalidInputError, NeardupError, WriteError
from neardup.files.ids import choose_id_column
from neardup.files.passes import name_remedy
from neardup.files.remote import RemoteDestination
from neardup.files.streams import Destination, LocalDestination, file_has_changed, writing
from neardup.options.choices import OutputFormat
from neardup.outputs.row_files import SKIPPED, write_rows
from neardup.reading.catalogue import Catalogue, make_catalogue
from neardup.reading.passes import Parts, block_of_parts, numbered_blocks, part_of, parts_again
from neardup.reading.sign import Counted, ListTokens, numbers_of, sign_block, to_batch, with_place
from neardup.reading.where import Condition, FilteredSource
from neardup.runs.exchange import SpilledBatches
from neardup.tables import Bools, Int64s, Texts, offsets_of
from neardup.text.weighting import DocumentFrequencies, count_documents

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.rdd import RDD

    from neardup.files.rows import ColumnNames, Place, RowBlock, Source
    from neardup.reading.catalogue import Catalogue
    from neardup.reading.passes import Change
    from neardup.reading.sign import Collections, ListedBlock, ReadingPlan
    from neardup.runs.work import Workspace
    from neardup.tables import TokenLists


# Rows in blocks of Arrow, sent to partitions and to the driver.

# Bytes of rows that a task buffers before sending, so that blocks are few.
_WAITING_BYTES = 48_000_000


class Outbox:
    """Rows of a task, buffered by partition.

    Both methods yield pairs of partition and block, as Spark sends them.
    """

    def __init__(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self._partitions: list[Int64s] = []
        self._bytes = 0

    def add(self, batch: pa.RecordBatch, partitions: Int64s) -> Iterator[tuple[int, bytes]]:
        """Add rows; ``partitions`` has the partition of each."""
        if len(batch):
            self._batches.append(batch)
            self._partitions.append(partitions)
            self._bytes += batch.nbytes
        if self._bytes >= _WAITING_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[tuple[int, bytes]]:
        """Send the buffered rows."""
        import pyarrow as pa

        if not self._batches:
            return
        partitions = np.concatenate(self._partitions)
        rows = pa.concat_batches(self._batches)
        self._batches, self._partitions, self._bytes = [], [], 0
        order = np.argsort(partitions, kind="stable")
        rows, partitions = rows.take(pa.array(order)), partitions[order]
        starts = np.flatnonzero(np.diff(partitions, prepend=-1))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
            yield int(partitions[start]), to_bytes(rows.slice(start, stop - start))


def to_bytes(batch: pa.RecordBatch) -> bytes:
    """Return a batch as a stream with its schema; for a slice only its rows."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def from_bytes(data: bytes) -> pa.RecordBatch:
    """Return the batch that was passed to ``to_bytes``."""
    import pyarrow as pa

    with pa.ipc.open_stream(data) as stream:
        return stream.read_next_batch()


# Share of the driver's memory for document columns, ids included, and text per file of documents.
_SHARE = 0.3
_FILE_BYTES = 4_000_000_000


class ReadBlock(NamedTuple):
    """The result ``found`` of a task for a block of a source, and the location of its rows."""

    task: int
    collection: int
    source: int
    found: Any
    place: Place | None


class Wanted(NamedTuple):
    """Documents of a task to read again, numbered from its first; it has ``n_documents``.

    They ascend. For ``parts`` of documents, these are the first bytes and end bytes; a document may
    have several parts.
    """

    documents: Int64s
    n_documents: int
    parts: tuple[Int64s, Int64s] | None = None


@dataclass(frozen=True)
class ReadTasks:
    """Documents that executors have read, a partition per task, with the driver's columns.

    ``rows`` are ``ReadBlock``. Documents are numbered across collections; task k has the numbers
    from ``starts[k]`` to ``starts[k + 1]``.
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

    def wanted(self, task: int, documents: Int64s) -> Wanted:
        """Return the positions of ascending documents within a task's input."""
        start, stop = self.ranges[task]
        return Wanted(documents - start, stop - start)


@dataclass(frozen=True, kw_only=True)
class ReadParts(ReadTasks):
    """Parts of the ``whole`` documents of tasks, treated as documents."""

    whole: ReadTasks
    parts: Parts

    def wanted(self, task: int, documents: Int64s) -> Wanted:
        """Return the positions of parts within a task's input."""
        return _wanted_parts(self.whole, task, self.parts.take(documents))


def _wanted_parts(whole: ReadTasks, task: int, parts: Parts) -> Wanted:
    """Return the positions of parts of documents within a task's input."""
    found = whole.wanted(task, parts.documents)
    return found._replace(parts=(parts.first_bytes, parts.last_bytes))


# Makes a row per document from a block's result, and more facts as plain values.
Tell = Callable[[Any], tuple["pa.RecordBatch", dict[str, Any]]]


def _tell_documents(found: ListedBlock) -> tuple[pa.RecordBatch, dict[str, Any]]:
    """Return the columns of documents that any job keeps."""
    return to_batch(found, with_sketches=False, with_digests=False), {}


def read_on_executors(
    collections: Collections,
    look: Callable[[RowBlock, ReadingPlan], ListedBlock],
    cluster: Cluster,
    workspace: Workspace,
    *,
    tell: Tell = _tell_documents,
) -> ReadTasks:
    """Read all documents of some collections once.

    Executors keep the full result of ``look`` per block; the driver keeps the ``batches`` that
    ``tell`` derives from it. Raises as ``sign_collections``.
    """
    chosen = [
        (sources, replace(plan, columns=choose_id_column(plan.columns, sources)))
        for sources, plan in collections
    ]
    for sources, _ in collections:
        count_filtered(cluster, sources)
    tasks = cut_tasks([sources for sources, _ in chosen], cluster.slots)
    reading = partial(_read, look, [plan for _, plan in chosen])
    laid_out = cluster.lay_out(list(enumerate(tasks)))
    rows = cluster.stored(cluster.work(reading, laid_out, is_laid_out=True, keep=("read",)))
    counts = np.zeros(len(tasks), np.int64)
    lists = [
        SpilledBatches(f"sign-{k}", workspace, share=_SHARE, weight_of_file=_FILE_BYTES)
        for k in range(len(chosen))
    ]
    known = cluster.bring(cluster.work(partial(_for_driver, tell), rows))
    waiting = next(known, None)
    for collection, batches in enumerate(lists):
        with batches:
            while waiting is not None and waiting[0][1] == collection:
                (task, _, facts), data = waiting
                batch = from_bytes(data)
                counts[task] += len(batch)
                batches.append(batch, facts, facts["text_bytes"])
                waiting = next(known, None)
    catalogues = tuple(
        make_catalogue(
            sources,
            plan.columns,
            batches,
            skips_bad=plan.skip_bad,
            with_lengths=plan.with_lengths,
        )
        for (sources, plan), batches in zip(chosen, lists, strict=True)
    )
    starts = offsets_of(counts)
    return ReadTasks(tasks, rows, starts, catalogues, tuple(lists))


def _read(
    look: Callable[[RowBlock, ReadingPlan], ListedBlock],
    plans: Sequence[ReadingPlan],
    tasks: Iterator[tuple[int, Task]],
) -> Iterator[ReadBlock | Failure]:
    def look_by_plan(piece: Piece, block: RowBlock) -> tuple[ListedBlock, Place | None]:
        return look(block, plans[piece.collection]), block.place

    for number, task in tasks:
        reading = TaskReading(number, task)
        try:
            for piece, (found, place) in reading.map(look_by_plan):
                yield ReadBlock(number, piece.collection, piece.number, found, place)
        except NeardupError as error:
            yield reading.failure(error)


R = TypeVar("R")


class TaskReading:
    """Reader of a task's pieces in order, which tracks its position."""

    def __init__(self, number: int, task: Task) -> None:
        self._number, self._task = number, task
        self._piece: Piece | None = None

    def map(self, look: Callable[[Piece, RowBlock], R]) -> Iterator[tuple[Piece, R]]:
        """Yield the result of ``look`` for each block, and the block's piece."""
        for piece in self._task:
            self._piece = piece
            for block in piece.blocks():
                try:
                    found = look(piece, block)
                except InvalidInputError as error:
                    raise name_remedy(error, piece.source) from None
                yield piece, found

    def again(
        self, wanted: Wanted, columns: Sequence[ColumnNames], *, skip_bad: bool
    ) -> Iterator[tuple[Piece, slice, Texts]]:
        """Read wanted documents of the task again, given the columns of each collection.

        Yields per block with wanted documents its piece, the slice of ``wanted``, and the texts.
        """
        done = 0
        for piece in self._task:
            self._piece = piece
            for block in piece.blocks():
                start, stop = np.searchsorted(wanted.documents, [done, done + len(block)]).tolist()
                documents = wanted.documents[start:stop] - done
                select = np.zeros(len(block), np.bool_)
                select[documents] = True
                done += len(block)
                if start == stop:
                    continue
                own = columns[piece.collection]
                parsed = block.parse(own, select=select, skip_bad=skip_bad)
                texts = Texts.from_arrow(parsed.text, block.language)
                if wanted.parts is not None:
                    which = (np.cumsum(select) - 1)[documents]
                    starts, stops = (edges[start:stop] for edges in wanted.parts)
                    texts = parts_again(texts, which, starts, stops, piece.location)
                yield piece, slice(start, stop), texts
        if done != wanted.n_documents and self._piece is not None:
            raise file_has_changed(self._piece.location)

    def failure(self, error: NeardupError) -> Failure:
        """Return an error that ended the reading, for the driver."""
        return Failure.of(self._number, self._piece, error)


def sign_parts_on_executors(
    cluster: Cluster, whole: ReadTasks, parts: Parts, plan: ReadingPlan
) -> ReadParts:
    """Read the documents of tasks again, and sign parts of them, as ``Engine.sign_parts``."""
    *others, own = whole.catalogues
    parts = replace(parts, documents=parts.documents + sum(map(len, others)))
    starts = np.searchsorted(parts.documents, whole.starts)
    wanted = [
        (
            number,
            task,
            _wanted_parts(whole, number, parts.take(slice(*starts[number : number + 2]))),
        )
        for number, task in enumerate(whole.tasks)
    ]
    columns = [each.columns.only_text() for each in whole.catalogues]
    signing = partial(_sign_parts, columns, plan)
    made = cluster.work(signing, cluster.lay_out(wanted), is_laid_out=True, keep=("sign",))
    rows = cluster.stored(made)
    counted = cluster.bring(cluster.work(_count_tokens, rows))
    n_tokens = [np.empty(0, np.int64), *(np.frombuffer(data, np.int64) for _, data in counted)]
    catalogue = replace(
        own,
        sources=[],
        source_starts=np.zeros(1, np.int64),
        numbers=np.arange(len(parts), dtype=np.int64),
        n_tokens=np.concatenate(n_tokens),
        lengths=None,
        ids=None,
    )
    none = tuple(Catalogue.of_none() for _ in others)
    catalogues = (*none, catalogue)
    return ReadParts(whole.tasks, rows, starts, catalogues, whole=whole, parts=parts)


def _sign_parts(
    columns: Sequence[ColumnNames], plan: ReadingPlan, tasks: Iterator[tuple[int, Task, Wanted]]
) -> Iterator[ReadBlock | Failure]:
    for number, task, wanted in tasks:
        reading = TaskReading(number, task)
        try:
            for piece, _, texts in reading.again(wanted, columns, skip_bad=plan.skip_bad):
                signed = sign_block(block_of_parts(texts), plan)
                yield ReadBlock(number, piece.collection, piece.number, signed, None)
        except NeardupError as error:
            yield reading.failure(error)


def _count_tokens(rows: Iterator[ReadBlock | Failure]) -> Iterator[tuple[None, bytes] | Failure]:
    """Return the token counts of a task's signed documents to the driver."""
    for row in rows:
        yield row if isinstance(row, Failure) else (None, row.found.n_tokens.tobytes())


def count_filtered(cluster: Cluster, sources: Sequence[Source]) -> None:
    """Count on executors the rows of sources that a condition leaves out.

    This is a separate pass over the columns of the condition, in stretches of long files.
    """
    filtered = [
        source for source in sources if isinstance(source, FilteredSource) and not source.is_counted
    ]
    if not filtered:
        return
    tasks = cut_tasks([[source.inner for source in filtered]], cluster.slots)
    counting = partial(_count_filtered, filtered[0].condition)
    laid_out = cluster.lay_out(list(enumerate(tasks)))
    counts = np.zeros(len(filtered), np.int64)
    answers = cluster.work(counting, laid_out, is_laid_out=True, keep=("where",))
    for (number, n_rows), _ in cluster.bring(answers):
        counts[number] += n_rows
    for source, n_rows in zip(filtered, counts.tolist(), strict=True):
        source.count_filtered(n_rows)


def _count_filtered(
    condition: Condition, tasks: Iterator[tuple[int, Task]]
) -> Iterator[tuple[tuple[int, int], bytes] | Failure]:
    for number, task in tasks:
        for piece in task:
            try:
                n_rows = sum(
                    int((~condition.of(piece.source, block)).sum()) for block in piece.blocks()
                )
            except NeardupError as error:
                yield Failure.of(number, piece, error)
                break
            yield (piece.number, n_rows), b""


def _for_driver(
    tell: Tell,
    rows: Iterator[ReadBlock | Failure],
) -> Iterator[tuple[tuple[int, int, dict[str, Any]], bytes] | Failure]:
    """Return the driver's columns for the documents of each block, and the block's location."""
    for row in rows:
        if isinstance(row, Failure):
            yield row
            continue
        found, place = row.found, row.place
        batch, more = tell(found)
        facts = more | {
            "source": row.source,
            "text_bytes": found.text_bytes,
            "skipped": found.skipped,
            "offset": None if place is None else place.offset,
        }
        yield (row.task, row.collection, facts), to_bytes(with_place(batch, place))


def count_on_executors(
    stage: str,
    collections: Counted,
    cluster: Cluster,
) -> DocumentFrequencies:
    """Count the documents of some collections, as ``Engine.count``.

    The driver holds 16 bytes per distinct token, a task the tokens of its documents.
    """
    tasks = cut_tasks([sources for sources, _ in collections], cluster.slots)
    counting = partial(_count, [look for _, look in collections], cluster.slots)
    counts = cluster.work(counting, cluster.lay_out(list(enumerate(tasks))), keep=(stage,))
    summed = cluster.work(_sum, cluster.place(counts, cluster.slots))
    hashes, numbers = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    n_documents = 0
    for n, data in cluster.bring_once(summed):
        batch = from_bytes(data)
        n_documents += n
        hashes.append(numbers_of(batch, "hash"))
        numbers.append(numbers_of(batch, "count"))
    return DocumentFrequencies(np.concatenate(hashes), np.concatenate(numbers), n_documents)


def _count(
    looks: Sequence[ListTokens],
    n_partitions: int,
    tasks: Iterator[tuple[int, Task]],
) -> Iterator[tuple[int, tuple[int, bytes] | Failure]]:
    """Send the counts of a task's documents by ranges of tokens."""
    import pyarrow as pa

    def look_at(piece: Piece, block: RowBlock) -> TokenLists:
        return looks[piece.collection](piece.source, block)

    for number, task in tasks:
        reading = TaskReading(number, task)
        try:
            found = count_documents(lists for _, lists in reading.map(look_at))
        except NeardupError as error:
            yield 0, reading.failure(error)
            continue
        batch = pa.RecordBatch.from_pydict({"hash": found.hashes, "count": found.counts})
        partitions: Int64s = part_of(found.hashes, n_partitions).astype(np.int64)
        outbox = Outbox()
        # Count each document once, whatever its tokens are.
        yield 0, (found.n_documents, to_bytes(batch.slice(0, 0)))
        for sent in (outbox.add(batch, partitions), outbox.rest()):
            yield from ((partition, (0, data)) for partition, data in sent)


def _sum(rows: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, bytes] | Failure]:
    import pyarrow as pa

    n_documents, batches = 0, []
    for _, row in rows:
        if isinstance(row, Failure):
            yield row
            continue
        n_documents += row[0]
        batches.append(from_bytes(row[1]))
    if not batches:
        return
    batch = pa.concat_batches(batches)
    hashes, places = np.unique(numbers_of(batch, "hash"), return_inverse=True)
    counts: Int64s = np.zeros(len(hashes), np.int64)
    np.add.at(counts, places, numbers_of(batch, "count"))
    summed = pa.RecordBatch.from_pydict({"hash": hashes, "count": counts})
    yield n_documents, to_bytes(summed)


# Folder in the output for incomplete files while the output is written.
_ATTEMPTS = ".attempts"


class _Job(NamedTuple):
    """A source, its document numbers, and the target folders of each document, as bits."""

    piece: Piece
    start: int
    stop: int
    packed: dict[str, bytes]


# Opens the change of blocks at writing, from the rows that were sent to a task.
OpenChange = Callable[[Iterator[Any]], AbstractContextManager["Change"]]


def no_change(_: Iterator[Any]) -> AbstractContextManager[Change]:
    """Leave blocks as they are."""
    return nullcontext(lambda block, _: block)


def write_on_executors(
    cluster: Cluster,
    documents: Catalogue,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    send: Callable[[Int64s], RDD[Any]] | None = None,
    open_change: OpenChange = no_change,
) -> None:
    """Write rows to the folders of ``sides``, as ``write_documents`` does in threads.

    Parameters
    ----------
    cluster
        Executors that write; all reach the folder under the same path or URL.
    documents, sides, folder, output_format
        As of ``write_documents``.
    send
        Returns rows at the tasks that write their documents, given each task's first document
        number.
    open_change
        Makes the change of blocks from these rows, given the range of a block's documents.
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
    numbered = list(enumerate(tasks))
    if send is None:
        laid_out = cluster.lay_out(numbered)
    else:
        starts = np.array([jobs[0].start for jobs in tasks], np.int64)
        laid_out = cluster.attach(numbered, send(starts))
    if isinstance(folder, RemoteDestination):
        write = partial(_write_remote, folder.for_other_process())
        working = partial(_write, write, output_format, open_change)
        with spark_errors():
            answers = cluster.work_out(cluster.work(working, laid_out, lasts=True))
        for answer in answers:
            for sizes, _ in answer.rows or ():
                folder.add_sizes(sizes)
    else:
        local = Path(str(folder)).absolute()
        attempts = local / _ATTEMPTS
        attempts.mkdir()
        working = partial(_write, partial(_write_local, local), output_format, open_change)
        with spark_errors():
            cluster.work_out(cluster.work(working, laid_out, lasts=True))
        shutil.rmtree(attempts)


# Writes the rows of a source: target folders, output format, and change of blocks.
_WriteSource = Callable[[Piece, Mapping[str, Bools], OutputFormat, "Change"], dict[str, int]]


def _write(
    write_source: _WriteSource,
    output_format: OutputFormat,
    open_change: OpenChange,
    rows: Iterator[Any],
) -> Iterator[tuple[dict[str, int], bytes] | Failure]:
    """Write the sources of a task, which is the first of the rows."""
    task: tuple[int, Sequence[_Job]]
    for task in islice(rows, 1):
        number, jobs = task
        piece = None
        try:
            with open_change(rows) as change:
                for piece, start, stop, packed in jobs:
                    sides = {side: _unpacked(bits, stop - start) for side, bits in packed.items()}
                    own = partial(_change_own, change, start)
                    yield write_source(piece, sides, output_format, own), b""
        except NeardupError as error:
            yield Failure.of(number, piece, error)


def _unpacked(bits: bytes, n_rows: int) -> Bools:
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=n_rows).astype(np.bool_)


def _change_own(change: Change, start: int, block: Any, rows: slice) -> Any:
    return change(block, slice(start + rows.start, start + rows.stop))


def _write_remote(
    folder: RemoteDestination,
    piece: Piece,
    sides: Mapping[str, Bools],
    output_format: OutputFormat,
    change: Change,
) -> dict[str, int]:
    """Write the rows of a source; object stores show a file when it is complete."""
    place = folder.for_other_process()
    _write_rows(piece, sides, place, output_format, change)
    return place.sizes()


def _write_local(
    folder: Path,
    piece: Piece,
    sides: Mapping[str, Bools],
    output_format: OutputFormat,
    change: Change,
) -> dict[str, int]:
    """Write the rows of a source under temporary names, and rename complete files.

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
        _write_rows(piece, sides, LocalDestination(attempt), output_format, change)
        with writing(LocalDestination(folder)):
            for path in sorted(attempt.rglob("*")):
                place = folder / path.relative_to(attempt)
                if path.is_dir():
                    place.mkdir(parents=True, exist_ok=True)
                else:
                    path.replace(place)
    finally:
        shutil.rmtree(attempt, ignore_errors=True)
    return {}


def _write_rows(
    piece: Piece,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    change: Change,
) -> None:
    blocks = numbered_blocks(piece.source, 0, len(sides[SKIPPED]))
    write_rows(piece.source, blocks, change, sides, folder, output_format, lambda _: None)
