"""Writers of Parquet, and of rows of any source in another format.

Rows of tables have types. For JSON a first pass over the documents finds the type of each column:
one that all of its values have in common, else text, by one rule (``arrowcolumns.as_text``). So no
row is left out for its values, and types do not depend on the ends of blocks.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.arrowcolumns import ColumnTypes, fitted
from neardup.files.rawrows import RawWriter
from neardup.files.rows import Mask, RowBlock, RowWriter, Source
from neardup.files.streams import (
    COMPRESSIONS,
    Buffer,
    Destination,
    OutputStream,
    compression_of,
    one_line,
    writing,
)
from neardup.options.choices import OutputFormat

# Parquet.

_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 64 << 20


class TableWriter(RowWriter):
    """Writer of rows in row groups of tens of megabytes.

    Columns of Parquet are compressed with Zstandard, and pages have checksums.

    An existing file is replaced. The schema has the metadata to keep. ``digest`` gets the bytes of
    the file. ``make`` opens Arrow's writer of another format, given file and schema.
    """

    def __init__(
        self,
        destination: Destination,
        schema: pa.Schema,
        digest: Any = None,
        make: Callable[[Any, pa.Schema], Any] | None = None,
    ) -> None:
        self._destination = destination
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._is_closed = self._has_failed = False
        with self._errors(), contextlib.ExitStack() as opened:
            self._file = opened.enter_context(destination.create())
            self._writer: Any = (make or _parquet_writer)(_Sink(self._file, digest), schema)
            opened.pop_all()

    def prepare(self, block: RowBlock) -> pa.Table | None:
        """Return the rows, all columns."""
        return block.to_table() if len(block) else None

    def append(self, prepared: pa.Table | None) -> None:
        """Append a table of the writer's schema."""
        if prepared is None:
            return
        self._waiting.append(prepared)
        self._rows += len(prepared)
        self._bytes += prepared.nbytes
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def write_group(self, table: pa.Table) -> None:
        """Append a table of the writer's schema as one group."""
        self._flush()
        self._put(table)

    def _flush(self) -> None:
        if self._waiting:
            self._put(pa.concat_tables(self._waiting))
        self._waiting, self._rows, self._bytes = [], 0, 0

    def _put(self, group: pa.Table) -> None:
        self._has_failed = True
        with self._errors():
            # Arrow has no size for a group without rows.
            self._writer.write_table(group, len(group) or None)
        self._has_failed = False

    def close(self) -> None:
        """Complete the file, unless it is closed or failed."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if not self._has_failed:
                self._flush()
                with self._errors():
                    self._writer.close()
        except BaseException:
            self._has_failed = True
            raise
        finally:
            if self._has_failed:
                # Arrow's writer cannot be closed after an error, and would try later.
                if isinstance(self._writer, pq.ParquetWriter):
                    self._writer.is_open = False
                with contextlib.suppress(OSError):
                    self._file.close()
        with self._errors():
            self._file.close()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Translate errors of the system and of unsupported values."""
        try:
            with writing(self._destination):
                yield
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            message = (
                f"the file cannot hold a column ({one_line(error)}); write the rows in another "
                "format, or without that column"
            )
            raise InvalidInputError(message, path=str(self._destination)) from None


