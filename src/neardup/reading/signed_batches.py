"""Signed documents as columns, stored until they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, Place, RowBlock, Source
from neardup.matching.join import salt
from neardup.reading.column_values import NO_KEY
from neardup.reading.sign import ListedBlock, ReadingPlan, SignedBlock
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.tables import (
    Bools,
    Digests,
    EarlierKeepers,
    Filters,
    Int64s,
    Texts,
    TokenLists,
    Uint64s,
)
from neardup.text.weighting import DocumentFrequencies, count_documents, frequency_lists

if TYPE_CHECKING:
    import pyarrow as pa

_DIGESTS = ("digest_low", "digest_high")
_EARLIER = [f"earlier_{field.name}" for field in fields(EarlierKeepers)]
_BLOCKING = "blocking_keys"
_PLACES = ("row_starts", "row_ends")
_OPTIONAL = ("lengths", "order", "ids", _BLOCKING)


class SignedBatches:
    """Batches of signed documents of some collections, numbered from 0.

    Columns of a batch: ``numbers``, ``n_tokens``, digests, band keys, filters, earlier keepers from
    an index, ``row_starts`` and ``row_ends`` if rows can be read again from there, and ``lengths``,
    ``order``, ``ids`` and ``blocking_keys`` if they are needed. With blocking keys, digests and
    band keys combine a document with its blocking key, so that documents with different ones never
    match, whatever their texts.
    """

    def __init__(self, n_bands: int, collections: Iterable[SpilledBatches] = ()) -> None:
        self.n_bands = n_bands
        self._collections = list(collections)

    def add(self, batches: SpilledBatches) -> None:
        """Add a complete collection."""
        self._collections.append(batches)

    @property
    def of_last(self) -> SignedBatches:
        """Documents of the last collection, numbered from 0."""
        return SignedBatches(self.n_bands, self._collections[-1:])

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

    def facts(self) -> Iterator[Any]:
        """Yield the plain values of each block."""
        return (known for batches in self._collections for _, known in batches.known())

    def digests(self) -> Iterator[tuple[int, Digests]]:
        """Yield each batch's digests with the number of their first document."""
        for start, batch in self:
            yield start, digests_of(batch)

    def band(self, band: int) -> Iterator[tuple[int, Uint64s]]:
        """Yield each batch's keys of one band with the number of their first document."""
        for start, batch in self:
            yield start, within_block(batch, f"key_{band}")

    def blocking_keys(self) -> Uint64s | None:
        """Return the blocking keys of all documents, 0 for none; None without blocking."""
        parts = [numbers_of(batch, _BLOCKING) for _, batch in self if _has_keys(batch)]
        return np.concatenate(parts) if parts else None

    def earlier(self) -> Iterator[tuple[int, EarlierKeepers]]:
        """Yield each batch's earlier keepers, if an index was searched."""
        for start, batch in self:
            if _EARLIER[0] in batch.schema.names:
                columns = (batch.column(name) for name in _EARLIER)
                # Flags are bits in a batch.
                yield (
                    start,
                    EarlierKeepers(*(each.to_numpy(zero_copy_only=False) for each in columns)),
                )


def digests_of(batch: pa.RecordBatch) -> Digests:
    """Return the digests of a batch's documents, each with its blocking key."""
    pairs = np.column_stack([within_block(batch, name) for name in _DIGESTS])
    return Digests(pairs, (numbers_of(batch, "n_tokens") > 0) & _has_block(batch))


def _has_keys(batch: pa.RecordBatch) -> bool:
    return _BLOCKING in batch.schema.names


def within_block(batch: pa.RecordBatch, name: str) -> Uint64s:
    """Combine hashes with the blocking keys."""
    values: Uint64s = numbers_of(batch, name)
    return salt(values, numbers_of(batch, _BLOCKING)) if _has_keys(batch) else values


def _has_block(batch: pa.RecordBatch) -> Bools:
    """Return a mask of compared documents: with blocking, documents that have a key."""
    if not _has_keys(batch):
        return np.ones(len(batch), np.bool_)
    has_one: Bools = numbers_of(batch, _BLOCKING) != NO_KEY
    return has_one


def to_batch(
    block: ListedBlock, *, with_sketches: bool = True, with_digests: bool = True
) -> pa.RecordBatch:
    """Return a block's columns; keys are stored band by band, as they are read.

    Without sketches and digests, they are only the facts about each document.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {"numbers": block.numbers, "n_tokens": block.n_tokens}
    if isinstance(block, SignedBlock):
        if with_digests:
            columns |= zip(_DIGESTS, block.digests.values.T.copy(), strict=True)
        if with_sketches:
            columns |= {f"key_{band}": keys for band, keys in enumerate(block.keys.T.copy())}
        if with_sketches and block.filters is not None:
            columns["filter"] = filter_column(block.filters)
            columns["filter_sizes"] = block.filters.sizes
        if block.earlier is not None:
            columns |= zip(_EARLIER, vars(block.earlier).values(), strict=True)
    for name in _OPTIONAL:
        values = getattr(block, name, None)
        if values is not None:
            columns[name] = values
    return pa.RecordBatch.from_pydict({**columns, **block.columns})


def with_place(batch: pa.RecordBatch, place: Place | None) -> pa.RecordBatch:
    """Return a block's columns with the positions of its rows, if they are known."""
    import pyarrow as pa

    if place is None:
        return batch
    for name, values in zip(_PLACES, (place.starts, place.ends), strict=True):
        batch = batch.append_column(name, pa.array(values))
    return batch


def place_of(batch: pa.RecordBatch, offset: int | None) -> Place | None:
    """Return the positions of a batch's rows, within a piece of their file at an offset."""
    if offset is None:
        return None
    # Copies, because a column may be mapped from a file.
    return Place(offset, *(numbers_of(batch, name).copy() for name in _PLACES))


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


# The stage count: document frequencies of shingles.


ListTokens = Callable[[Source, RowBlock], TokenLists]
"""Lists the tokens of the documents of a block."""

Counted = Sequence[tuple[Sequence[Source], ListTokens]]
"""Collections of documents, each with its function that lists tokens."""


def count_tokens(stage: str, collections: Counted, runner: Runner) -> DocumentFrequencies:
    """Read all documents of some collections and count the document frequencies of tokens.

    Notes
    -----
    Memory 16 bytes per distinct token, and about twice that during the work.
    """
    every = [source for sources, _ in collections for source in sources]
    reading = ReadingPass(stage, every, runner)
    return count_documents(
        lists for sources, listing in collections for _, lists in reading.map(listing, sources)
    )


def counted_shingles(
    collections: Sequence[tuple[Sequence[Source], ColumnNames]], plan: ReadingPlan
) -> Counted:
    """Return collections for counting shingles, each read by its own columns."""
    return [
        (sources, partial(_list_shingles, replace(plan, columns=columns)))
        for sources, columns in collections
    ]


def _list_shingles(plan: ReadingPlan, _: Source, block: RowBlock) -> TokenLists:
    """List the shingles of a block's documents for counting, without skipped rows."""
    parsed = block.parse(plan.columns.only_text(), skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text.drop_null(), block.language)
    tokens = plan.shingles.tokenizer.hash_tokens(texts)
    return frequency_lists(tokens, plan.shingles)


def with_frequencies(plan: ReadingPlan, frequencies: DocumentFrequencies) -> ReadingPlan:
    """Return the plan of weighted sets with document frequencies in it."""
    assert plan.weighted is not None
    return replace(plan, weighted=replace(plan.weighted, frequencies=frequencies))
