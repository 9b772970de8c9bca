"""An index of documents on executors: tasks look up what they read, and read again what is added.

Each task opens the index by itself, as the driver has seen it, and reads what it touches.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.documents.index import DocumentHandle, OpenDocuments
from neardup.documents.lookup import Hits, LookedUp, look_up_block
from neardup.documents.reading import ReadDocuments
from neardup.documents.scheme import DocumentScheme
from neardup.documents.segment import UNREAD
from neardup.engine.spark.cluster import Cluster, Failure, Piece, Task, check_seen, cut_tasks
from neardup.engine.spark.read import ReadTasks, TaskReading
from neardup.errors import NeardupError
from neardup.files.streams import file_has_changed
from neardup.indexes.handle import CheckedFiles
from neardup.jobs.dedup.against import IndexLookUp, read_signed
from neardup.matching.measures import Measure
from neardup.reading.sign import LookUp, SignedTexts
from neardup.reading.signed_batches import to_batch
from neardup.runs.runner import Runner
from neardup.tables import Bools, EarlierKeepers, TokenLists

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.documents.additions import Adding
    from neardup.files.rows import ColumnNames, RowBlock, Source
    from neardup.reading.catalogue import Catalogue
    from neardup.reading.signed_batches import SignedBatches


class IndexOnExecutors:
    """An index as the driver has seen it, which each task opens that looks something up."""

    def __init__(self, folder: Path, index: OpenDocuments) -> None:
        self._folder = folder.absolute()
        self._manifest, self._scheme = index.manifest, index.scheme

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is open."""
        return {name: value for name, value in vars(self).items() if name != "opened"}

    @cached_property
    def opened(self) -> OpenDocuments:
        """The index."""
        check_seen(self._folder)
        files = CheckedFiles(self._folder, UNREAD).open(self._manifest, Runner(1))
        handle = DocumentHandle(self._folder)
        parts = tuple(handle.open_part(segment, self._scheme) for segment in files.segments)
        return handle.view_of(files, self._scheme, parts)


# What is kept of the hits of a block.
Keep = Callable[[Hits], Hits]


def look_up_on_executors(
    current_cluster: Callable[[], Cluster],
    folder: Path,
    keep: Keep | None,
    stage: str,
    index: OpenDocuments,
    sources: Sequence[Source],
    columns: ColumnNames,
    measure: Measure,
    _: Runner,
    *,
    skip_bad: bool,
) -> Iterator[LookedUp]:
    """Have tasks look up every document that they read, as ``documents.lookup.look_up``.

    The driver gets what they ``keep`` of what they find, None: all; ``stage`` is what it is called
    that a run goes on with.
    """
    cluster = current_cluster()
    looking = partial(_look_up, IndexOnExecutors(folder, index), columns, measure, keep, skip_bad)
    laid_out = cluster.lay_out(list(enumerate(cut_tasks([sources], cluster.slots))))
    found = cluster.work(looking, laid_out, is_laid_out=True, keep=(stage,))
    for _, data in cluster.bring_once(found):
        yield pickle.loads(data)


def _look_up(
    index: IndexOnExecutors,
    columns: ColumnNames,
    measure: Measure,
    keep: Keep | None,
    skip_bad: bool,
    tasks: Iterator[tuple[int, Task]],
) -> Iterator[tuple[None, bytes] | Failure]:
    """Look up the documents of the blocks of a task."""

    def look_up(piece: Piece, block: RowBlock) -> LookedUp:
        found = look_up_block(
            index.opened, columns, measure, piece.source, block, skip_bad=skip_bad
        )
        return found if keep is None else replace(found, hits=keep(found.hits))

    for task_number, task in tasks:
        reading = TaskReading(task_number, task)
        try:
            for _, found in reading.map(look_up):
                yield None, pickle.dumps(found)
        except NeardupError as error:
            yield reading.failure(error)


class LookUpOnExecutors(LookUp):
    """Looks up what texts go for, in an index that is opened by the task that does."""

    def __init__(self, folder: Path, index: OpenDocuments, measure: Measure) -> None:
        self._index, self._measure = IndexOnExecutors(folder, index), measure

    def sign(self, token_lists: TokenLists) -> SignedTexts:
        """Work out of some texts what the index looks up."""
        return self._look_up.sign(token_lists)

    def find(self, signed: Sequence[SignedTexts]) -> EarlierKeepers:
        """Find the document that each text goes for."""
        return self._look_up.find(signed)

    @property
    def _look_up(self) -> IndexLookUp:
        return IndexLookUp(self._index.opened, self._measure)


def tell_looked_up(with_digests: bool, found: Any) -> tuple[pa.RecordBatch, dict[str, Any]]:
    """Tell the driver what documents go for, and their digests, which are noted with additions."""
    return to_batch(found, with_sketches=False, with_digests=with_digests), {}


def read_on_executors_again(
    signed: ReadTasks,
    cluster: Cluster,
    new: Adding,
    _: SignedBatches,
    own: Catalogue,
    wanted: Bools,
    __: Runner,
) -> Iterator[ReadDocuments]:
    """Read documents that are added again, and pack them; they come in their order."""
    payloads = [
        (number, task, np.packbits(wanted[start:stop]))
        for number, (task, (start, stop)) in enumerate(
            zip(signed.tasks, signed.ranges, strict=True)
        )
    ]
    reading = partial(_read_again, own.columns, new.scheme)
    read = cluster.work(reading, cluster.attach(payloads, signed.rows))
    for _, data in cluster.bring_once(read):
        yield pickle.loads(data)


def _read_again(
    columns: ColumnNames, scheme: DocumentScheme, rows: Iterator[Any]
) -> Iterator[tuple[None, bytes] | Failure]:
    """Read the blocks of a task of which some document is wanted."""
    number, task, packed = next(rows)
    wanted = np.unpackbits(packed).astype(np.bool_)
    if not wanted.any():
        return
    reading = TaskReading(number, task)
    done = 0

    def read(piece: Piece, block: RowBlock) -> ReadDocuments | None:
        nonlocal done
        found = next(rows, None)
        if found is None or len(found.found.numbers) != len(block):
            raise file_has_changed(piece.location)
        select = wanted[done : done + len(block)]
        done += len(block)
        if not select.any():
            return None
        return read_signed(piece.source, block, to_batch(found.found), columns, scheme, select)

    try:
        for _, documents in reading.map(read):
            if documents is not None:
                yield None, pickle.dumps(documents)
    except NeardupError as error:
        yield reading.failure(error)
