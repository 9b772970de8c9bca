"""Write rows of tables as JSON lines."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.fitting import PARQUET, late_misfit
from neardup.files.rows import Mask, RowBlock, RowWriter

if TYPE_CHECKING:
    from neardup.files.streams import OutputStream

# What values raise that JSON, or Python, cannot hold: binary ones, dates beyond the year 9999, text
# that is not UTF-8.
_NOT_IN_JSON = (pa.ArrowException, TypeError, ValueError, OverflowError)


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
        """Append the selected rows, dates as text, NaN and infinities as null.

        Raises
        ------
        InvalidInputError
            If columns have one name, or for the first row that JSON cannot hold.
        """
        if not select.any():
            return
        table = block.to_table(select)
        names = table.column_names
        if len(set(names)) < len(names):
            message = (
                "two columns have the same name, which a JSON object cannot; columns are "
                f"{names}; rename one, or {PARQUET}"
            )
            raise InvalidInputError(message, path=self._path)
        try:
            lines = _lines(table)
        except _NOT_IN_JSON:
            lines = []
            for row, number in enumerate(block.numbers[select].tolist()):
                try:
                    lines += _lines(table.slice(row, 1))
                except _NOT_IN_JSON as error:
                    reason = f"{str(error).partition(chr(10))[0]}; {PARQUET}"
                    raise late_misfit(reason, path=self._path, row=number) from None
        self._output.write("".join(lines).encode())

    def close(self) -> None:
        """Complete the file."""
        self._output.close()


def _lines(table: pa.Table) -> list[str]:
    return [_line(row) for row in _with_dates_as_text(table).to_pylist()]


def _line(row: dict[str, Any]) -> str:
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=_to_json)
    except ValueError:
        row = _without_nan(row)
        text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=_to_json)
    return text + "\n"


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
