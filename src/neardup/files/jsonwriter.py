"""Write rows of tables as JSON lines."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.rows import Mask, RowBlock, RowWriter

if TYPE_CHECKING:
    from neardup.files.streams import OutputStream

_PARQUET = "write format='parquet' (--format parquet)"


class TableLinesWriter(RowWriter):
    """Writes the rows of any source as JSON lines, by way of tables.

    Parameters
    ----------
    output
        Where to write; closed with the writer.
    path
        File of the rows, for errors.
    """

    def __init__(self, output: OutputStream, path: str) -> None:
        self._output, self._path = output, path

    def write(self, block: RowBlock, select: Mask) -> None:
        """Append the selected rows, dates as text, NaN and infinities as null."""
        if not select.any():
            return
        table = _with_dates_as_text(block.to_table(select))
        names = table.column_names
        if len(set(names)) < len(names):
            message = (
                "two columns have the same name, which a JSON object cannot; columns are "
                f"{names}; rename one, or {_PARQUET}"
            )
            raise InvalidInputError(message, path=self._path)
        numbers = block.numbers[select].tolist()
        lines = [
            self._line(row, number) for row, number in zip(table.to_pylist(), numbers, strict=True)
        ]
        self._output.write("".join(lines).encode())

    def _line(self, row: dict[str, Any], number: int) -> str:
        try:
            try:
                text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=_to_json)
            except ValueError:
                row = _without_nan(row)
                text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=_to_json)
        except TypeError as error:
            message = f"{error}; {_PARQUET}"
            raise InvalidInputError(message, path=self._path, row=number) from None
        return text + "\n"

    def close(self) -> None:
        """Complete the file."""
        self._output.close()


def _with_dates_as_text(table: pa.Table) -> pa.Table:
    # Python's own date types have no nanoseconds, Arrow's text has.
    for index, field in enumerate(table.schema):
        if pa.types.is_temporal(field.type) and not pa.types.is_duration(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
    return table


def _to_json(value: Any) -> str:
    if isinstance(value, bytes):
        message = "JSON cannot hold binary values"
        raise TypeError(message)
    return str(value)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _without_nan(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(inner) for inner in value]
    return value
