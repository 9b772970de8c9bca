"""The documents of an index as a collection, for what reads all texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.documents.index import OpenDocuments
from neardup.errors import InvalidInputError
from neardup.files.ids import as_text
from neardup.files.parquetwriter import TableWriter
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.tableblocks import StoredBlock

if TYPE_CHECKING:
    from neardup.files.destinations import Destination

_BLOCK_ROWS = 2048


class IndexSource(Source):
    """The documents of an index, in the order in which they were added; written as Parquet.

    Columns are ``id``, ``text`` and those of the user's that the index keeps. Text and ids are
    read of the former, whatever columns those of other collections are in.

    Parameters
    ----------
    index
        What is read, as it was when it was opened.
    folder
        Where it is.
    block_rows
        Most rows of a block.

    Raises
    ------
    InvalidInputError
        If the index keeps no texts.
    """

    has_lasting_rows = False

    def __init__(
        self, index: OpenDocuments, folder: Path, *, block_rows: int = _BLOCK_ROWS
    ) -> None:
        if not index.scheme.with_text:
            message = (
                "the index keeps no texts, which are to be read; build one with them. What "
                "only looks documents up needs none: search, and dedup and pairs by method minhash"
            )
            raise InvalidInputError(message, path=str(folder))
        self.name, self.origin = f"{folder.name}.parquet", str(folder)
        self._index, self._block_rows = index, block_rows

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return ["id", "text", *self._index.scheme.columns]

    def blocks(self) -> Iterator[RowBlock]:
        """Read the documents that are there; one without a text, added as tokens, is bad."""
        index, number = self._index, 1
        for segment in range(len(index.segments)):
            documents = index.live_rows(segment) + index.first_documents[segment]
            for start in range(0, len(documents), self._block_rows):
                rows = index.read_rows(documents[start : start + self._block_rows])
                yield StoredBlock(rows, number)
                number += len(rows)

    def default_ids(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """Return the ids that the documents have in the index."""
        index = self._index
        live = [
            index.live_rows(segment) + index.first_documents[segment]
            for segment in range(len(index.segments))
        ]
        return as_text(index.ids_of(np.concatenate([np.empty(0, np.int64), *live])[numbers - 1]))

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet."""
        rows = next((block.to_table() for block in self.blocks()), None)
        schema = pa.schema([]) if rows is None else rows.schema
        return TableWriter(folder / self.name, schema)
