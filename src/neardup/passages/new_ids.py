"""Refusing ids that are in an index already, or that come twice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.columnwords import id_advice
from neardup.files.ids import as_text, repeated_id
from neardup.files.rows import ColumnNames
from neardup.passages.documents import DocumentBlock, RowPlaces
from neardup.passages.index import OpenIndex
from neardup.storage.ids import IdTable
from neardup.tables import Bools, Int64s


class NewIds:
    """Refuses ids that are in an index, or that come twice in what is added to it.

    ``columns`` say where the ids are from.
    """

    def __init__(self, index: OpenIndex, columns: ColumnNames) -> None:
        self._index, self._columns = index, columns
        self._earlier: list[tuple[IdTable, RowPlaces]] = []

    def check(self, block: DocumentBlock) -> None:
        """Make sure that the ids of the next documents are new.

        Raises
        ------
        InvalidInputError
            If not; names the row, and the earlier one with the same id.
        """
        ids = as_text(block.ids)
        self._check_index(block, ids)
        table = IdTable(ids)
        for earlier, places in self._earlier:
            self._check_repeats(block, earlier.find(ids), places)
        rows = table.find(ids)
        rows[rows == np.arange(len(block))] = -1
        self._check_repeats(block, rows, block.places)
        self._earlier.append((table, block.places))

    def _check_index(self, block: DocumentBlock, ids: pa.Array) -> None:
        known: Bools = np.zeros(len(block), np.bool_)
        for number, segment in enumerate(self._index.segments):
            rows = segment.id_table.find(ids)
            documents = np.flatnonzero(rows >= 0)
            known[documents] |= self._index.are_kept(number, rows[documents])
        if known.any():
            first = int(np.argmax(known))
            advice = id_advice(self._columns)
            message = (
                f"id {block.ids[first].as_py()!r} is in the index already; ids must differ. "
                f"Remove the old document first, or choose another --id-column{advice}"
            )
            source, row = block.places.place(first)
            raise InvalidInputError(message, path=source, row=row)

    def _check_repeats(self, block: DocumentBlock, rows: Int64s, places: RowPlaces) -> None:
        """Raise for the first document with a row among the earlier ones."""
        documents = np.flatnonzero(rows >= 0)
        if len(documents):
            first = int(documents[0])
            identifier, earlier = block.ids[first].as_py(), places.place(int(rows[first]))
            raise repeated_id(identifier, block.places.place(first), earlier, self._columns)
