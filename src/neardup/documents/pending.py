"""Documents in memory: those that wait for a commit, and those that wait for a segment.

A commit of a few documents writes a row of the database: the documents packed as a block,
with what was signed of it. Who opens the index takes them into memory again.
"""

from __future__ import annotations

import copy
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa

from neardup.documents import blocks
from neardup.documents.blocks import Block
from neardup.documents.queries import (
    Found,
    Queries,
    Sought,
    interleave,
    join_queries,
    join_sets,
    sets_of_cells,
    sets_of_texts,
)
from neardup.documents.reading import (
    Contents,
    DocumentBatch,
    cells_of_rows,
    make_batch,
    queries_of_texts,
)
from neardup.documents.scheme import DocumentScheme
from neardup.documents.segment import DocumentSegment, cells_of_gone, columns_of_gone
from neardup.documents.values import (
    Cells,
    Id,
    IdRange,
    as_cells,
    as_one_text,
    as_texts,
    ids_of_values,
    join_cells,
    reason_of,
    runs_of_cells,
)
from neardup.matching.sieve import join_filters
from neardup.tables import (
    Bools,
    Filters,
    Floats,
    Int64s,
    ShingleSets,
    Texts,
    Uint32s,
    Uint64s,
    WeightedSets,
)

T = TypeVar("T")

_32 = np.uint64(32)

# A packed part: what it holds, its size before compression, and its size.
_HEAD = struct.Struct("<qqq")
_OF_DOCUMENTS, _OF_GONE = 0, 1

# Columns of packed documents, behind those of ``blocks``.
_IDS, _ARE_NUMBERS, _DIGESTS, _KEYS, _WORDS, _SIZES = range(
    blocks.N_TOKENS + 1, blocks.N_TOKENS + 7
)