def _parquet_writer(sink: _Sink, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(sink, schema, compression="zstd", write_page_checksum=True)


class _Sink:
    """An output file for Arrow, with an optional digest."""

    closed = False

    def __init__(self, file: Any, digest: Any) -> None:
        self._file, self._digest = file, digest
        self._place = 0

    def write(self, data: Any) -> int:
        if self._digest is not None:
            self._digest.update(data)
        self._file.write(data)
        self._place += len(data)
        return len(data)

    def tell(self) -> int:
        return self._place

    def flush(self) -> None:
        """Do nothing, as writes are not buffered."""


# Rows in another format.

JSON_LINES = "write format='jsonl' (--format jsonl)"
PARQUET = "write format='parquet' (--format parquet)"


def _check_types(source: Source, output_format: OutputFormat) -> None:
    """Check that an output format can hold known column types."""
    schema = source.schema() if source.has_fixed_columns and output_format != "same" else None
    if schema is None:
        return
    if output_format == "parquet":
        _check_parquet(schema, source.origin, "choose format='same' (--format same)")
        return
    _check_names(schema.names, source.origin)
    for field in schema:
        if _holds(field.type, _is_binary):
            message = (
                f"column {field.name!r} holds {field.type} values, and JSON cannot hold binary "
                f"values; leave it out, or {PARQUET}"
            )
            raise InvalidInputError(message, path=source.origin)


def _check_names(names: Sequence[str], path: str | None) -> None:
    if len(set(names)) < len(names):
        message = (
            "two columns have the same name, which a JSON object cannot; columns are "
            f"{names}; rename one, or {PARQUET}"
        )
        raise InvalidInputError(message, path=path)


def _check_parquet(schema: pa.Schema, path: str | None, remedy: str) -> None:
    for field in schema:
        try:
            pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except (pa.ArrowException, ValueError):
            is_empty = _holds(field.type, lambda kind: kind == pa.struct([]))
            held = "nothing but empty objects" if is_empty else f"{field.type} values"
            message = f"column {field.name!r} holds {held}, which Parquet cannot; {remedy}"
            raise InvalidInputError(message, path=path) from None


def _holds(kind: pa.DataType, test: Callable[[pa.DataType], bool]) -> bool:
    """Return whether a type or nested type passes a test."""
    children = [kind.field(index).type for index in range(kind.num_fields)]
    if pa.types.is_dictionary(kind):
        children = [kind.value_type]
    return test(kind) or any(_holds(child, test) for child in children)


def _is_binary(kind: pa.DataType) -> bool:
    is_fixed = pa.types.is_fixed_size_binary(kind)
    return is_fixed or kind in (pa.binary(), pa.large_binary(), pa.binary_view())


class Conversion:
    """The rows of a source in another format.

    JSON objects become JSON lines with their values byte for byte; other rows are written by the
    standard library, dates as text, NaN and infinities as null. Parquet has the same schema for all
    outputs of a source.

    Rows that are not ``documents`` (None: all are) are never written.
    """

    def __init__(
        self, source: Source, output_format: OutputFormat, documents: Mask | None = None
    ) -> None:
        self._source, self._format, self._documents = source, output_format, documents

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer to a folder."""
        if self._format == "same":
            return self._source.writer(folder)
        destination = folder / converted_name(self._source.written_name, self._format)
        if self._format == "jsonl":
            return _LinesWriter(destination, self._source)
        return _ParquetWriter(destination, self._schema, self._source.origin or self._source.name)

    @cached_property
    def _schema(self) -> pa.Schema:
        schema = self._source.schema() if self._source.has_fixed_columns else None
        types, start = ColumnTypes(), 0
        for block in self._source.blocks() if schema is None else ():
            stop = start + len(block)
            chosen = None if self._documents is None else self._documents[start:stop]
            if chosen is None or chosen.any():
                types.add(block.to_table(chosen))
            start = stop
        schema = types.schema if schema is None else schema
        _check_parquet(schema, self._source.origin or self._source.name, JSON_LINES)
        return schema


class _ParquetWriter(TableWriter):
    """Writes rows of any source as Parquet."""

    def __init__(self, destination: Destination, schema: pa.Schema, path: str) -> None:
        super().__init__(destination, schema)
        self._schema, self._path = schema, path

    def prepare(self, block: RowBlock) -> pa.Table | None:
        """Return the rows as a table of the schema."""
        try:
            table = super().prepare(block)
            return None if table is None else fitted(table, self._schema)
        except pa.ArrowException as error:
            reason = f"{str(error).partition(chr(10))[0]}; {JSON_LINES}"
            row = int(block.numbers[0])
            raise _late_misfit(f"from this row on, {reason}", self._path, row) from None


def _late_misfit(reason: str, path: str, row: int) -> InvalidInputError:
    message = f"{reason}; this was found while writing, and nothing was written"
    return InvalidInputError(message, path=path, row=row)


# Errors of values that JSON, or Python, cannot hold: binary ones, dates beyond the year 9999, text
# that is not UTF-8.
_NOT_IN_JSON = (pa.ArrowException, TypeError, ValueError, OverflowError)


class _LinesWriter(RawWriter):
    """Writer of JSON lines, copying JSON rows byte for byte."""

    def __init__(self, destination: Destination, source: Source) -> None:
        super().__init__(OutputStream(destination, compression_of(str(destination))))
        self._path = source.origin or source.name

    def prepare(self, block: RowBlock) -> list[Buffer]:
        """Return the rows as lines, NaN and infinities as null."""
        lines = block.json_lines() if len(block) else []
        return [_table_lines(block, self._path)] if lines is None else lines


def _table_lines(block: RowBlock, path: str) -> bytes:
    table = block.to_table()
    _check_names(table.column_names, path)
    try:
        return "".join(_lines(table)).encode()
    except _NOT_IN_JSON:
        lines = []
        for row, number in enumerate(block.numbers.tolist()):
            try:
                lines += _lines(table.slice(row, 1))
            except _NOT_IN_JSON as error:
                reason = f"{str(error).partition(chr(10))[0]}; {PARQUET}"
                raise _late_misfit(reason, path, number) from None
    return "".join(lines).encode()


def _lines(table: pa.Table) -> list[str]:
    # Python's own date types have no nanoseconds, Arrow's text has.
    for index, field in enumerate(table.schema):
        if pa.types.is_temporal(field.type) and not pa.types.is_duration(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
    return [_line(row) for row in table.to_pylist()]


def _line(row: dict[str, Any]) -> str:
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=_to_json)
    except ValueError:
        row = _without_nan(row)
        text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=_to_json)
    return text + "\n"


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


def converted_name(name: str, output_format: OutputFormat) -> str:
    """Return a name with a format's suffix, keeping JSON compression."""
    path = PurePosixPath(name)
    if output_format == "same":
        return name
    compression = path.suffix if path.suffix.lower() in COMPRESSIONS else ""
    path = path.with_name(path.name.removesuffix(compression))
    suffix = ".parquet" if output_format == "parquet" else f".jsonl{compression}"
    return str(path.with_suffix(suffix))


def check_conversion(sources: Sequence[Source], output_format: OutputFormat) -> None:
    """Raise early if sources cannot be written in another format."""
    seen: dict[str, str] = {}
    for source in sources:
        _check_types(source, output_format)
        name = converted_name(source.written_name, output_format)
        if name in seen:
            message = (
                f"{seen[name]!r} and {source.name!r} would both be written as {name!r};"
                " rename one, or write the inputs' formats with format='same' (--format same)"
            )
            raise InvalidParameterError(message)
        seen[name] = source.name
