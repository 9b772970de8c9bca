"""Which rows of a source another format can hold, and how they are written there.

Columns that nothing else reads may hold what another format cannot. Of tables the types tell it,
before any work. Of JSON objects and of CSV only the rows do: these are tried when they are first
read, so that a row that does not fit is a bad row like any other.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.parquetwriter import TableWriter
from neardup.files.problems import Problems
from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock, RowWriter, Source
from neardup.files.streams import COMPRESSIONS, Destination, OutputStream, compression_of
from neardup.options.choices import OutputFormat
from neardup.tables import Int64s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.files.cuts import Cuts
    from neardup.files.streams import Destination
    from neardup.options.choices import OutputFormat

JSON_LINES = "write format='jsonl' (--format jsonl)"
PARQUET = "write format='parquet' (--format parquet)"

# Tables that are tried, of rows whose values do not go together, to find the types of most.
_MOST_TRIED = 256


def check_types(source: Source, output_format: OutputFormat) -> None:
    """Check that another format can hold the types of a table's columns, as far as known."""
    schema = source.arrow_schema()
    if schema is None or output_format == "same":
        return
    if output_format == "parquet":
        _check_parquet(schema, source.origin, "choose format='same' (--format same)")
        return
    names: list[str] = schema.names
    if len(set(names)) < len(names):
        message = (
            "two columns have the same name, which a JSON object cannot; columns are "
            f"{names}; rename one, or {PARQUET}"
        )
        raise InvalidInputError(message, path=source.origin)
    for field in schema:
        if _holds(field.type, _is_binary):
            message = (
                f"column {field.name!r} holds {field.type} values, and JSON cannot hold binary "
                f"values; leave it out, or {PARQUET}"
            )
            raise InvalidInputError(message, path=source.origin)


def _check_parquet(schema: pa.Schema, path: str | None, remedy: str) -> None:
    for field in schema:
        try:
            pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except (pa.ArrowException, ValueError):
            is_empty = _holds(field.type, _is_empty)
            held = "nothing but empty objects" if is_empty else f"{field.type} values"
            message = f"column {field.name!r} holds {held}, which Parquet cannot; {remedy}"
            raise InvalidInputError(message, path=path) from None


def _holds(kind: pa.DataType, test: Callable[[pa.DataType], bool]) -> bool:
    """Return whether a type, or one that is nested in it, passes a test."""
    children = [kind.field(index).type for index in range(kind.num_fields)]
    if pa.types.is_dictionary(kind):
        children = [kind.value_type]
    return test(kind) or any(_holds(child, test) for child in children)


def _is_binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in (*tests, pa.types.is_binary_view))


def _is_empty(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) and not kind.num_fields


class Fit:
    """The rows of a source as tables of one schema, whichever of them are chosen.

    Parameters
    ----------
    source
        Where the rows are from.
    documents
        Blocks from the start of the source, and which of their rows are documents. The schema is
        that of the documents in the first block with any; where their values do not go together,
        the type that most of them have is that of a column.
    """

    def __init__(self, source: Source, documents: Iterable[tuple[RowBlock, Mask]]) -> None:
        self.schema = pa.schema([])
        for block, chosen in documents:
            if source.has_fixed_columns:
                # No row need be read, which takes long where texts come out of pages.
                self.schema = block.to_table(np.zeros(len(block), np.bool_)).schema
                break
            if chosen.any():
                self.schema = _schema_of_most(block, np.flatnonzero(chosen))
                break
        _check_parquet(self.schema, source.origin or source.name, JSON_LINES)

    def tables(self, block: RowBlock, chosen: Mask) -> Iterator[tuple[Int64s, pa.Table | str]]:
        """Yield the chosen rows, some at a time: as a table, or of a single one why it is none."""
        waiting = [np.flatnonzero(chosen)] if chosen.any() else []
        while waiting:
            rows = waiting.pop()
            try:
                table = self._fitted(block.to_table(_mask(block, rows)))
            except InvalidInputError as error:
                if len(rows) == 1:
                    yield rows, error.reason_in_both
                    continue
                half = len(rows) // 2
                waiting += [rows[half:], rows[:half]]
            else:
                yield rows, table

    def _fitted(self, table: pa.Table) -> pa.Table:
        """Cast a table to the schema; a column that it lacks is null."""
        for name in table.column_names:
            if name not in self.schema.names and table.column(name).null_count < len(table):
                message = f"column {name!r} is not in the first rows of the file; {JSON_LINES}"
                raise InvalidInputError(message)
        if table.schema.names == self.schema.names:
            columns = table.columns
        else:
            nulls, there = pa.nulls(len(table)), set(table.column_names)
            columns = [table.column(n) if n in there else nulls for n in self.schema.names]
        fitted = []
        for field, column in zip(self.schema, columns, strict=True):
            try:
                fitted.append(column.cast(field.type))
            except pa.ArrowException:
                message = (
                    f"column {field.name!r} holds {column.type} values, the first rows of the file "
                    f"{field.type}; {JSON_LINES}"
                )
                raise InvalidInputError(message) from None
        return pa.Table.from_arrays(fitted, schema=self.schema)


