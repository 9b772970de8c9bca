"""Tables as text, CSV or JSON lines, some rows at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

# Rows that are text at a time.
_ROWS = 1 << 13


def write_csv(table: pa.Table | pa.RecordBatchReader, stream: BinaryIO) -> None:
    """Write a header and the rows: strings in quotation marks, no value as nothing.

    A float always has a point, an exponent, or letters: ``1.0``. Readers that guess a column's type
    from its first rows take it for a column of floats whatever comes first.
    """
    _put(stream, ",".join(_quoted(name) for name in table.schema.names) + "\n")
    for batch in batches_of(table):
        columns = [_spelled(column) for column in batch.columns]
        comma = pa.scalar(",", pa.large_string())
        lines = pc.binary_join_element_wise(
            *columns, comma, null_handling="replace", null_replacement=""
        )
        _put(stream, "".join(f"{line}\n" for line in lines.to_pylist()))


def write_json_lines(table: pa.Table | pa.RecordBatchReader, stream: BinaryIO) -> None:
    """Write an object a row."""
    for batch in batches_of(table):
        rows = (json.dumps(row, ensure_ascii=False) for row in batch.to_pylist())
        _put(stream, "".join(f"{row}\n" for row in rows))


WRITERS: dict[str, Callable[[pa.Table | pa.RecordBatchReader, BinaryIO], None]] = {
    "csv": write_csv,
    "jsonl": write_json_lines,
}


def batches_of(table: pa.Table | pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Return the rows of a table, as many at a time as are spelled out together."""
    for batch in table.to_batches() if isinstance(table, pa.Table) else table:
        for start in range(0, len(batch), _ROWS):
            yield batch.slice(start, _ROWS)


def _put(stream: BinaryIO, text: str) -> None:
    """Write all of a text; an unbuffered stream may take a part at a time."""
    rest = memoryview(text.encode())
    while rest:
        rest = rest[stream.write(rest) :]


def _spelled(column: pa.Array) -> pa.Array:
    """Write each value of a column as CSV has it."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    text = column.cast(pa.large_string())
    if pa.types.is_floating(column.type):
        is_whole = pc.match_substring_regex(text, "^-?[0-9]+$")
        return pc.if_else(is_whole, _joined(text, ".0"), text)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return _joined('"', pc.replace_substring(text, '"', '""'), '"')
    return text


def _joined(*parts: pa.Array | str) -> pa.Array:
    """Put strings and columns of strings together, row by row."""
    typed = [
        pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts
    ]
    return pc.binary_join_element_wise(*typed, pa.scalar("", pa.large_string()))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
