"""Documents that are aligned, on executors: what a task has read stays with it, as segments.

They are those of an index of passages, and so are what is looked up in, and what queries are.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.engine.spark.cluster import (
    Cluster,
    Failure,
    Piece,
    Task,
    cut_tasks,
    local_workspace,
)
from neardup.engine.spark.read import TaskReading, from_bytes, to_bytes
from neardup.errors import NeardupError
from neardup.files.rows import RowBlock, Source
from neardup.indexes.changes import NewIds, RowPlaces
from neardup.indexes.handle import check_seen
from neardup.indexes.manifest import Manifest, SegmentRecord
from neardup.indexes.segments import SEGMENTS
from neardup.jobs.align.other import Made
from neardup.passages.additions import gather, segment_tokens_within
from neardup.passages.documents import DocumentBlock, PassageReading, read_document_block
from neardup.passages.index import OpenPassages, open_segments
from neardup.passages.lookup import within_memory
from neardup.passages.scheme import PassageScheme
from neardup.passages.segment import write_segment
from neardup.reading.signed_batches import numbers_of
from neardup.results import SkippedRow
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Int64s, Uint32s, offsets_of
from neardup.text.weighting import DocumentFrequencies

if TYPE_CHECKING:
    from pyspark.rdd import RDD


# Parts of an index for each task that runs at the same time, so that these end together, unless
# they would be of fewer tokens. A part has whole segments.
_PARTS_A_SLOT, _LEAST_PART = 4, 1 << 21

# Documents that executors keep.


class Stored(NamedTuple):
    """Some documents of a task, the files of a segment; none if all rows are left out."""

    task: int
    record: SegmentRecord | None
    files: dict[str, bytes]
    sizes: Int64s
    ids: pa.Array
    places: RowPlaces
    skipped: Sequence[SkippedRow]
    n_ignored: int


@dataclass(frozen=True)
class Storing:
    """How tasks make segments, of so many tokens each, within some memory."""

    scheme: PassageScheme
    frequencies: DocumentFrequencies | None
    read: PassageReading
    n_tokens: int
    memory: int

    @classmethod
    def by(
        cls,
        cluster: Cluster,
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
        read: PassageReading,
    ) -> Storing:
        """Return how tasks of some executors make them."""
        n_tokens = segment_tokens_within(Workspace(cluster.task_bytes))
        return cls(scheme, frequencies, read, n_tokens, cluster.task_bytes)


@dataclass
class StoredDocuments:
    """Documents that executors have stored; those of each task are in a partition.

    ``rows`` are ``Stored``. Of each task the driver keeps the numbers of tokens, and what was left
    out.
    """

    rows: RDD[Any]
    sizes: list[Int64s]
    skipped: list[list[SkippedRow]]
    n_ignored: list[int]
    id_types: list[set[pa.DataType]]

    @property
    def starts(self) -> Int64s:
        """The number of each task's first document, and that of all documents."""
        return offsets_of([len(sizes) for sizes in self.sizes])

    @property
    def made(self) -> Made:
        """What was left out of all of them."""
        return Made(list(chain.from_iterable(self.skipped)), sum(self.n_ignored))


def store_on_executors(
    sources: Sequence[Source], storing: Storing, cluster: Cluster, *, are_indexed: bool
) -> StoredDocuments:
    """Read all documents; ids of those that are indexed have to differ."""
    tasks = cut_tasks([sources], cluster.slots)
    laid_out = cluster.lay_out(list(enumerate(tasks)))
    keep = "read", storing.n_tokens
    made = cluster.work(partial(_store, storing), laid_out, is_laid_out=True, keep=keep)
    rows = cluster.stored(made)
    n = len(tasks)
    known = StoredDocuments(
        rows, [NO_SIZES] * n, [[] for _ in tasks], [0] * n, [set() for _ in tasks]
    )
    scheme = storing.scheme
    nothing = OpenPassages(Manifest(scheme.describe()), scheme, (), (), None, ())
    ids = NewIds(nothing, storing.read.columns)
    telling = partial(_tell, are_indexed)
    for (task, kind, skipped, n_ignored, named), data in cluster.bring(cluster.work(telling, rows)):
        batch = from_bytes(data)
        known.sizes[task] = np.concatenate([known.sizes[task], numbers_of(batch, "size")])
        known.skipped[task] += skipped
        known.n_ignored[task] += n_ignored
        known.id_types[task] |= {kind} if len(batch) else set()
        if are_indexed:
            ids.check(batch.column("id"), RowPlaces(named, numbers_of(batch, "row")))
    ids.check_repeats()
    return known


