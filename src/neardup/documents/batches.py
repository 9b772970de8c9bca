"""Documents as they are put into an index: signed, and packed into blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from neardup.documents import blocks
from neardup.documents.queries import Queries
from neardup.documents.scheme import DocumentScheme
from neardup.files.ids import as_text
from neardup.storage.ids import hash_ids
from neardup.tables import Bools, Filters, Int64s, ShingleSets, Texts, Uint64s, WeightedSets

_32 = np.uint64(32)


@dataclass(frozen=True)
class PackedBlocks:
    """Blocks, compressed, with the numbers of rows and bytes that each of them has."""

    data: list[bytes] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    raw_sizes: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class DocumentBatch:
    """Some documents, ready to be written.

    ``ids`` are large strings or integers. ``lists`` has for each list of a segment the keys of its
    entries, of 32 bits, and the rows that they are of.
    """

    ids: pa.Array
    n_tokens: Int64s
    digests: Uint64s
    filters: Filters | None
    lists: list[tuple[Uint64s, Int64s]]
    packed: PackedBlocks

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Contents:
    """What is kept of some documents: their texts, or their sets where a text is null."""

    ids: pa.Array
    texts: pa.Array
    columns: pa.Table | None = None


def make_batch(contents: Contents, queries: Queries, scheme: DocumentScheme) -> DocumentBatch:
    """Sign and pack some documents.

    ``queries`` need sets where a document has no text, or the index keeps none.
    """
    ids = contents.ids
    texts = contents.texts if scheme.with_text else pa.nulls(len(ids), pa.large_string())
    rows = np.arange(len(ids), dtype=np.int64)
    filled = np.flatnonzero(queries.is_filled)
    lists = [(keys >> _32, filled) for keys in queries.keys[filled].T]
    lists.append((queries.digests[filled, 0] >> _32, filled))
    lists.append((hash_ids(as_text(ids)) >> _32, rows))
    packed = pack_rows(ids, texts, contents.columns, queries)
    return DocumentBatch(ids, queries.n_tokens, queries.digests, queries.filters, lists, packed)


def pack_rows(
    ids: pa.Array,
    texts: pa.Array,
    columns: pa.Table | None,
    queries: Queries,
) -> PackedBlocks:
    """Pack what is kept of some documents; of those without a text their sets."""
    is_null = texts.is_null().to_numpy(zero_copy_only=False)
    cells = [Texts.from_arrow(as_text(ids)), Texts.from_arrow(texts)]
    cells += _cells_of_sets(queries.sets, is_null)
    states = np.where(is_null, blocks.OF_SET, blocks.OF_TEXT).astype(np.uint8)
    cells += (blocks.cells_of(states, len(ids)), blocks.cells_of(queries.n_tokens, len(ids)))
    return pack_cells(cells, columns)


def pack_cells(cells: Sequence[Texts], columns: pa.Table | None) -> PackedBlocks:
    """Cut rows into blocks by the sizes of their cells, and pack these."""
    sizes: Int64s = np.sum([np.diff(column.offsets) for column in cells], axis=0)
    bounds = blocks.cut(sizes)
    packed = PackedBlocks()
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        own = [Texts(cell.data, cell.offsets[start : stop + 1]) for cell in cells]
        more = None if columns is None else columns.slice(start, stop - start)
        data, raw_size = blocks.pack(own, more)
        packed.data.append(data)
        packed.n_rows.append(stop - start)
        packed.raw_sizes.append(raw_size)
    return packed


def _cells_of_sets(sets: ShingleSets | WeightedSets | None, is_wanted: Bools) -> list[Texts]:
    """Return values and weights of the sets of those rows that have no text, as bytes."""
    n = len(is_wanted)
    nothing = Texts(np.empty(0, np.uint8), np.zeros(n + 1, np.int64))
    if not is_wanted.any():
        return [nothing, nothing]
    assert sets is not None
    sizes = np.where(is_wanted, sets.sizes, 0)
    offsets: Int64s = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.repeat(sets.starts - offsets[:-1], sizes) + np.arange(offsets[-1])
    values = Texts(sets.values[places].view(np.uint8), 8 * offsets)
    if not isinstance(sets, WeightedSets):
        return [values, nothing]
    return [values, Texts(sets.weights[places].view(np.uint8), 8 * offsets)]