def _mask(block: RowBlock, rows: Int64s) -> Mask:
    mask: Mask = np.zeros(len(block), np.bool_)
    mask[rows] = True
    return mask


def _schema_of_most(block: RowBlock, rows: Int64s) -> pa.Schema:
    """Return the schema of some rows; of a column with several types that of most of them."""
    parts: list[tuple[int, pa.Schema]] = []
    waiting, n_tried = [rows], 0
    while waiting and n_tried < _MOST_TRIED:
        rows, n_tried = waiting.pop(0), n_tried + 1
        try:
            parts.append((len(rows), block.to_table(_mask(block, rows)).schema))
        except InvalidInputError:
            half = len(rows) // 2
            waiting += [part for part in (rows[:half], rows[half:]) if len(part)] if half else []
    counts: dict[str, dict[pa.DataType, int]] = {}
    for n_rows, schema in parts:
        for field in schema:
            types = counts.setdefault(field.name, {})
            types[field.type] = types.get(field.type, 0) + n_rows
    if len(parts) == 1:
        return parts[0][1]
    return pa.schema([(name, _type_of_most(types)) for name, types in counts.items()])


def _type_of_most(counts: dict[pa.DataType, int]) -> pa.DataType:
    kinds = sorted(counts, key=lambda kind: -counts[kind])
    found = pa.schema([("", kinds[0])])
    for kind in kinds[1:]:
        try:
            found = pa.unify_schemas([found, pa.schema([("", kind)])], promote_options="permissive")
        except pa.ArrowException:
            continue
    return found.field(0).type


def table_of(block: RowBlock, chosen: Mask) -> pa.Table:
    """Return rows of a block as a table."""
    try:
        return block.to_table(chosen)
    except InvalidInputError as error:
        found = error
    rows = np.flatnonzero(chosen)
    n_good, n_bad = 0, len(rows)
    while n_bad - n_good > 1:
        half = (n_good + n_bad) // 2
        try:
            block.to_table(_mask(block, rows[:half]))
            n_good = half
        except InvalidInputError as error:
            found, n_bad = error, half
    reason = found.reason_in_both.removeprefix("in the rows from here on, ")
    raise InvalidInputError(reason, path=found.path, row=int(block.numbers[rows[n_good]]))


