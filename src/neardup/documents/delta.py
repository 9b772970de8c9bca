"""Pending and denied documents of an index, in memory.

A commit of a few documents writes a database row that each reader loads into memory.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.queries import Found, Queries, Sought, join_queries
from neardup.documents.records import (
    digests_in,
    make_gone,
    make_records,
    sets_of_indexed,
    signatures_in,
    user_columns_of,
    with_signatures,
)
from neardup.documents.scheme import DocumentScheme
from neardup.documents.segment import DocumentSegment
from neardup.documents.values import Id, IdRange, as_cells, as_texts, ids_of_values, join_cells
from neardup.index.segments import pack_table, unpack_table
from neardup.tables import Filters, Int64s, ShingleSets, Texts, Uint64s, WeightedSets

_32 = np.uint64(32)
# More texts than that are compared with all keys at once before they are looked up.
_FEW = 32


class Delta:
    """Documents in memory, found like documents of a segment.

    For one thread at a time. Documents are only ever appended, so a ``fixed`` copy does not change
    and is safe for any number of threads.
    """

    def __init__(self, scheme: DocumentScheme) -> None:
        self.scheme = scheme
        self.n_documents = self.n_gone = self.n_tokens = self.n_bytes = 0
        self._id_range = IdRange()
        self._rows: dict[str, int] = {}
        self._ids: list[Id] = []
        self._texts: list[str] = []
        # The user's columns of each document, as a table of one row.
        self._cells: list[pa.Table] = []
        # The signatures of each document: a part, and the place there.
        self._signed: list[tuple[Queries, int]] = []
        self._rows_of_keys: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._rows_of_digests: dict[bytes, list[int]] = defaultdict(list)
        # Documents that were left out: ids, kept ids, digests, similarities.
        self._gone: list[tuple[Id, str, Uint64s, float]] = []
        self._rows_of_gone: dict[bytes, list[int]] = defaultdict(list)

    @property
    def id_type(self) -> pa.DataType:
        """The type of the ids."""
        return self._id_range.type

    def __len__(self) -> int:
        return self.n_documents

    def fixed(self) -> Delta:
        """Return a copy that does not grow."""
        return copy.copy(self)

    def add(self, identifier: Id, text: str, columns: dict[str, Any], queries: Queries) -> None:
        """Append a signed document with a new id."""
        cells = as_cells(identifier, columns, self.scheme.columns)
        self._append(identifier, text, cells, (replace(queries, sets=None), 0))

    def _append(
        self, identifier: Id, text: str, cells: pa.Table, signed: tuple[Queries, int]
    ) -> None:
        row, (queries, place) = self.n_documents, signed
        self._rows[str(identifier)] = row
        self._ids.append(identifier)
        self._id_range = self._id_range.with_id(identifier)
        self._texts.append(text)
        self._cells.append(cells)
        self._signed.append(signed)
        if queries.n_tokens[place] > 0:
            self._rows_of_digests[queries.digests[place].tobytes()].append(row)
            for band, key in enumerate((queries.keys[place] >> _32).tolist()):
                self._rows_of_keys[band, key].append(row)
        self.n_bytes += len(text) + cells.nbytes
        self.n_tokens += int(queries.n_tokens[place])
        self.n_documents += 1

    def went(self, identifier: Id, kept_id: str, digest: Uint64s, similarity: float) -> None:
        """Record that a document is left out for its keeper."""
        self._gone.append((identifier, kept_id, digest, similarity))
        self._rows_of_gone[digest.tobytes()].append(self.n_gone)
        self.n_gone += 1

    def pack(self) -> list[bytes]:
        """Return all documents as rows of the database."""
        packed = []
        for rows, records in self.runs(np.arange(self.n_documents)):
            ids = [self._ids[row] for row in rows.tolist()]
            packed.append(pack_table(with_signatures(records, ids, self.signed(rows))))
        return packed + [pack_table(gone) for gone in self.gone_tables()]

    def take_packed(self, data: bytes) -> None:
        """Append the documents of a row of the database."""
        table = unpack_table(data)
        if "kept_id" in table.column_names:
            names = table["id"].to_pylist(), table["kept_id"].to_pylist()
            similarities = table["similarity"].to_pylist()
            for gone in zip(*names, digests_in(table), similarities, strict=True):
                self.went(*gone)
            return
        queries = signatures_in(table)
        given = (table[name].to_pylist() for name in ("id", "is_number", "text"))
        user = user_columns_of(table, self.scheme.columns)
        for row, (name, is_number, text) in enumerate(zip(*given, strict=True)):
            cells = pa.table(
                {
                    column: values.slice(row, 1) if values[row].is_valid else pa.nulls(1)
                    for column, values in user.items()
                }
            )
            self._append(int(name) if is_number else name, text, cells, (queries, row))

    def find(self, sought: Sought) -> Found:
        """Find rows by band key, exact copies, and left-out copies."""
        candidates, copies, went = [], [], []
        of_keys, of_digests = self._rows_of_keys, self._rows_of_digests
        queries, n = sought.queries, self.n_documents
        wanted = np.flatnonzero(sought.is_wanted)
        if len(wanted) > _FEW:
            wanted = wanted[self._may_match(queries.take(wanted))]
        for query in wanted.tolist():
            keys = (queries.keys[query] >> _32).tolist()
            own = [of_keys[band, key] for band, key in enumerate(keys) if (band, key) in of_keys]
            rows = sorted({row for each in own for row in each if row < n})
            candidates += [(query, row) for row in rows]
            if sought.with_copies:
                digest = queries.digests[query].tobytes()
                copies += [(query, row) for row in of_digests.get(digest, ()) if row < n]
                gone = (row for row in self._rows_of_gone.get(digest, ()) if row < self.n_gone)
                went += [(query, self._gone[row][1], self._gone[row][3]) for row in gone]
        return Found(_pairs(candidates), _pairs(copies), went)

    def _may_match(self, queries: Queries) -> Any:
        """Mark the texts with a known key or digest."""
        keys = np.array([key for _, key in list(self._rows_of_keys)], np.uint64)
        digests = b"".join([*list(self._rows_of_digests), *list(self._rows_of_gone)])
        firsts = np.frombuffer(digests, np.uint64)[::2]
        has_key = np.isin(queries.keys >> _32, keys).any(axis=1)
        return has_key | np.isin(queries.digests[:, 0], firsts)

    def rows_of_ids(self, ids: pa.Array, _: Uint64s) -> tuple[Int64s, Int64s]:
        """Return matching numbers of ids and rows."""
        known = ((query, self._rows.get(name)) for query, name in enumerate(ids.to_pylist()))
        n = self.n_documents
        return _pairs([(query, row) for query, row in known if row is not None and row < n])

    def may_have_id(self, identifier: str, _: int) -> bool:
        """Return whether it has an id."""
        return self._rows.get(identifier, self.n_documents) < self.n_documents

    def digests_of(self, rows: Int64s) -> Uint64s:
        """Return the digests of some rows, of shape (n, 2)."""
        return self.signed(rows).digests

    def filters_of(self, rows: Int64s) -> Filters:
        """Return the filters of some rows."""
        filters = self.signed(rows).filters
        assert filters is not None
        return filters

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return the sets of some rows."""
        texts = Texts.from_arrow(as_texts([self._texts[row] for row in rows.tolist()]))
        found: ShingleSets | WeightedSets = sets_of_indexed(texts, self.ids_of(rows), self.scheme)
        return found

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of rows as large strings."""
        return pa.array([str(self._ids[row]) for row in rows.tolist()], pa.large_string())

    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""
        return str(self._ids[row])

    def records(self, rows: Int64s) -> Iterator[pa.Table]:
        """Yield the records of ascending rows."""
        return (records for _, records in self.runs(rows))

    def runs(self, rows: Int64s) -> Iterator[tuple[Int64s, pa.Table]]:
        """Yield parts of some rows with records of uniform types."""
        for start, stop, columns in join_cells([self._cells[row] for row in rows.tolist()]):
            own = rows[start:stop]
            texts = as_texts([self._texts[row] for row in own.tolist()])
            yield own, make_records(texts, columns)

    def signed(self, rows: Int64s) -> Queries:
        """Return the signatures of some rows."""
        signed = [self._signed[row] for row in rows.tolist()]
        # Neighbours of one part are taken together.
        parts: list[tuple[Queries, list[int]]] = []
        for part, place in signed:
            if not parts or parts[-1][0] is not part:
                parts.append((part, []))
            parts[-1][1].append(place)
        return join_queries(
            [
                part if len(places) == len(part) else part.take(np.array(places))
                for part, places in parts
            ]
        )

    def gone_tables(self) -> Iterator[pa.Table]:
        """Yield the documents that were left out for their keepers."""
        if self.n_gone:
            ids, kept_ids, digests, similarities = zip(*self._gone[: self.n_gone], strict=True)
            kept = pa.array(kept_ids, pa.large_string())
            yield make_gone(
                ids_of_values(ids), kept, np.stack(digests), np.array(similarities, np.float64)
            )


Searchable = DocumentSegment | Delta
"""Some documents that are looked up by their rows, which are numbered from 0."""


def _pairs(found: list[tuple[int, int]]) -> tuple[Int64s, Int64s]:
    if not found:
        return Found().copies
    pairs: Int64s = np.array(found, np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()