class Pending:
    """Documents in memory, which are found as those of a segment are; for one thread at a time.

    More are only ever put behind those that are there, so that what is ``fixed`` of them stays
    what it is, for any number of threads.
    """

    def __init__(self, scheme: DocumentScheme) -> None:
        self._scheme, self._in_index = scheme, scheme.shingles.tokenizer.texts_in_index
        # Of the documents, signed or not, the first are signed, and of these the first are found.
        self.n_documents = self._n_signed = self._n_listed = 0
        self.n_bytes = 0
        self._rows: dict[str, int] = {}
        self._ids: list[Id] = []
        self._id_range = IdRange()
        self._texts: list[str | None] = []
        self._cells: list[Cells] = []
        self._parts: list[Queries] = []
        # Of each document, the part that it was signed in, and its place there.
        self._signed: list[tuple[Queries, int]] = []
        self._joined: tuple[int, Queries] | None = None
        # Sets of documents that have no text; those of texts are made when they are asked for.
        self._sets: dict[int, ShingleSets | WeightedSets] = {}
        self._rows_of_keys: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._rows_of_digests: dict[bytes, list[int]] = defaultdict(list)
        # Documents that went for others: ids, kept ids, digests, similarities.
        self.n_gone = 0
        self._gone: list[tuple[Id, str, Uint64s, float]] = []
        self._rows_of_gone: dict[bytes, list[int]] = defaultdict(list)

    id_keys: ClassVar[None] = None
    """A segment has the keys of its ids here; ``may_have_id`` takes no longer."""

    @property
    def id_type(self) -> pa.DataType:
        """The type of the ids."""
        return self._id_range.type

    def __len__(self) -> int:
        return self._n_signed

    def __contains__(self, identifier: Id) -> bool:
        """Whether a document has an id."""
        return self.may_have_id(str(identifier), 0)

    @property
    def n_tokens(self) -> int:
        """Count the tokens of the documents that are signed."""
        return sum(int(part.n_tokens[place]) for part, place in self._signed[: self._n_signed])

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.n_documents or self.n_gone)

    def fixed(self) -> Pending:
        """Return what is there now: it stays so, while more may be put behind it here."""
        self.prepare()
        return copy.copy(self)

    def add(
        self,
        identifier: Id,
        text: str | None,
        columns: dict[str, Any],
        queries: Queries | None = None,
    ) -> None:
        """Take a document, whose id is new.

        ``queries`` are what is known of it already; a text is signed when that is needed.
        """
        if queries is None and text is not None:
            as_one_text(text)
        cells = as_cells(identifier, columns, self._scheme.columns)
        # So that it is not read from here and missing from the files.
        text = text if self._scheme.with_text else None
        if queries is None:
            self._append(identifier, text, cells, None)
            return
        self.sign()
        self._take(replace(queries, sets=None))
        self._append(identifier, text, cells, queries.sets if text is None else None)

    def _append(
        self,
        identifier: Id,
        text: str | None,
        cells: Cells,
        sets: ShingleSets | WeightedSets | None,
    ) -> None:
        row = self.n_documents
        if sets is not None:
            self._sets[row] = sets
            self.n_bytes += 8 * int(sets.sizes.sum())
        self._rows[str(identifier)] = row
        self._ids.append(identifier)
        self._id_range = self._id_range.with_id(identifier)
        self._texts.append(text)
        self._cells.append(cells)
        self.n_bytes += len(text or "") + sum(cell.nbytes for cell in cells)
        self.n_documents += 1

    def went(self, identifier: Id, kept_id: str, digest: Uint64s, similarity: float) -> None:
        """Note that a document went for another one."""
        self._gone.append((identifier, kept_id, digest, similarity))
        self._rows_of_gone[digest.tobytes()].append(self.n_gone)
        self.n_gone += 1

    def sign(self) -> None:
        """Sign the documents that were not signed yet."""
        waiting = self._texts[self._n_signed : self.n_documents]
        if waiting:
            rows = np.arange(self._n_signed, self.n_documents)
            texts = self._in_index(as_texts(waiting), self.ids_of(rows))
            queries = queries_of_texts(texts, self._scheme, with_sets=False)
            # Weighted ones are made in any case.
            self._take(replace(queries, sets=None))

    def prepare(self) -> None:
        """Sign all documents, and have them found by their keys.

        After that any number of threads may look them up, until the next is taken.
        """
        self.sign()
        for row in range(self._n_listed, self._n_signed):
            part, place = self._signed[row]
            if part.n_tokens[place] > 0:
                self._rows_of_digests[part.digests[place].tobytes()].append(row)
                for band, key in enumerate((part.keys[place] >> _32).tolist()):
                    self._rows_of_keys[band, key].append(row)
        self._n_listed = self._n_signed

    # What is written of them.

    def batches(self, unwritable: list[tuple[Id, str]]) -> Iterator[DocumentBatch]:
        """Return all documents as an index takes them.

        Those that cannot be written, for some reason that nobody has thought of, are listed, with
        why; the others are.
        """
        return self._made(self._batch, unwritable)

    def gone(self) -> tuple[pa.Array, pa.Array, Uint64s, Floats] | None:
        """Return ids, kept ids, digests and similarities of what went for others, if anything."""
        if not self.n_gone:
            return None
        ids, kept_ids, digests, similarities = zip(*self._gone[: self.n_gone], strict=True)
        kept = pa.array(kept_ids, pa.large_string())
        return ids_of_values(ids), kept, np.stack(digests), np.array(similarities)

    def pack(self, unwritable: list[tuple[Id, str]]) -> bytes:
        """Return all documents as a row of the database keeps them; see ``batches``."""
        made = self._made(self._packed_rows, unwritable)
        parts = [_packed(_OF_DOCUMENTS, *packed) for packed in made]
        gone = self.gone()
        if gone is not None:
            parts.append(_packed(_OF_GONE, *blocks.pack(cells_of_gone(*gone), None)))
        return b"".join(parts)

    def take_packed(self, data: bytes) -> None:
        """Take what ``pack`` has made, behind what is there."""
        place = 0
        while place < len(data):
            kind, raw_size, size = _HEAD.unpack_from(data, place)
            place += _HEAD.size
            block = blocks.unpack(memoryview(data)[place : place + size], raw_size)
            place += size
            if kind == _OF_DOCUMENTS:
                self._take_block(block)
                continue
            ids, kept_ids, digests, similarities = columns_of_gone(block)
            names = ids.to_pylist(), kept_ids.to_pylist()
            for gone in zip(*names, digests, similarities.tolist(), strict=True):
                self.went(*gone)

    def _made(self, make: Callable[[int, int], T], unwritable: list[tuple[Id, str]]) -> Iterator[T]:
        """Make something of all rows: of many at once, unless one is in the way of the others."""
        self.sign()
        waiting = [*runs_of_cells(self._cells[: self.n_documents])][::-1]
        while waiting:
            start, stop = waiting.pop()
            try:
                made = make(start, stop)
            except MemoryError:
                raise
            except Exception as error:
                middle = (start + stop) // 2
                if middle == start:
                    unwritable.append((self._ids[start], reason_of(error)))
                else:
                    waiting += ((middle, stop), (start, middle))
            else:
                yield made

    def _batch(self, start: int, stop: int) -> DocumentBatch:
        contents = Contents(
            ids_of_values(self._ids[start:stop]),
            as_texts(self._texts[start:stop]),
            self._user_columns(start, stop),
        )
        return make_batch(contents, self._signed_rows(start, stop), self._scheme)

    def _packed_rows(self, start: int, stop: int) -> tuple[bytes, int]:
        n, queries = stop - start, self._signed_rows(start, stop)
        ids = self._ids[start:stop]
        are_numbers = np.array([not isinstance(each, str) for each in ids], np.uint8)
        cells = cells_of_rows(as_texts(self._texts[start:stop]), queries)
        cells += [
            Texts.from_arrow(pa.array(list(map(str, ids)), pa.large_string())),
            blocks.cells_of(are_numbers, n),
            blocks.cells_of(queries.digests, n),
            # All that is looked up of keys.
            blocks.cells_of((queries.keys >> _32).astype(np.uint32), n),
        ]
        filters = queries.filters
        if filters is not None:
            cells.append(Texts(filters.words.view(np.uint8), 8 * filters.offsets))
            cells.append(blocks.cells_of(filters.sizes, n))
        return blocks.pack(cells, self._user_columns(start, stop))

    def _take_block(self, block: Block) -> None:
        n = len(block)
        ids = block.column(_IDS).to_arrow().to_pylist()
        texts = block.column(blocks.TEXTS).to_arrow().to_pylist()
        are_numbers = block.column(_ARE_NUMBERS).data.tolist()
        high: Uint32s = block.column(_KEYS).data.view(np.uint32).reshape(n, -1)
        filters = None
        if self._scheme.has_filters:
            words = block.column(_WORDS)
            sizes: Int64s = block.column(_SIZES).data.view(np.int64)
            filters = Filters(words.data.view(np.uint64), words.offsets // 8, sizes)
        digests: Uint64s = block.column(_DIGESTS).data.view(np.uint64).reshape(n, 2)
        keys = high.astype(np.uint64) << _32
        self._take(Queries(block.n_tokens, digests, keys, filters, None))
        user = block.user_columns
        columns = [] if user is None else [column.combine_chunks() for column in user.columns]
        sets = None
        for row in range(n):
            cells = tuple(
                column.slice(row, 1) if column[row].is_valid else pa.nulls(1) for column in columns
            )
            own = None
            if not block.is_text(row):
                if sets is None:
                    stored = block.column(blocks.SETS), block.column(blocks.WEIGHTS)
                    sets = sets_of_cells(*stored, self._scheme)
                own = sets.take(np.array([row]))
            identifier = int(ids[row]) if are_numbers[row] else ids[row]
            self._append(identifier, texts[row] if own is None else None, cells, own)

    # What is looked up in them.

    def find(self, sought: Sought) -> Found:
        """Find what texts share a band key with, and what is here, or went, with their digests."""
        self.prepare()
        candidates, copies, went = [], [], []
        of_keys, of_digests = self._rows_of_keys, self._rows_of_digests
        n = self._n_signed
        for query in np.flatnonzero(sought.is_wanted).tolist():
            keys = (sought.queries.keys[query] >> _32).tolist()
            own = [of_keys[band, key] for band, key in enumerate(keys) if (band, key) in of_keys]
            rows = sorted({row for each in own for row in each if row < n})
            candidates += [(query, row) for row in rows]
            if sought.with_copies:
                digest = sought.queries.digests[query].tobytes()
                copies += [(query, row) for row in of_digests.get(digest, ()) if row < n]
                gone = (row for row in self._rows_of_gone.get(digest, ()) if row < self.n_gone)
                went += [(query, self._gone[row][1], self._gone[row][3]) for row in gone]
        return Found(_pairs(candidates), _pairs(copies), went)

    def rows_of_ids(self, ids: pa.Array, _: Uint64s) -> tuple[Int64s, Int64s]:
        """Return which ids which rows have."""
        known = ((query, self._rows.get(name)) for query, name in enumerate(ids.to_pylist()))
        n = self.n_documents
        return _pairs([(query, row) for query, row in known if row is not None and row < n])

    def may_have_id(self, identifier: str, _: int) -> bool:
        """Return whether it has an id."""
        return self._rows.get(identifier, self.n_documents) < self.n_documents

    def digests_of(self, rows: Int64s) -> Uint64s:
        """Return the digests of some rows, of shape (n, 2)."""
        signed = (self._signed[row] for row in rows.tolist())
        digests: Uint64s = np.array([part.digests[place] for part, place in signed], np.uint64)
        return digests.reshape(-1, 2)

    def filters_of(self, rows: Int64s) -> Filters:
        """Return the filters of some rows."""
        found = []
        for row in rows.tolist():
            part, place = self._signed[row]
            filters = part.filters
            assert filters is not None
            cells = blocks.take_cells_of(filters.words, filters.offsets, np.array([place]))
            found.append(Filters(*cells, filters.sizes[place : place + 1]))
        return join_filters(found)

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return what the measure compares of some rows."""
        wanted = rows.tolist()
        own = [self._sets[row] for row in wanted if row in self._sets]
        with_text = np.array([row for row in wanted if row not in self._sets], np.int64)
        texts = as_texts([self._texts[row] for row in with_text.tolist()])
        found = sets_of_texts(self._in_index(texts, self.ids_of(with_text)), self._scheme)
        if not own:
            return found
        is_text: Bools = np.array([row not in self._sets for row in wanted])
        return interleave(found, reduce(join_sets, own), is_text)

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of some rows, in any order, as large strings."""
        return pa.array([str(self._ids[row]) for row in rows.tolist()], pa.large_string())

    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""
        return str(self._ids[row])

    def block_of(self, row: int) -> tuple[Block, int]:
        """Return a block of one row."""
        texts = as_texts(self._texts[row : row + 1])
        queries = self._signed_rows(row, row + 1)
        packed = blocks.pack(cells_of_rows(texts, queries), self._user_columns(row, row + 1))
        return blocks.unpack(*packed), 0

    def _take(self, queries: Queries) -> None:
        self._parts.append(queries)
        self._signed += ((queries, place) for place in range(len(queries)))
        self._n_signed += len(queries)

    def _signed_rows(self, start: int, stop: int) -> Queries:
        """Return what was signed of some rows, which all are, with sets where there is no text."""
        joined = self._joined
        if joined is None or joined[0] != len(self._parts):
            parts = list(self._parts)
            joined = self._joined = (len(parts), join_queries(parts))
        rows = np.arange(start, stop)
        queries = joined[1] if stop - start == len(joined[1]) else joined[1].take(rows)
        if any(row in self._sets for row in rows.tolist()):
            queries = replace(queries, sets=self.sets_of(rows))
        return queries

    def _user_columns(self, start: int, stop: int) -> pa.Table | None:
        names = self._scheme.columns
        return join_cells(self._cells[start:stop], names) if names else None


Searchable = DocumentSegment | Pending
"""Some documents that are looked up by their rows, which are numbered from 0."""


def _packed(kind: int, data: bytes, raw_size: int) -> bytes:
    return _HEAD.pack(kind, raw_size, len(data)) + data


def _pairs(found: list[tuple[int, int]]) -> tuple[Int64s, Int64s]:
    if not found:
        return Found().copies
    pairs: Int64s = np.array(found, np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()
