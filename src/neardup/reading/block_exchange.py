"""Rows from blocks of collections, sent to partitions, in files if necessary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.reading.signed_batches import numbers_of
from neardup.runs.exchange import Shuffle
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace

# Rows, sorted by partition.
Sorted = tuple["pa.RecordBatch", Int64s]

# Text per file of documents in a work folder, which is the loss of a killed run.
FILE_TEXT_BYTES = 256_000_000


@dataclass(frozen=True)
class KeptElsewhere:
    """Data from texts that are stored next to the facts about their documents.

    An earlier run has stored the data of ``n_blocks`` of each source. Once some ``rows`` are in
    files, so are the facts.
    """

    n_blocks: list[int]
    rows: Shuffle


class BlockExchange:
    """Rows of documents, added block by block, with the column ``document``.

    Blocks of an earlier run are not added again. Add rows in a ``with`` block of its ``shuffle``.

    Parameters
    ----------
    name
        Name of the shuffle in the work folder.
    workspace
        Memory and work folder.
    n_partitions
        Number of partitions.
    share
        Share of the memory for rows that stay or wait to be written.
    """

    def __init__(self, name: str, workspace: Workspace, n_partitions: int, *, share: float) -> None:
        self.shuffle = Shuffle(
            name,
            workspace,
            n_partitions,
            in_memory=None,
            share=share,
            weight_of_file=FILE_TEXT_BYTES,
        )
        # Collection, source, documents and rows of each block, including an earlier run.
        self._blocks: list[list[int]] = self.shuffle.done()
        self._n_documents = sum(block[2] for block in self._blocks)

    def kept_of(self, collection: int, n_sources: int) -> KeptElsewhere:
        """Return the stored data of a collection."""
        counts = [0] * n_sources
        for number, source, *_ in self._blocks:
            if number == collection:
                counts[source] += 1
        return KeptElsewhere(counts, self.shuffle)

    def add(self, collection: int, found: tuple[Sorted, int], source: int, text_bytes: int) -> None:
        """Add the rows of the next block, whose documents are numbered from 0."""
        import pyarrow as pa

        (batch, partitions), n_documents = found
        place = batch.schema.get_field_index("document")
        if place >= 0:
            numbers = pa.array(numbers_of(batch, "document") + self._n_documents)
            batch = batch.set_column(place, "document", numbers)
        block = [collection, source, n_documents, len(batch)]
        self._blocks.append(block)
        self._n_documents += n_documents
        self.shuffle.add(batch, partitions, block, text_bytes)

    @property
    def n_rows(self) -> int:
        """Count the rows of all collections."""
        return sum(block[3] for block in self._blocks)
