"""The formats in which the rows of any source can be written."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.fitting import PARQUET, FittingTableWriter, check_types, late_misfit
from neardup.files.rows import Mask, RowBlock, RowWriter, Source
from neardup.files.streams import COMPRESSIONS, Destination, OutputStream, compression_of
from neardup.options.choices import OutputFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

# Write rows of tables as JSON lines.

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

    def prepare(self, block: RowBlock, select: Mask) -> bytes:
        """Return the selected rows as lines, dates as text, NaN and infinities as null."""
        if not select.any():
            return b""
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
        return "".join(lines).encode()

    def append(self, prepared: bytes) -> None:
        """Append lines."""
        self._output.write(prepared)

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


@dataclass(frozen=True)
class _Conversion:
    """Another format than the source's own: ``writer`` opens a writer of a source's rows there."""

    suffix: str
    stays_compressed: bool
    writer: Callable[[Source, Destination, Mask | None], RowWriter]


def converted_writer(
    source: Source,
    folder: Destination,
    output_format: OutputFormat,
    documents: Mask | None = None,
) -> RowWriter:
    """Open a writer of rows of ``source`` in another format.

    JSON objects become JSON lines with their values byte for byte; other rows are written by the
    standard library, dates as text, NaN and infinities as null. Parquet has the schema of the
    documents of the first block of the source that has any.

    Parameters
    ----------
    source
        Where the rows come from.
    folder
        Where to write ``converted_name(source.written_name, output_format)``.
    output_format
        The format; ``same`` is the source's own.
    documents
        Which of the source's rows are documents; None for all.
    """
    conversion = _CONVERSIONS[output_format]
    if conversion is None:
        return source.writer(folder)
    destination = folder / converted_name(source.written_name, output_format)
    return conversion.writer(source, destination, documents)


# Kinds of spreadsheets that are read, and written as .xlsx.
_OTHER_SPREADSHEETS = (".ods", ".xlsm")


def converted_name(name: str, output_format: OutputFormat) -> str:
    """Return the name of a source with the suffix of a format; JSON lines stay compressed."""
    conversion = _CONVERSIONS[output_format]
    path = PurePosixPath(name)
    if conversion is None:
        is_other = path.suffix.lower() in _OTHER_SPREADSHEETS
        return str(path.with_suffix(".xlsx")) if is_other else name
    compression = path.suffix if path.suffix.lower() in COMPRESSIONS else ""
    path = path.with_name(path.name.removesuffix(compression))
    return str(
        path.with_suffix(conversion.suffix + (compression if conversion.stays_compressed else ""))
    )


def check_conversion(sources: Sequence[Source], output_format: OutputFormat) -> None:
    """Check, before any work, what can be known then of writing sources in another format."""
    seen: dict[str, str] = {}
    for source in sources:
        check_types(source, output_format)
        if output_format == "same":
            source.check_writable()
        name = converted_name(source.written_name, output_format)
        if name in seen:
            message = (
                f"{seen[name]!r} and {source.name!r} would both be written as {name!r};"
                " rename one, or write the inputs' formats with format='same' (--format same)"
            )
            raise InvalidParameterError(message)
        seen[name] = source.name


def lines_writer(source: Source, destination: Destination, *_: Any) -> RowWriter:
    """Open a writer of the rows of any source as JSON lines."""
    output = OutputStream(destination, compression_of(str(destination)))
    return source.json_lines_writer(output) or TableLinesWriter(
        output, source.origin or source.name
    )


_CONVERSIONS: dict[OutputFormat, _Conversion | None] = {
    "same": None,
    "jsonl": _Conversion(".jsonl", stays_compressed=True, writer=lines_writer),
    "parquet": _Conversion(".parquet", stays_compressed=False, writer=FittingTableWriter),
}
