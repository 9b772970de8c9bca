"""Pending documents of an index, in memory.

A commit of a few documents writes a database row that each reader loads into memory.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.queries import NO_PAIRS, Queries, join_queries, queries_of_texts
from neardup.documents.records import (
    Id,
    ids_of_values,
    join_rows,
    make_record,
    pack_pending,
    type_of_numbers,
    unpack_pending,
)
from neardup.documents.scheme import DocumentScheme
from neardup.tables import Filters, Int64s, ShingleSets, Uint64s, WeightedSets

_32 = np.uint64(32)
# If there are more texts, those without a known key are first left out, by one comparison for all.
_FEW = 32


class Delta:
    """Documents in memory, found like documents of a segment.

    For one thread at a time. Documents are only ever appended, so a ``fixed`` copy does not change
    and is safe for any number of threads.
    """

    def __init__(self, scheme: DocumentScheme) -> None:
        self.scheme = scheme
        self.n_documents = self.n_tokens = self.n_bytes = 0
        self._least_id = self._most_id = self._n_text_ids = 0
        self._rows: dict[str, int] = {}
        self._ids: list[Id] = []
        # Tables of one row, and signatures of one document.
        self._records: list[pa.Table] = []
        self._signed: list[Queries] = []
        self._rows_of_keys: dict[tuple[int, int], list[int]] = defaultdict(list)

    @property
    def id_type(self) -> pa.DataType:
        """The type of the ids."""
        if self._n_text_ids:
            return pa.large_string()
        return type_of_numbers(self._least_id, self._most_id)

    def __len__(self) -> int:
        return self.n_documents

    def fixed(self) -> Delta:
        """Return a copy that does not grow."""
        return copy.copy(self)

    def add(self, identifier: Id, text: str, columns: dict[str, Any], queries: Queries) -> None:
        """Append a signed document with a new id."""
        record = make_record(identifier, text, columns, self.scheme.columns)
        self._append(identifier, record, queries)

    def extend(self, other: Delta) -> None:
        """Append the documents of another delta."""
        for each in zip(other._ids, other._records, other._signed, strict=True):
            self._append(*each)

    def _append(self, identifier: Id, record: pa.Table, queries: Queries) -> None:
        row = self.n_documents
        if isinstance(identifier, str):
            self._n_text_ids += 1
        else:
            self._least_id = min(self._least_id, identifier)
            self._most_id = max(self._most_id, identifier)
        self._rows[str(identifier)] = row
        self._ids.append(identifier)
        self._records.append(record)
        self._signed.append(queries)
        if queries.n_tokens[0] > 0:
            for band, key in enumerate((queries.keys[0] >> _32).tolist()):
                self._rows_of_keys[band, key].append(row)
        self.n_bytes += record.nbytes
        self.n_tokens += int(queries.n_tokens[0])
        self.n_documents += 1

    def pack(self) -> list[bytes]:
        """Return all documents as rows of the database."""
        return [
            pack_pending([self._ids[row] for row in rows.tolist()], records)
            for rows, records in self.runs(np.arange(self.n_documents))
        ]

    def take_packed(self, data: bytes) -> None:
        """Sign and append the documents of a row of the database."""
        ids, records = unpack_pending(data)
        texts = pa.concat_arrays([record["text"].chunk(0) for record in records])
        tokenizer = self.scheme.shingles.tokenizer
        signed = queries_of_texts(tokenizer.texts_in_index(texts, ids_of_values(ids)), self.scheme)
        for row, (identifier, record) in enumerate(zip(ids, records, strict=True)):
            self._append(identifier, record, signed.take(np.array([row])))

    def find(self, queries: Queries) -> tuple[Int64s, Int64s]:
        """Return texts and rows with a common band key, in order."""
        of_keys, n = self._rows_of_keys, self.n_documents
        wanted = np.flatnonzero(queries.is_filled)
        if len(wanted) > _FEW:
            known = np.array([key for _, key in list(of_keys)], np.uint64)
            wanted = wanted[np.isin(queries.keys[wanted] >> _32, known).any(axis=1)]
        found: list[tuple[int, int]] = []
        for query in wanted.tolist():
            keys = enumerate((queries.keys[query] >> _32).tolist())
            rows = {row for key in keys if key in of_keys for row in of_keys[key] if row < n}
            found += ((query, row) for row in sorted(rows))
        return _pairs(found)

    def rows_of_ids(self, ids: pa.Array, _: Uint64s) -> tuple[Int64s, Int64s]:
        """Return matching numbers of ids and rows."""
        known = ((query, self._rows.get(name)) for query, name in enumerate(ids.to_pylist()))
        n = self.n_documents
        return _pairs([(query, row) for query, row in known if row is not None and row < n])

    def digests_of(self, rows: Int64s) -> Uint64s:
        """Return the digests of some rows, of shape (n, 2)."""
        return np.concatenate([self._signed[row].digests for row in rows.tolist()])

    def filters_of(self, rows: Int64s) -> Filters:
        """Return the filters of some rows."""
        filters = self.signed(rows).filters
        assert filters is not None
        return filters

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return the sets of some rows."""
        sets = self.signed(rows).sets
        assert sets is not None
        return sets

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of rows as large strings."""
        return pa.array([str(self._ids[row]) for row in rows.tolist()], pa.large_string())

    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""
        return str(self._ids[row])

    def records(self, rows: Int64s) -> Iterator[pa.Table]:
        """Yield the records of ascending rows."""
        return join_rows([self._records[row] for row in rows.tolist()])

    def runs(self, rows: Int64s) -> Iterator[tuple[Int64s, pa.Table]]:
        """Yield parts of some rows with records of uniform types."""
        start = 0
        for records in self.records(rows):
            yield rows[start : start + len(records)], records
            start += len(records)

    def signed(self, rows: Int64s) -> Queries:
        """Return the signatures of some rows."""
        return join_queries([self._signed[row] for row in rows.tolist()])


def _pairs(found: list[tuple[int, int]]) -> tuple[Int64s, Int64s]:
    if not found:
        return NO_PAIRS
    pairs: Int64s = np.array(found, np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()
