"""Write rows of any source as JSON lines or as Parquet."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow as pa

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.compression import COMPRESSIONS, compression_of
from neardup.files.jsonarray import JsonArraySource
from neardup.files.jsonlines import JsonBlock, JsonLinesSource
from neardup.files.parquetwriter import TableWriter
from neardup.files.rawrows import RawWriter
from neardup.files.rows import Mask, RowBlock, RowWriter, Source
from neardup.files.streams import OutputStream

if TYPE_CHECKING:
    from collections.abc import Sequence

OutputFormat = Literal["same", "jsonl", "parquet"]
OUTPUT_FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)

# A newline in valid JSON is never inside a string, nor are the spaces that touch it.
_LINE_BREAK = re.compile(rb"[ \t]*[\r\n]\s*")


def converted_writer(source: Source, folder: Path, output_format: OutputFormat) -> RowWriter:
    """Open a writer of rows of ``source`` in another format.

    JSON objects become JSON lines with their values byte for byte; other rows are written by the
    standard library, dates as text, NaN and infinities as null. Parquet has the schema of the
    first block of the source.

    Parameters
    ----------
    source
        Where the rows come from.
    folder
        Where to write ``converted_name(source.name, output_format)``.
    output_format
        The format; ``same`` is the source's own.

    Raises
    ------
    InvalidInputError
        While writing, for a row that does not fit the format.
    """
    if output_format == "same":
        return source.writer(folder)
    path = folder / converted_name(source.name, output_format)
    if output_format == "parquet":
        return _ParquetConverter(source, path)
    output = OutputStream(path, compression_of(path.name))
    if isinstance(source, JsonLinesSource):
        return RawWriter(output)
    if isinstance(source, JsonArraySource):
        return _ElementsToLines(output)
    return _TableToLines(output, source.name)


def converted_name(name: str, output_format: OutputFormat) -> str:
    """Give the name of a source with the suffix of a format; JSON lines stay compressed."""
    if output_format == "same":
        return name
    path = PurePosixPath(name)
    compression = path.suffix if path.suffix.lower() in COMPRESSIONS else ""
    path = path.with_name(path.name.removesuffix(compression))
    suffix = f".jsonl{compression}" if output_format == "jsonl" else ".parquet"
    return str(path.with_suffix(suffix))


def check_converted_names(sources: Sequence[Source], output_format: OutputFormat) -> None:
    """Check that no two sources get the same name in another format.

    Raises
    ------
    InvalidParameterError
        Naming the two sources.
    """
    seen: dict[str, str] = {}
    for source in sources:
        name = converted_name(source.name, output_format)
        if name in seen:
            message = (
                f"{seen[name]!r} and {source.name!r} would both be written as {name!r};"
                " rename one, or write the same formats as the inputs"
            )
            raise InvalidParameterError(message)
        seen[name] = source.name


class _ElementsToLines(RowWriter):
    """Writes elements of a JSON array as lines; line breaks between tokens are dropped."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output

    def write(self, block: RowBlock, select: Mask) -> None:
        assert isinstance(block, JsonBlock)
        raw = block.raw.select(select)
        lines = [_LINE_BREAK.sub(b"", raw[index]) + b"\n" for index in range(len(raw))]
        self._output.write(b"".join(lines))

    def close(self) -> None:
        self._output.close()


class _TableToLines(RowWriter):
    """Writes rows of tables as JSON lines."""

    def __init__(self, output: OutputStream, path: str) -> None:
        self._output, self._path = output, path

    def write(self, block: RowBlock, select: Mask) -> None:
        if not select.any():
            return
        table = _with_dates_as_text(block.to_table(select))
        names = table.column_names
        if len(set(names)) < len(names):
            message = f"two columns have the same name, a JSON object cannot; columns are {names}"
            raise InvalidInputError(
                message,
                path=self._path,
            )
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
            message = f"{error}; write Parquet instead"
            raise InvalidInputError(message, path=self._path, row=number) from None
        return text + "\n"

    def close(self) -> None:
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


class _ParquetConverter(RowWriter):
    """Writes rows as Parquet with the schema of the first block of the source.

    The schema does not depend on which rows are selected, so all outputs of a source agree.
    """

    def __init__(self, source: Source, path: Path) -> None:
        first = next(iter(source.blocks()), None)
        self._schema = pa.schema([]) if first is None else first.to_table().schema
        self._path = source.name
        self._writer = TableWriter(path, self._schema)

    def write(self, block: RowBlock, select: Mask) -> None:
        if select.any():
            self._writer.write_table(self._fitted(block.to_table(select), block))

    def _fitted(self, table: pa.Table, block: RowBlock) -> pa.Table:
        """Cast a table to the schema; a column that it lacks is null."""
        for name in table.column_names:
            if name not in self._schema.names and table.column(name).null_count < len(table):
                raise self._misfit(name, "is not in the first rows of the file", block)
        if table.schema.names == self._schema.names:
            pairs = list(zip(self._schema, table.columns, strict=True))
        else:
            nulls = pa.nulls(len(table))
            pairs = [
                (f, table.column(f.name) if f.name in table.column_names else nulls)
                for f in self._schema
            ]
        columns = []
        for field, column in pairs:
            try:
                columns.append(column.cast(field.type))
            except pa.ArrowException:
                reason = f"holds {column.type} values, the first rows of the file {field.type}"
                raise self._misfit(field.name, reason, block) from None
        return pa.Table.from_arrays(columns, schema=self._schema)

    def _misfit(self, name: str, reason: str, block: RowBlock) -> InvalidInputError:
        return InvalidInputError(
            f"in the rows from here on, column {name!r} {reason}; write jsonl instead of parquet",
            path=self._path,
            row=int(block.numbers[0]),
        )

    def close(self) -> None:
        self._writer.close()