NO_SIZES: Int64s = np.empty(0, np.int64)


def _store(storing: Storing, tasks: Iterator[tuple[int, Task]]) -> Iterator[Stored | Failure]:
    """Make segments of the documents of a task."""

    def read(piece: Piece, block: RowBlock) -> DocumentBlock:
        return read_document_block(piece.source, block, storing.scheme.tokenizer, storing.read)

    for number, task in tasks:
        reading = TaskReading(number, task)
        with local_workspace(storing.memory) as workspace, workspace.passing_folder() as folder:
            try:
                blocks = (block for _, block in reading.map(read))
                for place, block in enumerate(gather(blocks, storing.n_tokens)):
                    yield store_block(
                        number, block, folder, f"s{place}", storing.scheme, storing.frequencies
                    )
            except NeardupError as error:
                yield reading.failure(error)


def store_block(
    number: int,
    block: DocumentBlock,
    folder: Path,
    name: str,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
) -> Stored:
    """Make a segment of some documents of a task, given a folder for its files on the way."""
    record, files = None, {}
    if len(block):
        record = write_segment(folder, name, block, scheme, frequencies, Runner(1))
        files = {each: (folder / SEGMENTS / name / each).read_bytes() for each in record.files}
        shutil.rmtree(folder / SEGMENTS / name)
    sizes = np.diff(block.tokens.offsets)
    return Stored(
        number, record, files, sizes, block.ids, block.places, block.skipped, block.n_ignored
    )


def _tell(
    with_ids: bool, rows: Iterator[Stored | Failure]
) -> Iterator[tuple[tuple[Any, ...], bytes] | Failure]:
    """Give what the driver keeps of documents."""
    for row in rows:
        if isinstance(row, Failure):
            yield row
            continue
        columns = {"size": row.sizes}
        if with_ids:
            columns |= {"id": row.ids, "row": row.places.numbers}
        facts = row.task, row.ids.type, row.skipped, row.n_ignored, row.places.sources
        yield facts, to_bytes(pa.RecordBatch.from_pydict(columns))


# What queries are looked up in.


class Part(NamedTuple):
    """The segments of a task, whose first document has a number: stored ones, or of an index."""

    first: int
    folder: Path | None = None
    records: Sequence[SegmentRecord] = ()
    removed: Sequence[Uint32s] = ()


@contextmanager
def opened(
    part: Part,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    workspace: Workspace,
    rows: Iterator[Any],
) -> Iterator[tuple[OpenPassages, Iterator[Any]]]:
    """Open the segments of a part; those that are stored come first among ``rows``.

    Yields the other rows, too.
    """
    runner = Runner(1)
    if part.folder is not None:
        check_seen(part.folder)
        index = open_segments(part.folder, part.records, part.removed, scheme, frequencies, runner)
        yield within_memory(index, workspace), rows
        return
    with workspace.passing_folder() as folder:
        records: list[SegmentRecord] = []
        others: Iterator[Any] = iter(())
        for row in rows:
            if not isinstance(row, Stored):
                others = chain([row], rows)
                break
            if row.record is not None:
                path = folder / SEGMENTS / row.record.name
                path.mkdir(parents=True)
                for name, data in row.files.items():
                    (path / name).write_bytes(data)
                records.append(row.record)
        none = [np.empty(0, np.uint32)] * len(records)
        index = open_segments(folder, records, none, scheme, frequencies, runner)
        yield within_memory(index, workspace), others


def parts_of(index: OpenPassages, folder: Path, slots: int) -> list[Part]:
    """Part the segments of an index."""
    records = index.manifest.segments
    bounds = _bounds_of_parts([record.n_tokens for record in records], slots)
    return [
        Part(
            int(index.first_documents[start]),
            folder,
            records[start:stop],
            index.removed[start:stop],
        )
        for start, stop in pairwise(bounds)
    ]


def _bounds_of_parts(n_tokens: Sequence[int], slots: int) -> list[int]:
    """Return the first segment of each part of an index, and the number of segments.

    Segments have so many tokens each, and ``slots`` parts are looked up in at the same time.
    """
    room = max(_LEAST_PART, sum(n_tokens) // (_PARTS_A_SLOT * slots))
    bounds, n_together = [0], 0
    for number, own in enumerate(n_tokens):
        if n_together and n_together + own > room:
            bounds.append(number)
            n_together = 0
        n_together += own
    return [*bounds, len(n_tokens)]
