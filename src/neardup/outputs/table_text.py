"""Tables as text, CSV or JSON lines, some rows at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from neardup.tables import Texts

# Rows that are text at a time.
_ROWS = 1 << 13


def write_csv(table: pa.Table | pa.RecordBatchReader, stream: BinaryIO) -> None:
    """Write a header and the rows: strings in quotation marks, no value as nothing.

    A float always has a point, an exponent, or letters: ``1.0``. Readers that guess a column's type
    from its first rows take it for a column of floats whatever comes first.
    """
    _put(stream, ",".join(_quoted(name) for name in table.schema.names) + "\n")
    for batch in batches_of(table):
        line: list[pa.Array | str] = []
        for column in batch.columns:
            line += [*_spelled(column), ","]
        _put(stream, _joined(*line[:-1], "\n"))


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


def _put(stream: BinaryIO, text: str | pa.Array) -> None:
    """Write all of a text, or of several texts one after the other.

    An unbuffered stream may take a part at a time.
    """
    if isinstance(text, str):
        rest = memoryview(text.encode())
    else:
        texts = Texts.from_arrow(text)
        rest = texts.data[texts.offsets[0] : texts.offsets[-1]].data
    while rest:
        rest = rest[stream.write(rest) :]


def _spelled(column: pa.Array) -> list[pa.Array | str]:
    """Return the text of each value of a column in CSV, in consecutive pieces."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    text = column.cast(pa.large_string())
    if pa.types.is_floating(column.type):
        # The pattern takes long, and in most columns no value is whole.
        if pc.any(pc.equal(pc.floor(column), column)).as_py():
            is_whole = pc.match_substring_regex(text, "^-?[0-9]+$")
            text = pc.if_else(is_whole, _joined(text, ".0"), text)
    elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        pieces = ['"', pc.replace_substring(text, '"', '""'), '"']
        return [pc.if_else(text.is_valid(), _joined(*pieces), "")] if text.null_count else pieces
    return [text]


def _joined(*parts: pa.Array | str) -> pa.Array:
    """Put strings and columns of strings together, row by row; no value is nothing."""
    typed = [
        pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts
    ]
    nothing = pa.scalar("", pa.large_string())
    return pc.binary_join_element_wise(
        *typed, nothing, null_handling="replace", null_replacement=""
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
