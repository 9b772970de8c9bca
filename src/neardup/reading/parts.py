"""Parts of documents, such as their lines, read again as documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.files.memory import TableBlock
from neardup.files.rows import ColumnNames, RowBlock, RowWriter, Source
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks, parts_again
from neardup.tables import Int64s, Rows, Texts

if TYPE_CHECKING:
    from neardup.files.streams import Destination

_TEXT = "text"

PART_COLUMNS = ColumnNames(_TEXT)
"""Columns of parts as documents."""


@dataclass(frozen=True)
class Parts(Rows):
    """Parts of the documents of a collection, by document and position.

    ``first_bytes`` and ``last_bytes`` (exclusive) are bytes of the text.
    """

    documents: Int64s
    first_bytes: Int64s
    last_bytes: Int64s

    def of_documents(self, documents: slice) -> Parts:
        """Return the parts of some consecutive documents."""
        bounds = np.searchsorted(self.documents, [documents.start, documents.stop])
        return self.take(slice(int(bounds[0]), int(bounds[1])))


def block_of_parts(texts: Texts, first: int = 1) -> TableBlock:
    """Return the parts of a block as rows, numbered from ``first`` on."""
    import pyarrow as pa

    block = TableBlock(pa.table({_TEXT: texts.to_arrow()}), first)
    if texts.languages is not None and len(texts):
        block.language = int(texts.languages[0])
    return block


class PartSource(Source):
    """Parts of the documents of a source.

    Parameters
    ----------
    source
        Source of the documents.
    documents
        Their numbers in their collection.
    columns
        Columns of their texts.
    parts
        Parts of all documents of the collection.
    skip_bad
        Whether bad rows were skipped.
    """

    def __init__(
        self,
        source: Source,
        documents: slice,
        columns: ColumnNames,
        parts: Parts,
        *,
        skip_bad: bool,
    ) -> None:
        self.name, self.origin, self.size = source.name, source.origin, source.size
        self._source, self._documents, self._columns = source, documents, columns.only_text()
        self._parts, self._skip_bad = parts, skip_bad

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the parts of a block of documents."""
        first = 1
        for block, rows in numbered_blocks(
            self._source, self._documents.start, self._documents.stop
        ):
            parts = self._parts.of_documents(rows)
            parsed = block.parse(self._columns, skip_bad=self._skip_bad)
            texts = parts_again(
                Texts.from_arrow(parsed.text, block.language),
                parts.documents - rows.start,
                parts.first_bytes,
                parts.last_bytes,
                self.origin or self.name,
            )
            found = block_of_parts(texts, first)
            found.end = block.end
            yield found
            first += len(found)

    def writer(self, folder: Destination) -> RowWriter:
        """Raise, because parts are written with their documents."""
        raise NotImplementedError


def sources_of_parts(own: Catalogue, parts: Parts, *, skip_bad: bool) -> list[Source]:
    """Return the parts of a collection's documents, source by source."""
    return [
        PartSource(source, slice(start, stop), own.columns, parts, skip_bad=skip_bad)
        for source, start, stop in own.ranges()
    ]
