"""Rows of sources as documents for an index: read, looked at, signed and packed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.documents import blocks
from neardup.documents.queries import Queries, join_queries, make_queries, sets_of_texts
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import check_kept, reason_of
from neardup.errors import InvalidInputError
from neardup.files.ids import as_text, hash_ids, join_ids
from neardup.files.passes import ReadingPass
from neardup.files.problems import listed_names
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.index.changes import RowPlaces
from neardup.matching.join import cut_runs
from neardup.reading.sign import SLICE_BYTES, WEIGHTED_SLICE_BYTES
from neardup.tables import (
    Bools,
    Filters,
    Int64s,
    ShingleSets,
    Texts,
    Uint64s,
    WeightedSets,
    places_of_lists,
)

# Documents as they are put into an index: signed, and packed into blocks.

_32 = np.uint64(32)


class PackedBlock(NamedTuple):
    """A block, compressed, with the numbers of rows and bytes that it has."""

    data: bytes
    n_rows: int
    raw_size: int


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
    packed: list[PackedBlock]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Contents:
    """What is kept of some documents: their texts, or their sets where a text is null."""

    ids: pa.Array
    texts: pa.Array
    columns: pa.Table | None = None

    def take(self, rows: Int64s) -> Contents:
        """Return those of some of the documents."""
        places = pa.array(rows)
        columns = None if self.columns is None else self.columns.take(places)
        return Contents(self.ids.take(places), self.texts.take(places), columns)


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
    packed = pack_cells(cells_of_rows(texts, queries), contents.columns)
    return DocumentBatch(ids, queries.n_tokens, queries.digests, queries.filters, lists, packed)


def cells_of_rows(texts: pa.Array, queries: Queries) -> list[Texts]:
    """Return the columns of ``blocks`` of some documents; of those without a text their sets."""
    n = len(texts)
    is_null = texts.is_null().to_numpy(zero_copy_only=False)
    cells = [Texts.from_arrow(texts), *_cells_of_sets(queries.sets, is_null)]
    states = np.where(is_null, blocks.OF_SET, blocks.OF_TEXT).astype(np.uint8)
    return [*cells, blocks.cells_of(states, n), blocks.cells_of(queries.n_tokens, n)]


def pack_cells(cells: Sequence[Texts], columns: pa.Table | None) -> list[PackedBlock]:
    """Cut rows into blocks by the sizes of their cells, and pack these."""
    sizes: Int64s = np.sum([np.diff(column.offsets) for column in cells], axis=0)
    packed = []
    for start, stop in cut_runs(sizes, blocks.BLOCK_BYTES):
        own = [Texts(cell.data, cell.offsets[start : stop + 1]) for cell in cells]
        more = None if columns is None else columns.slice(start, stop - start)
        data, raw_size = blocks.pack(own, more)
        packed.append(PackedBlock(data, stop - start, raw_size))
    return packed


def _cells_of_sets(sets: ShingleSets | WeightedSets | None, is_wanted: Bools) -> list[Texts]:
    """Return values and weights of the sets of those rows that have no text, as bytes."""
    n = len(is_wanted)
    nothing = Texts(np.empty(0, np.uint8), np.zeros(n + 1, np.int64))
    if not is_wanted.any():
        return [nothing, nothing]
    assert sets is not None
    sizes = np.where(is_wanted, sets.sizes, 0)
    places, offsets = places_of_lists(sets.starts, sizes)
    values = Texts(sets.values[places].view(np.uint8), 8 * offsets)
    if not isinstance(sets, WeightedSets):
        return [values, nothing]
    return [values, Texts(sets.weights[places].view(np.uint8), 8 * offsets)]


class DeniedDocument(NamedTuple):
    """A document that was left out, and the denied one that it is or, by estimate, is similar to.

    ``exact``: it has the same tokens; else ``similarity`` is an estimate.
    """

    id: str | int
    denied_id: str
    similarity: float
    exact: bool
    file: str
    row: int


# Which of some texts are denied, by the ids of which documents; similarities; whether for certain.
Deny = Callable[[Queries], tuple[Int64s, list[str], list[float], list[bool]]]


@dataclass(frozen=True)
class ReadDocuments:
    """Documents of a block, in the order of their rows, which ``numbers`` are.

    ``skipped`` rows are none, and ``denied`` were left out.
    """

    source: str
    numbers: Int64s
    batch: DocumentBatch
    skipped: list[tuple[str, int, str]] = field(default_factory=list)
    denied: list[DeniedDocument] = field(default_factory=list)

    @property
    def places(self) -> RowPlaces:
        """The rows of the documents."""
        return RowPlaces(((self.source, len(self.numbers)),), self.numbers)


def read_documents(
    sources: Sequence[Source],
    columns: ColumnNames,
    scheme: DocumentScheme,
    reading: ReadingPass,
    *,
    skip_bad: bool = False,
    deny: Deny | None = None,
) -> Iterator[ReadDocuments]:
    """Read all documents of sources, block by block, in threads; those to ``deny`` are left out."""

    def read(source: Source, block: RowBlock) -> ReadDocuments:
        return read_block(source, block, columns, scheme, skip_bad=skip_bad, deny=deny)

    for _, documents in reading.map(read, sources):
        yield documents


def read_block(
    source: Source,
    block: RowBlock,
    columns: ColumnNames,
    scheme: DocumentScheme,
    *,
    skip_bad: bool = False,
    select: Bools | None = None,
    queries: Queries | None = None,
    deny: Deny | None = None,
) -> ReadDocuments:
    """Read the documents of a block, or of those rows that are selected.

    ``queries`` are what an index needs to know of them, where that has been worked out. What there
    is to ``deny`` is left out.
    """
    parsed = block.parse(columns, select=select, skip_bad=skip_bad)
    numbers = block.numbers if select is None else block.numbers[select]
    more = user_columns(source, block, scheme.columns, select)
    texts, ids = parsed.text, parsed.id
    if texts.null_count:
        is_good = texts.is_valid()
        texts, numbers = texts.filter(is_good), numbers[is_good.to_numpy(zero_copy_only=False)]
        ids = None if ids is None else ids.filter(is_good)
        more = None if more is None else more.filter(is_good)
    ids = source.default_ids(numbers) if ids is None else ids
    contents = Contents(join_ids([ids]), texts.cast(pa.large_string()), more)
    in_index = scheme.shingles.tokenizer.texts_in_index
    if queries is None:
        indexed = in_index(contents.texts, contents.ids, block.language)
        queries = queries_of_texts(indexed, scheme, with_sets=not scheme.with_text)
    elif not scheme.with_text:
        indexed = in_index(contents.texts, contents.ids, block.language)
        queries = replace(queries, sets=sets_of_texts(indexed, scheme))
    denied: list[DeniedDocument] = []
    if deny is not None:
        rows, *found = deny(queries)
        own = contents.ids.take(pa.array(rows)).to_pylist(), *found, numbers[rows].tolist()
        denied = [
            DeniedDocument(identifier, denied_id, similarity, exact, source.name, row)
            for identifier, denied_id, similarity, exact, row in zip(*own, strict=True)
        ]
        rest = np.delete(np.arange(len(numbers)), rows)
        contents, queries, numbers = contents.take(rest), queries.take(rest), numbers[rest]
    batch = make_batch(contents, queries, scheme)
    skipped = [(source.name, row, reason) for row, reason in parsed.skipped]
    return ReadDocuments(source.name, numbers, batch, skipped, denied)


def queries_of_texts(texts: Texts, scheme: DocumentScheme, *, with_sets: bool = True) -> Queries:
    """Work out what an index needs to know of texts, some at a time, as caches like it."""
    slice_bytes = WEIGHTED_SLICE_BYTES if scheme.weighted else SLICE_BYTES
    parts = [
        make_queries(scheme.shingles.tokenizer.hash_tokens(part), scheme, with_sets=with_sets)
        for part in texts.slices(slice_bytes)
    ]
    return parts[0] if len(parts) == 1 else join_queries(parts)


def user_columns(
    source: Source, block: RowBlock, names: Sequence[str], select: Bools | None
) -> pa.Table | None:
    """Return the columns of the user's that an index keeps, None if it keeps none."""
    if not names:
        return None
    table = block.some_columns(names, select)
    for name in names:
        if name not in table.column_names:
            found = listed_names(name, source.listed_names())
            message = f"there is no column {name!r}, which the index keeps; there are {found}"
            raise InvalidInputError(message, path=source.name)
        try:
            check_kept(table.select([name]))
        except pa.ArrowException as error:
            message = f"column {name!r} cannot be kept in an index: {reason_of(error)}"
            raise InvalidInputError(message, path=source.name) from None
    return table
