"""Ids, texts and columns of documents, as tables in compressed blocks.

Records have a row per document: ``text``, and the user's columns, whose names have a prefix.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from neardup.errors import InvalidInputError
from neardup.files.documents import as_text
from neardup.index.segments import pack_table, unpack_table
from neardup.sketches.kind import digest_column
from neardup.tables import Floats, Texts, Uint64s, cut_runs

Id = str | int

# Arrow refuses to read and write more levels than 64, of which the table is one.
_MOST_LEVELS = 63
_NESTED = (list, tuple, dict, set, frozenset, np.ndarray)
# Types of which every value can be written, and given back.
_PLAIN = {
    kind.id for kind in (pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string(), pa.binary())
}
_LONGEST_REASON = 200
_LEAST, _LARGEST_SIGNED, _LARGEST = -(2**63), 2**63 - 1, 2**64 - 1


def checked_id(value: object) -> Id:
    """Return an id, whole numbers as ``int``."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            message = f"an id must be a string of valid characters: {error}"
            raise InvalidInputError(message) from None
        return str(value)
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        number = int(value)
        if _LEAST <= number <= _LARGEST:
            return number
    message = f"an id must be a string or a whole number of 64 bits, got {value!r}"
    raise InvalidInputError(message)


def type_of_numbers(least: int, most: int) -> pa.DataType:
    """Return the integer type of a range of ids, or large strings."""
    if most <= _LARGEST_SIGNED:
        return pa.int64()
    return pa.uint64() if least >= 0 else pa.large_string()


def ids_of_values(values: Sequence[Id]) -> pa.Array:
    """Return checked ids as one integer type, or as strings."""
    whole = [value for value in values if not isinstance(value, str)]
    if values and len(whole) == len(values):
        kind = type_of_numbers(min(whole), max(whole))
        if pa.types.is_integer(kind):
            return pa.array(whole, kind)
    return pa.array(list(map(str, values)), pa.large_string())


def as_one_text(text: str) -> Texts:
    """Return one text for kernels."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        message = f"a text must be a string of valid characters: {error}"
        raise InvalidInputError(message) from None
    # An empty buffer may have no address.
    return Texts(np.frombuffer(data or b"\0", np.uint8), np.array([0, len(data)], np.int64))


def as_cell(identifier: Id, name: str, value: object) -> pa.Array:
    """Return the value of a document's column, raising if unfit."""
    try:
        _check_depth(value)
        cell = pa.array([value])
        _check_kept(cell)
    # Values have code of their own, which may raise anything.
    except Exception as error:
        reason = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
        message = f"column {name!r} cannot have this value: {reason}"
        raise InvalidInputError(f"document {identifier!r}: {message}") from None
    return cell


def _check_kept(cell: pa.Array) -> None:
    """Raise if a value cannot be stored and read."""
    if cell.type.id not in _PLAIN:
        sink, table = pa.BufferOutputStream(), pa.table([cell], [""])
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        pa.ipc.open_stream(sink.getvalue()).read_all().take([0]).to_pylist()


def _check_depth(value: object, level: int = 1) -> None:
    """Raise for values that Arrow would crash on, also circular ones."""
    if level > _MOST_LEVELS:
        message = f"it is nested more than {_MOST_LEVELS} levels deep"
        raise InvalidInputError(message)
    if isinstance(value, _NESTED):
        for child in value.values() if isinstance(value, dict) else value:
            if isinstance(child, _NESTED):
                _check_depth(child, level + 1)


def join_rows(rows: Sequence[pa.Table]) -> Iterator[pa.Table]:
    """Yield stretches of rows as tables with uniform column types."""
    start, common = 0, pa.schema([])
    for number, row in enumerate(rows):
        try:
            common = pa.unify_schemas([common, row.schema])
        except pa.ArrowException:
            yield _concat(rows[start:number])
            start, common = number, row.schema
    if rows:
        yield _concat(rows[start:])


def _concat(rows: Sequence[pa.Table]) -> Any:
    return pa.concat_tables(rows, promote_options="default").combine_chunks()


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
            "digest": digest_column(digests),
            "similarity": similarities,
        }
    )


def make_denied(ids: pa.Array, digests: Uint64s) -> pa.Table:
    """Return the table of documents that must not come back."""
    return pa.table({"id": ids, "digest": digest_column(digests)})


def digests_in(table: pa.Table) -> Uint64s:
    """Return the digests of a table, of shape (n, 2)."""
    values: Uint64s = np.frombuffer(b"".join(table["digest"].to_pylist()), np.uint64)
    return values.reshape(-1, 2)


NO_GONE = make_gone(
    pa.array([], pa.large_string()),
    pa.array([], pa.large_string()),
    np.empty((0, 2), np.uint64),
    np.empty(0, np.float64),
)
