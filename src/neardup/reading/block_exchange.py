"""Rows taken from blocks of collections, on their way to partitions, in files as far as need be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.reading.signed_batches import numbers_of
from neardup.runs.exchange import Shuffle
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace

# Rows, sorted by the partitions that they go to.
Sorted = tuple["pa.RecordBatch", Int64s]

# Text of the documents of one file of a work folder; a run that was killed loses so much.
FILE_TEXT_BYTES = 256_000_000


@dataclass(frozen=True)
class KeptElsewhere:
    """What is taken from texts and kept beside what stays known of their documents.

    An earlier run has taken it from ``n_blocks`` of each source. Once something of ``rows`` has
    gone to files, what stays known does, too.
    """

    n_blocks: list[int]
    rows: Shuffle


class BlockExchange:
    """Rows of documents read block after block; a column ``document`` says whose they are.

    Those that an earlier run has taken from some blocks need not be taken again. Used in a ``with``
    block of its ``shuffle`` while rows are added.

    Parameters
    ----------
    name
        Of the shuffle in the work folder.
    workspace
        Says how much memory there is.
    n_partitions
        Their number.
    share
        Part of the memory in which rows may stay, or wait to be written.
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
        # Of each block its collection, source, documents and rows, also those of an earlier run.
        self._blocks: list[list[int]] = self.shuffle.done()
        self._n_documents = sum(block[2] for block in self._blocks)

    def kept_of(self, collection: int, n_sources: int) -> KeptElsewhere:
        """Return what of a collection is there already."""
        counts = [0] * n_sources
        for number, source, *_ in self._blocks:
            if number == collection:
                counts[source] += 1
        return KeptElsewhere(counts, self.shuffle)

    def add(self, collection: int, found: tuple[Sorted, int], source: int, text_bytes: int) -> None:
        """Add the rows of the next block, which has so many documents, numbered from 0."""
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
