"""Adding documents to an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from neardup.documents.batches import DocumentBatch
from neardup.documents.handle import DocumentHandle
from neardup.documents.index import OpenDocuments
from neardup.documents.reading import ReadDocuments, read_documents
from neardup.documents.scheme import DocumentScheme
from neardup.documents.segment_writer import DocumentSegmentWriter, new_segment
from neardup.documents.tiers import merge_tiers
from neardup.errors import InvalidInputError
from neardup.files.columnwords import id_advice
from neardup.files.ids import choose_id_column
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, Source
from neardup.reading.frequencies import count_shingles
from neardup.reading.ids import check_unique
from neardup.runtime.runner import Runner
from neardup.storage.generations import free_name, store_next
from neardup.storage.handle import OpenFiles
from neardup.tables import Floats, Int64s, Uint64s
from neardup.text.stored_frequencies import store_frequencies
from neardup.text.weighting import DocumentFrequencies


@dataclass
class Addition:
    """What an addition did, and where text and ids were."""

    columns: ColumnNames
    n_documents: int = 0
    n_tokens: int = 0
    n_empty: int = 0
    skipped: list[tuple[str, int, str]] = field(default_factory=list)


class Adding:
    """The next state of an index whose write lock is held; there is nothing of it before it ends.

    Made by ``adding``. ``index`` is the state before, with the scheme that documents are signed by.
    """

    def __init__(self, index: OpenDocuments, writer: DocumentSegmentWriter) -> None:
        self.index, self._writer = index, writer

    @property
    def scheme(self) -> DocumentScheme:
        """How documents are signed."""
        return self.index.scheme

    def add(self, batch: DocumentBatch) -> None:
        """Add the next documents, whose ids are new."""
        self._writer.add(batch)

    def went(
        self, ids: pa.Array, kept_ids: pa.Array, digests: Uint64s, similarities: Floats
    ) -> None:
        """Note documents that went for others, which are there or are being added."""
        if len(ids):
            self._writer.add_gone(ids, kept_ids, digests, similarities)


@contextmanager
def adding(
    handle: DocumentHandle,
    files: OpenFiles,
    runner: Runner,
    *,
    frequencies: DocumentFrequencies | None = None,
) -> Iterator[Adding]:
    """Make the next state of an index, within a block of ``handle.changing``.

    What was added is there when the block ends, all of it; nothing, if an error ends it.
    ``frequencies`` are those that decide what shingles weigh from now on.

    Raises
    ------
    WriteError, IndexFormatError
        If files cannot be written, or are damaged.
    """
    manifest, index = files.manifest, handle.read(files)
    extra = dict(manifest.files)
    if frequencies is not None:
        index = OpenDocuments(
            manifest, index.scheme.with_frequencies(frequencies), index.segments, index.removed
        )
        extra.update(store_frequencies(handle.folder, frequencies))
    name = free_name(manifest, 0)
    records = list(manifest.segments)
    with new_segment(handle.folder, name, index.scheme, runner) as writer:
        yield Adding(index, writer)
        if writer.n_documents or writer.n_gone:
            records.append(writer.finish(name))
    if len(records) > len(manifest.segments) or frequencies is not None:
        store_next(handle.folder, manifest, records, extra)
        merge_tiers(handle, runner)


def add_documents(
    handle: DocumentHandle,
    sources: Sequence[Source],
    columns: ColumnNames,
    runner: Runner,
    *,
    skip_bad: bool = False,
) -> Addition:
    """Add documents, all of them or none.

    The first addition decides the inverse document frequencies, if shingles are weighted by them:
    then the input is read twice.

    Raises
    ------
    InvalidInputError
        For a bad row, or an id that comes twice or is in the index.
    IndexLockedError
        If another writer is at work.
    ReadError, WriteError, IndexFormatError
        If files cannot be read or written, or are damaged.
    """
    columns = choose_id_column(columns, sources)
    addition = Addition(columns)
    with handle.changing(runner) as files:
        scheme = handle.read(files).scheme
        frequencies = None
        if scheme.needs_frequencies:
            plan = scheme.reading_plan(columns, skip_bad=skip_bad)
            frequencies = count_shingles([(sources, columns)], plan, runner)
            # No documents decide nothing.
            frequencies = frequencies if frequencies.n_documents else None
        with adding(handle, files, runner, frequencies=frequencies) as new:
            ids = NewIds(new.index, columns)
            reading = ReadingPass("read", sources, runner)
            for documents in read_documents(
                sources, columns, new.scheme, reading, skip_bad=skip_bad
            ):
                ids.check(documents)
                addition.skipped += documents.skipped
                _count(addition, documents.batch.n_tokens)
                new.add(documents.batch)
            ids.check_repeats()
    return addition


class NewIds:
    """Refuses ids that are in an index, or that come twice in what is added to it.

    Memory: the ids, and while they are compared with each other 16 bytes for each.
    """

    def __init__(self, index: OpenDocuments, columns: ColumnNames) -> None:
        self._index, self._columns = index, columns
        self._ids: list[pa.Array] = []
        self._places: list[tuple[str, Int64s]] = []

    def check(self, documents: ReadDocuments) -> None:
        """Make sure that the index has none of the next documents.

        Raises
        ------
        InvalidInputError
            If it has one; names the row.
        """
        ids = documents.batch.ids
        known = np.flatnonzero(self._index.documents_of_ids(ids) >= 0)
        if len(known):
            first = int(known[0])
            raise known_id(
                ids[first].as_py(), documents.source, int(documents.numbers[first]), self._columns
            )
        self._ids.append(ids)
        self._places.append((documents.source, documents.numbers))

    def check_repeats(self) -> None:
        """Make sure that no two of the documents have one id.

        Raises
        ------
        InvalidInputError
            If two have; names both rows.
        """
        starts = np.cumsum([0, *(len(numbers) for _, numbers in self._places)])

        def place(document: int) -> tuple[str, int]:
            block = int(np.searchsorted(starts, document, side="right")) - 1
            source, numbers = self._places[block]
            return source, int(numbers[document - starts[block]])

        check_unique(self._ids, place, self._columns)


def known_id(identifier: object, source: str, row: int, columns: ColumnNames) -> InvalidInputError:
    """Return the error for a document whose id the index has."""
    message = (
        f"id {identifier!r} is in the index already; ids must differ. Remove the old document "
        f"first, or choose another --id-column{id_advice(columns)}"
    )
    return InvalidInputError(message, path=source, row=row)


def _count(addition: Addition, n_tokens: Int64s) -> None:
    addition.n_documents += len(n_tokens)
    addition.n_tokens += int(n_tokens.sum())
    addition.n_empty += int((n_tokens == 0).sum())
