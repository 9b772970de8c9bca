"""Documents of a deduplication whose result is in memory, read again to be explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.jobs.explain.documents import Batch, DecidedDocuments, Document, Documents
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

# Numbers of documents of another collection begin here, so that all of them are negative.
_FIRST_OF_OTHER = -(2**62)


class ResultDocuments(DecidedDocuments):
    """Documents that are read from where they were.

    Parameters
    ----------
    documents
        The collection.
    summary, removed, clusters
        As of ``DecidedDocuments``.
    order
        The column by which documents were ranked, None for none.
    """

    def __init__(
        self,
        documents: Catalogue,
        summary: dict[str, Any],
        removed: pa.Table,
        clusters: pa.Table,
        order: str | None,
    ) -> None:
        super().__init__(summary, removed, clusters)
        self._catalogue = documents
        self._columns = replace(documents.columns.only_text(), order=order)

    def batches(self, numbers: Int64s | None = None) -> Iterator[Batch]:
        """Yield all documents, or those of some numbers, some at a time."""
        is_document = self._catalogue.is_document
        wanted = is_document.copy()
        if numbers is not None:
            wanted[:] = False
            wanted[np.flatnonzero(is_document)[numbers]] = True
        ranks = np.cumsum(is_document) - 1
        for source, start, stop in self._catalogue.ranges():
            if not wanted[start:stop].any():
                continue
            for block, rows in numbered_blocks(source, start, stop):
                if wanted[rows].any():
                    found = ranks[rows][wanted[rows]]
                    yield read_batch(block, self._columns, wanted[rows], found, self)


class AgainstDocuments(Documents):
    """Documents of the collection that others were compared against, all of which stay.

    Parameters
    ----------
    sources
        What is read.
    columns
        Where texts and ids are.
    skip_bad
        Whether bad rows are left out.
    """

    def __init__(
        self, sources: Sequence[Source], columns: ColumnNames, *, skip_bad: bool = False
    ) -> None:
        self._sources, self._columns, self._skip_bad = sources, columns, skip_bad

    def stay(self, numbers: Int64s) -> Bools:
        """Return that all of them stay."""
        return np.ones(len(numbers), np.bool_)

    def batches(self, numbers: Int64s | None = None) -> Iterator[Batch]:
        """Yield all documents, some at a time; numbers are not looked for."""
        first = _FIRST_OF_OTHER
        for source in self._sources:
            for block in source.blocks():
                parsed = block.parse(self._columns, skip_bad=self._skip_bad)
                is_good = parsed.text.is_valid().to_numpy(zero_copy_only=False)
                ids = source.default_ids(block.numbers) if parsed.id is None else parsed.id
                rows = np.flatnonzero(is_good)
                yield Batch(
                    np.arange(first, first + len(rows)),
                    parsed.text.take(rows),
                    None,
                    _Described(first, ids.take(rows), source, block.numbers[rows]),
                )
                first += len(rows)


class _Described:
    """Describes documents of the other collection by their rows in a batch."""

    def __init__(self, first: int, ids: pa.Array, source: Source, rows: Int64s) -> None:
        self._first, self._ids, self._rows = first, ids, rows
        self._file = source.name if source.has_lasting_rows else None

    def __call__(self, row: int) -> Document:
        number = int(self._rows[row]) if self._file is not None else None
        return Document(self._first + row, self._ids[row].as_py(), "against", self._file, number)


def read_batch(
    block: RowBlock,
    columns: ColumnNames,
    wanted: Bools,
    numbers: Int64s,
    documents: DecidedDocuments,
) -> Batch:
    """Read some documents of a block, which have these numbers."""
    parsed = block.parse(columns, select=wanted)
    return Batch(
        numbers, parsed.text, parsed.order, lambda row: documents.describe(int(numbers[row]))
    )
