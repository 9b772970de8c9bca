"""Store documents as tables, packed into compressed blocks.

Records have a row per document: ``text``, and the user's columns, whose names have a prefix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.queries import Queries
from neardup.documents.values import Id, as_cell
from neardup.files.documents import as_text
from neardup.index.segments import pack_table, unpack_table
from neardup.tables import Floats, Texts, Uint64s, cut_runs

# Reading one document means decompressing a block, in some 20 us.
BLOCK_BYTES = 16_384

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


def user_columns_of(records: pa.Table, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """Return the user's columns of records."""
    return {name: records[_PREFIX + name] for name in names}


Packed = tuple[Any, int]
"""A compressed block and its number of rows."""


def pack_records(records: pa.Table) -> list[Packed]:
    """Cut records into blocks by size, and compress them."""
    records = records.combine_chunks()
    texts = Texts.from_arrow(records["text"].combine_chunks())
    sizes = np.diff(texts.offsets) + 8
    # A copy of some rows, without bytes of the next row, as a slice may have.
    return [
        (pack_table(records.take(pa.array(range(start, stop)))), stop - start)
        for start, stop in cut_runs(sizes, BLOCK_BYTES)
    ]


@dataclass(frozen=True)
class DocumentBatch:
    """Documents that are ready to be written to a segment.

    ``ids`` are large strings or integers.
    """

    ids: pa.Array
    signed: Queries
    packed: list[Packed]


def pack_pending(ids: Sequence[Id], records: pa.Table) -> bytes:
    """Pack documents and their ids for a row of the database."""
    names = pa.array(list(map(str, ids)), pa.large_string())
    are_numbers = pa.array([not isinstance(each, str) for each in ids], pa.bool_())
    packed = records.append_column("id", names).append_column("is_number", are_numbers)
    return pack_table(packed)


def unpack_pending(data: bytes) -> tuple[list[Id], list[pa.Table]]:
    """Return the ids and records of a row of the database."""
    table = unpack_table(data)
    given = zip(table["id"].to_pylist(), table["is_number"].to_pylist(), strict=True)
    ids = [int(name) if is_number else name for name, is_number in given]
    table = table.drop_columns(["id", "is_number"])
    return ids, [_record_of(table.slice(row, 1)) for row in range(len(table))]


def _record_of(row: pa.Table) -> pa.Table:
    # A null fits every type of column.
    cells = zip(row.column_names, row.columns, strict=True)
    return pa.table({name: pa.nulls(1) if cell.null_count else cell for name, cell in cells})


# Documents that were left out for their keepers, and denied ones.


def make_gone(
    ids: pa.Array, kept_ids: pa.Array, digests: Uint64s, similarities: Floats
) -> pa.Table:
    """Return the table of documents left out for their keepers."""
    return pa.table(
        {
            "id": as_text(ids),
            "kept_id": as_text(kept_ids),
            "digest": _as_binary(digests),
            "similarity": similarities,
        }
    )


def make_denied(ids: pa.Array, digests: Uint64s) -> pa.Table:
    """Return the table of documents that must not come back."""
    return pa.table({"id": ids, "digest": _as_binary(digests)})


def digests_in(table: pa.Table) -> Uint64s:
    """Return the digests of a table, of shape (n, 2)."""
    values: Uint64s = np.frombuffer(b"".join(table["digest"].to_pylist()), np.uint64)
    return values.reshape(-1, 2)


def _as_binary(digests: Uint64s) -> pa.Array:
    return pa.array([digest.tobytes() for digest in digests], pa.binary(16))


NO_GONE = make_gone(
    pa.array([], pa.large_string()),
    pa.array([], pa.large_string()),
    np.empty((0, 2), np.uint64),
    np.empty(0, np.float64),
)
