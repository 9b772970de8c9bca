"""Store documents as tables, packed into compressed blocks.

Records have a row per document: ``text``, and the user's columns, whose names have a prefix.
Documents in rows of the database also have their ids and signatures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.documents.queries import Queries, sets_of_texts
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import Id, as_cell
from neardup.files.documents import as_text
from neardup.index.segments import pack_table
from neardup.tables import (
    Filters,
    Floats,
    Int64s,
    ShingleSets,
    Texts,
    Uint64s,
    WeightedSets,
    cut_runs,
)

# Reading one document means decompressing a block, in some 20 us.
BLOCK_BYTES = 16_384

_32 = np.uint64(32)
_PREFIX = "column "


def make_records(texts: pa.Array, columns: pa.Table | None) -> pa.Table:
    """Return the records of documents."""
    records = {"text": texts}
    if columns is not None:
        records |= {_PREFIX + name: columns[name] for name in columns.column_names}
    return pa.table(records)


def make_record(
    identifier: Id, text: str, columns: Mapping[str, Any], names: Sequence[str]
) -> pa.Table:
    """Return the record of one document, raising if a column is unfit."""
    record = {"text": pa.array([text], pa.large_string())}
    for name in names:
        record[_PREFIX + name] = as_cell(identifier, name, columns.get(name))
    return pa.table(record)


def user_columns_of(records: pa.Table, names: Sequence[str]) -> dict[str, Any]:
    """Return the user's columns of records, null if missing."""
    there = set(records.column_names)
    return {
        name: records[_PREFIX + name]
        if _PREFIX + name in there
        else pa.chunked_array([pa.nulls(len(records))])
        for name in names
    }


class PackedBlock(NamedTuple):
    """A compressed block and its number of rows."""

    data: Any
    n_rows: int


def pack_records(records: pa.Table) -> list[PackedBlock]:
    """Cut records into blocks by size, and compress them."""
    records = records.combine_chunks()
    texts = Texts.from_arrow(records["text"].combine_chunks())
    sizes = np.diff(texts.offsets) + 8
    return [
        PackedBlock(pack_table(_cut(records, start, stop)), stop - start)
        for start, stop in cut_runs(sizes, BLOCK_BYTES)
    ]


def _cut(records: pa.Table, start: int, stop: int) -> pa.Table:
    """Copy some rows, without the next row's bytes in Arrow."""
    columns = []
    for column in records.slice(start, stop - start).columns:
        is_exact = pa.types.is_null(column.type) or pa.types.is_int64(column.type)
        columns.append(column if is_exact else pa.concat_arrays(column.chunks))
    return pa.table(columns, records.schema)


def sets_of_records(
    texts: pa.Array, ids: pa.Array | None, scheme: DocumentScheme
) -> ShingleSets | WeightedSets:
    """Return the sets of indexed texts, by ids for tokenizers by file."""
    tokenizer = scheme.shingles.tokenizer
    if tokenizer.is_by_file:
        return sets_of_texts(tokenizer.texts_in_index(texts, ids), scheme)
    return sets_of_texts(Texts.from_arrow(texts), scheme)


@dataclass(frozen=True)
class DocumentBatch:
    """Documents that are ready to be written to a segment.

    ``ids`` are large strings or integers.
    """

    ids: pa.Array
    signed: Queries
    packed: list[PackedBlock]

    def __len__(self) -> int:
        return len(self.ids)


# Documents in rows of the database have their ids and signatures beside their records.


def with_signatures(records: pa.Table, ids: Sequence[Id], queries: Queries) -> pa.Table:
    """Return records with ids and signatures of documents."""
    columns = {
        "id": pa.array(list(map(str, ids)), pa.large_string()),
        "is_number": pa.array([not isinstance(each, str) for each in ids], pa.bool_()),
        "n_tokens": pa.array(queries.n_tokens),
        "digest": _rows(queries.digests),
        "keys": _rows((queries.keys >> _32).astype(np.uint32)),
    }
    filters = queries.filters
    if filters is not None:
        columns["filter"] = _lists(filters.offsets, filters.words)
        columns["size"] = pa.array(filters.sizes)
    for name, column in columns.items():
        records = records.append_column(name, column)
    return records


def record_of(packed: pa.Table, row: int) -> pa.Table:
    """Return the record of a document in a database row."""
    names = (name for name in packed.column_names if name == "text" or name.startswith(_PREFIX))
    cells = {name: packed[name].slice(row, 1) for name in names}
    # A null fits every type of column.
    return pa.table(
        {name: pa.nulls(1) if cell.null_count else cell for name, cell in cells.items()}
    )


def signatures_in(records: pa.Table) -> Queries:
    """Return the signatures of records in a database row."""
    n, filters = len(records), None
    if "filter" in records.column_names:
        words = records["filter"].chunk(0)
        filters = Filters(_flat(words), words.offsets.to_numpy(), records["size"].to_numpy())
    high = _flat(records["keys"]).reshape(n, -1).astype(np.uint64)
    n_tokens: Int64s = records["n_tokens"].to_numpy()
    return Queries(n_tokens, digests_in(records), high << _32, filters, None)


def make_gone(
    ids: pa.Array, kept_ids: pa.Array, digests: Uint64s, similarities: Floats
) -> pa.Table:
    """Return the table of documents left out for their keepers."""
    return pa.table(
        {
            "id": as_text(ids),
            "kept_id": as_text(kept_ids),
            "digest": _rows(digests),
            "similarity": similarities,
        }
    )


def make_denied(ids: pa.Array, digests: Uint64s) -> pa.Table:
    """Return the table of documents that must not come back."""
    return pa.table({"id": ids, "digest": _rows(digests)})


def digests_in(table: pa.Table) -> Uint64s:
    """Return the digests of a table, of shape (n, 2)."""
    return _flat(table["digest"]).reshape(-1, 2)


def _rows(matrix: npt.NDArray[Any]) -> pa.Array:
    n, width = matrix.shape
    return _lists(np.arange(n + 1) * width, matrix.reshape(-1))


def _lists(offsets: Int64s, values: npt.NDArray[Any]) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))


def _flat(lists: Any) -> npt.NDArray[Any]:
    chunked = pa.chunked_array([lists]) if isinstance(lists, pa.Array) else lists
    values: npt.NDArray[Any] = chunked.combine_chunks().flatten().to_numpy()
    return values


NO_GONE = make_gone(
    pa.array([], pa.large_string()),
    pa.array([], pa.large_string()),
    np.empty((0, 2), np.uint64),
    np.empty(0, np.float64),
)
