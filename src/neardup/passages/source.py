"""The documents of a passage index, read as a source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.files.parquetwriter import TableWriter
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.tableblocks import StoredBlock
from neardup.passages.index import OpenPassages

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

    def __init__(self, index: OpenPassages, folder: Path) -> None:
        self.name, self.origin = f"{folder.name}.parquet", str(folder)
        self._index = index

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(_COLUMNS)

    def blocks(self) -> Iterator[RowBlock]:
        """Read the documents that are there."""
        index, number = self._index, 1
        for segment in range(len(index.segments)):
            documents = index.live_rows(segment) + index.first_documents[segment]
            for start in range(0, len(documents), _BLOCK_ROWS):
                rows = index.read_rows(documents[start : start + _BLOCK_ROWS])
                yield StoredBlock(rows, number)
                number += len(rows)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet."""
        schema = pa.schema([("id", self._index.id_type), ("text", pa.large_string())])
        return TableWriter(folder / self.name, schema)


# Stored documents of an index: one by its id, or some in the order in which they were added.


def get_document(index: OpenPassages, identifier: str | int) -> dict[str, Any] | None:
    """Return the document with an id, or None if there is none.

    The first look makes a table of all ids, which is kept as long as the segments are open.
    """
    document = index.documents_of_ids(pa.array([str(identifier)], pa.large_string()))
    return index.read_rows(document).to_pylist()[0] if document[0] >= 0 else None
