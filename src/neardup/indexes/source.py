"""The documents of an index as a source, for what reads all texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.files.parquetwriter import TableWriter
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.tableblocks import StoredBlock
from neardup.indexes.index import OpenIndex

if TYPE_CHECKING:
    from neardup.files.destinations import Destination

_BLOCK_ROWS = 8192


class IndexSource(Source):
    """The documents that an index has, in the order in which they were added; written as Parquet.

    Columns are ``id``, ``text`` and those of the user's that the index keeps.

    Parameters
    ----------
    index
        What is read, as it was when it was opened.
    folder
        Where it is.
    block_rows
        Most rows of a block.
    """

    def __init__(
        self, index: OpenIndex[Any, Any], folder: Path, *, block_rows: int = _BLOCK_ROWS
    ) -> None:
        self.name, self.origin = f"{folder.name}.parquet", str(folder)
        self._index, self._block_rows = index, block_rows

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return ["id", "text", *self._index.columns]

    def blocks(self) -> Iterator[RowBlock]:
        """Read the documents that are there."""
        index, number = self._index, 1
        for segment in range(len(index.segments)):
            documents = index.live_rows(segment) + index.first_documents[segment]
            for start in range(0, len(documents), self._block_rows):
                rows = index.read_rows(documents[start : start + self._block_rows])
                yield StoredBlock(rows, number)
                number += len(rows)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet."""
        schema = pa.schema([("id", self._index.id_type), ("text", pa.large_string())])
        return TableWriter(folder / self.name, schema)
