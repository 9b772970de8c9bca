"""An index of documents on executors: tasks look up what they read, and read again what is added.

Each task opens the index by itself, as the driver has seen it, and reads what it touches.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.documents.index import OpenDocuments
from neardup.documents.lookup import SharedIndex
from neardup.documents.reading import ReadDocuments
from neardup.documents.scheme import DocumentScheme
from neardup.engine.spark.cluster import Cluster, Failure, Piece
from neardup.engine.spark.read import ReadTasks, TaskReading
from neardup.errors import NeardupError
from neardup.files.streams import file_has_changed
from neardup.jobs.dedup.against import IndexLookUp, read_signed
from neardup.matching.measures import Measure
from neardup.reading.sign import LookUp, SignedTexts
from neardup.reading.signed_batches import to_batch
from neardup.runs.runner import Runner
from neardup.tables import Bools, EarlierKeepers, TokenLists

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.documents.additions import Adding
    from neardup.files.rows import ColumnNames, RowBlock
    from neardup.reading.catalogue import Catalogue
    from neardup.reading.signed_batches import SignedBatches


class LookUpOnExecutors(LookUp):
    """Looks up what texts go for, in an index that is opened by the task that does."""

    def __init__(self, folder: Path, index: OpenDocuments, measure: Measure) -> None:
        self._index, self._measure = SharedIndex(folder, index), measure

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