class FittingTableWriter(RowWriter):
    """Writes documents of any source as Parquet, with the schema of those of its first block.

    The schema does not depend on which rows are selected, so all outputs of a source agree.

    Parameters
    ----------
    source
        Where the rows come from.
    destination
        Where to write.
    documents
        Which of the source's rows are documents, None for all; others are never written.
    """

    def __init__(
        self, source: Source, destination: Destination, documents: Mask | None = None
    ) -> None:
        self.fit = Fit(source, _numbered(source, documents))
        self._path = source.origin or source.name
        self._writer = TableWriter(destination, self.fit.schema)

    def prepare(self, block: RowBlock, select: Mask) -> list[pa.Table]:
        """Return the selected rows as tables."""
        tables = []
        for rows, found in self.fit.tables(block, select):
            if isinstance(found, str):
                number = int(block.numbers[rows[0]])
                raise late_misfit(found, path=self._path, row=number)
            tables.append(found)
        return tables

    def append(self, prepared: list[pa.Table]) -> None:
        """Append rows."""
        for table in prepared:
            self._writer.append(table)

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()


def late_misfit(reason: str, *, path: str, row: int) -> InvalidInputError:
    """Return the error for a row that was found only when rows were written not to fit."""
    message = f"{reason}; this was found while writing, and nothing was written"
    return InvalidInputError(message, path=path, row=row)


def _numbered(source: Source, documents: Mask | None) -> Iterator[tuple[RowBlock, Mask]]:
    start = 0
    for block in source.blocks():
        stop = start + len(block)
        yield block, np.ones(len(block), np.bool_) if documents is None else documents[start:stop]
        start = stop


class RowsToFit:
    """The demand that all documents of a source fit another format; others are bad rows.

    Copies that go to other processes find the schema anew.
    """

    def __init__(self) -> None:
        self._fit: Fit | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[RowsToFit], tuple[()]]:
        """Leave the lock and the schema behind."""
        return RowsToFit, ()

    def block(self, source: Source, block: RowBlock) -> RowBlock:
        """Return a block of the source whose rows have to fit."""
        return _FittingBlock(source, block, self)

    def misfits(
        self, source: Source, block: RowBlock, columns: ColumnNames, good: Mask
    ) -> Iterator[tuple[int, str]]:
        """Yield the good rows of a block that do not fit, and why."""
        with self._lock:
            if self._fit is None:
                self._fit = Fit(source, _documents_of(source, columns))
        for rows, found in self._fit.tables(block, good):
            if isinstance(found, str):
                yield int(rows[0]), found


def _documents_of(source: Source, columns: ColumnNames) -> Iterator[tuple[RowBlock, Mask]]:
    for block in source.blocks():
        texts = block.parse(columns, skip_bad=True).text
        yield block, texts.is_valid().to_numpy(zero_copy_only=False)


def to_fit(sources: Sequence[Source], output_format: OutputFormat) -> None:
    """Demand of sources whose rows may not fit a format that they do, when they are first read."""
    for source in sources:
        if output_format in source.may_misfit:
            source.demand = RowsToFit()


class _FittingBlock(RowBlock):
    """A block of a source of which it is demanded that its rows fit."""

    def __init__(self, source: Source, block: RowBlock, demand: RowsToFit) -> None:
        self._source, self._block, self._demand = source, block, demand
        self.numbers, self.end, self.place = block.numbers, block.end, block.place
        self.language = block.language

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Parse the named columns; among all rows those that do not fit are bad."""
        rows = self._block.parse(columns, select=select, skip_bad=skip_bad)
        if select is not None:
            return rows
        problems = Problems(self.numbers, self._source.origin, skip_bad)
        good = rows.text.is_valid().to_numpy(zero_copy_only=False)
        for index, reason in self._demand.misfits(self._source, self._block, columns, good):
            problems.add(index, reason)
        skipped = rows.skipped
        rows = problems.without_bad_rows(rows)
        if problems.bad.any():
            rows.skipped = sorted(rows.skipped + skipped)
        return rows

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all columns."""
        return self._block.to_table(select)

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Give some columns."""
        return self._block.some_columns(names, select)

    def with_cuts(self, cuts: Cuts) -> RowBlock:
        """Return what the block itself becomes."""
        return self._block.with_cuts(cuts)


# The formats in which the rows of any source can be written.


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


# A kind of spreadsheet that is read, and written as .xlsx.
_OTHER_SPREADSHEETS = (".xlsm",)


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
