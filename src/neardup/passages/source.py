"""The documents of a passage index, read as a source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.files.parquetwriter import TableWriter
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.tableblocks import StoredBlock
from neardup.passages.index import OpenIndex

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
