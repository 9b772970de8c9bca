"""Signed documents as columns, kept until they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.reading.sign import ListedBlock, SignedBlock
from neardup.storage.spilled import SpilledBatches
from neardup.tables import Digests, EarlierKeepers, Filters, Int64s, Uint64s

if TYPE_CHECKING:
    import pyarrow as pa

_DIGESTS = ("digest_low", "digest_high")
_EARLIER = [f"earlier_{field.name}" for field in fields(EarlierKeepers)]
_OPTIONAL = ("lengths", "order", "ids")


class SignedBatches:
    """Signed documents of some collections, batch after batch, numbered from 0.

    Columns of a batch: ``numbers``, ``n_tokens``, digests, band keys, filters, earlier keepers
    where an index was looked into, and ``lengths``, ``order`` and ``ids`` where they are needed.
    """

    def __init__(self, n_bands: int) -> None:
        self.n_bands = n_bands
        self._collections: list[SpilledBatches] = []

    def add(self, batches: SpilledBatches) -> None:
        """Add the documents of a collection, of which all are there."""
        self._collections.append(batches)

    @property
    def is_in_memory(self) -> bool:
        """Whether no batch is in a file."""
        return all(batches.is_in_memory for batches in self._collections)

    def __iter__(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield each batch with the number of its first document."""
        start = 0
        for batches in self._collections:
            for batch in batches:
                yield start, batch
                start += batch.num_rows

    def digests(self) -> Iterator[tuple[int, Digests]]:
        """Yield each batch's digests with the number of their first document."""
        for start, batch in self:
            pairs = np.column_stack([numbers_of(batch, name) for name in _DIGESTS])
            yield start, Digests(pairs, numbers_of(batch, "n_tokens") > 0)

    def band(self, band: int) -> Iterator[tuple[int, Uint64s]]:
        """Yield each batch's keys of one band with the number of their first document."""
        for start, batch in self:
            yield start, numbers_of(batch, f"key_{band}")

    def bands(self) -> Iterator[tuple[int, Uint64s, Filters | None]]:
        """Yield each batch's keys, of shape (n_bands, n), and its filters if it has them."""
        for start, batch in self:
            keys: Uint64s = np.empty((self.n_bands, len(batch)), np.uint64)
            for band in range(self.n_bands):
                keys[band] = numbers_of(batch, f"key_{band}")
            yield start, keys, filters_of(batch)

    def earlier(self) -> Iterator[tuple[int, EarlierKeepers]]:
        """Yield each batch's earlier keepers, where an index was looked into."""
        for start, batch in self:
            if _EARLIER[0] in batch.schema.names:
                columns = (batch.column(name) for name in _EARLIER)
                # Flags are bits in a batch.
                yield (
                    start,
                    EarlierKeepers(*(each.to_numpy(zero_copy_only=False) for each in columns)),
                )


def to_batch(block: ListedBlock, *, with_sketches: bool = True) -> pa.RecordBatch:
    """Return a block's columns; keys stand band by band, because they are read so.

    Without sketches it is only what stays known of each document: no digests, keys and filters.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {"numbers": block.numbers, "n_tokens": block.n_tokens}
    if with_sketches and isinstance(block, SignedBlock):
        columns |= zip(_DIGESTS, block.digests.values.T.copy(), strict=True)
        columns |= {f"key_{band}": keys for band, keys in enumerate(block.keys.T.copy())}
        if block.filters is not None:
            columns["filter"] = filter_column(block.filters)
            columns["filter_sizes"] = block.filters.sizes
        if block.earlier is not None:
            columns |= zip(_EARLIER, vars(block.earlier).values(), strict=True)
    for name in _OPTIONAL:
        values = getattr(block, name, None)
        if values is not None:
            columns[name] = values
    return pa.RecordBatch.from_pydict(columns)


def numbers_of(batch: pa.RecordBatch, name: str) -> Any:
    """Return a column as an array that shares its memory."""
    return batch.column(name).to_numpy()


def filter_column(filters: Filters) -> pa.Array:
    """Return filters as lists of words."""
    import pyarrow as pa

    return pa.LargeListArray.from_arrays(pa.array(filters.offsets), pa.array(filters.words))


def take_filters(filters: Filters, rows: Int64s) -> Filters:
    """Return the filters of some documents."""
    import pyarrow as pa

    taken = filter_column(filters).take(pa.array(rows))
    return Filters(taken.values.to_numpy(), taken.offsets.to_numpy(), filters.sizes[rows])


def filters_of(batch: pa.RecordBatch) -> Filters | None:
    """Return the filters of a batch, None if it has none."""
    if "filter" not in batch.schema.names:
        return None
    column = batch.column("filter")
    offsets: Int64s = column.offsets.to_numpy()
    return Filters(column.values.to_numpy(), offsets, numbers_of(batch, "filter_sizes"))
