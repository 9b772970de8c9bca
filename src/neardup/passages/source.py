"""The documents of a passage index, read as a source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.files.parquetwriter import TableWriter
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.tableblocks import StoredBlock
from neardup.passages.index import OpenIndex
from neardup.tables import Int64s, Uint32s

if TYPE_CHECKING:
    from neardup.files.destinations import Destination

_BLOCK_ROWS = 8192
_COLUMNS = ("id", "text")


class PassageIndexSource(Source):
    """The documents that an index of passages has, in the order in which they were added.

    Columns are ``id`` and ``text``.

    Parameters
    ----------
    index
        What is read, as it was when it was opened.
    folder
        Where it is.
    """

    def __init__(self, index: OpenIndex, folder: Path) -> None:
        self.name, self.origin = f"{folder.name}.parquet", str(folder)
        self._index = index

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(_COLUMNS)

    def blocks(self) -> Iterator[RowBlock]:
        """Read the documents that are there."""
        index, number = self._index, 1
        for k, segment in enumerate(index.segments):
            documents = np.arange(len(segment.ids), dtype=np.int64)
            documents = documents[index.are_kept(k, documents)]
            for start in range(0, len(documents), _BLOCK_ROWS):
                rows = pa.array(documents[start : start + _BLOCK_ROWS])
                ids = segment.ids.take(rows).cast(index.id_type)
                table = pa.table([ids, segment.texts.take(rows)], _COLUMNS)
                yield StoredBlock(table, number)
                number += len(table)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet."""
        schema = pa.schema([("id", self._index.id_type), ("text", pa.large_string())])
        return TableWriter(folder / self.name, schema)


# Stored documents of an index: one by its id, or some in the order in which they were added.


def get_document(index: OpenIndex, identifier: str | int) -> dict[str, Any] | None:
    """Return the document with an id, or None if there is none.

    The first look makes a table of all ids, which is kept as long as the segments are open.
    """
    wanted = pa.array([str(identifier)], pa.large_string())
    for number, segment in enumerate(index.segments):
        rows = segment.id_table.find(wanted)
        if rows[0] >= 0 and index.are_kept(number, rows)[0]:
            return _read_rows(index, number, rows)[0]
    return None


def list_documents(index: OpenIndex, start: int, limit: int) -> list[dict[str, Any]]:
    """Return up to ``limit`` documents from number ``start`` on; removed ones do not count.

    Only the texts that are returned are read.
    """
    documents: list[dict[str, Any]] = []
    for number, (segment, removed) in enumerate(zip(index.segments, index.removed, strict=True)):
        n_kept = len(segment.ids) - len(removed)
        stop = min(start + limit - len(documents), n_kept)
        if start < stop:
            rows = _kept_rows(removed, np.arange(start, stop, dtype=np.int64))
            documents += _read_rows(index, number, rows)
        start = max(start - n_kept, 0)
        if len(documents) == limit:
            break
    return documents


def _kept_rows(removed: Uint32s, numbers: Int64s) -> Int64s:
    """Return the rows of a segment's documents that are counted without the removed ones."""
    # So many are kept before each removed row; those before which fewer are, come later.
    n_before = removed.astype(np.int64) - np.arange(len(removed))
    return numbers + np.searchsorted(n_before, numbers, side="right")


def _read_rows(index: OpenIndex, number: int, rows: Int64s) -> list[dict[str, Any]]:
    segment, places = index.segments[number], pa.array(rows)
    ids = segment.ids.take(places).cast(index.id_type).to_pylist()
    texts = segment.texts.take(places).to_pylist()
    return [{"id": key, "text": text} for key, text in zip(ids, texts, strict=True)]
