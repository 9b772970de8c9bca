"""Result tables as single files: Parquet, CSV, JSON lines or a spreadsheet, by their ending."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import xlsxwriter
from xlsxwriter.exceptions import FileCreateError

from neardup.errors import InvalidParameterError, MissingExtraError, OutputExistsError, WriteError
from neardup.files.destinations import Destination, LocalDestination
from neardup.files.parquetwriter import TableWriter
from neardup.files.streams import writing
from neardup.outputs.folder import check_local, translated
from neardup.outputs.targets import Target, Url
from neardup.storage.scratch import scratch_beside, take_place

# Tables as text, CSV or JSON lines, some rows at a time.

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


# Tables as spreadsheets (.xlsx), whose cells are texts and numbers and never formulas.

_SHEET_ROWS = 1 << 20
_CELL_UNITS = 32_767

# Spreadsheets show 15 digits of a number, and take it for that when it is changed.
_LEAST_TEXT = 10**15

_WIDTH, _TEXT_WIDTH = 14, 60

# The library writes the time into the file, which would then never be the same twice.
_CREATED = datetime(2000, 1, 1)


def write_xlsx(table: pa.Table | pa.RecordBatchReader, stream: BinaryIO) -> None:
    """Write a header and the rows, in as many sheets as they need.

    A text that is longer than a cell may be is cut, and says so at its end. What no number of a
    spreadsheet can be is a text: whole numbers of more than 15 digits, floats that are not finite.
    """
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        # Not to the stream: after an error the library would go on writing when nobody listens.
        path = Path(folder) / "table.xlsx"
        workbook = xlsxwriter.Workbook(path, {"constant_memory": True, "tmpdir": folder})
        workbook.set_properties({"created": _CREATED})
        try:
            _write_sheets(workbook, table)
            workbook.close()
        except FileCreateError as error:
            raise error.args[0] from None
        with path.open("rb") as file:
            shutil.copyfileobj(file, stream)


def _write_sheets(workbook: Any, table: pa.Table | pa.RecordBatchReader) -> None:
    names = table.schema.names
    sheet, row = _new_sheet(workbook, names), 1
    for values in _rows(table):
        if row == _SHEET_ROWS:
            sheet, row = _new_sheet(workbook, names), 1
        for column, value in enumerate(values):
            _write_cell(sheet, row, column, value)
        row += 1


def _new_sheet(workbook: Any, names: list[str]) -> Any:
    sheet = workbook.add_worksheet()
    sheet.freeze_panes(1, 0)
    bold = workbook.add_format({"bold": True})
    for column, name in enumerate(names):
        sheet.set_column(column, column, _TEXT_WIDTH if name.endswith("text") else _WIDTH)
        sheet.write_string(0, column, name, bold)
    return sheet


def _rows(table: pa.Table | pa.RecordBatchReader) -> Iterator[tuple[Any, ...]]:
    for batch in batches_of(table):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _write_cell(sheet: Any, row: int, column: int, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif _is_number(value):
        sheet.write_number(row, column, value)
    else:
        _write_text(sheet, row, column, _fitting(str(value)))


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and abs(value) < _LEAST_TEXT


def _write_text(sheet: Any, row: int, column: int, text: str) -> None:
    # The library takes such a text for XML of its own, but not the parts of one in several formats.
    if text.startswith("<r>") and text.endswith("</r>"):
        sheet.write_rich_string(row, column, text[:1], text[1:2], text[2:])
    else:
        sheet.write_string(row, column, text)


def _fitting(text: str) -> str:
    """Return a text, or as much of it as a cell holds; that is counted in units of UTF-16."""
    if 2 * len(text) <= _CELL_UNITS:
        return text
    units = text.encode("utf-16-le")
    if len(units) <= 2 * _CELL_UNITS:
        return text
    note = f"… [cut: {len(text):,} characters]"
    # Half a pair of surrogates at the end is left out.
    return units[: 2 * (_CELL_UNITS - len(note))].decode("utf-16-le", "ignore") + note


# Long tables as Parquet: one file, or beyond a number of rows a folder of parts.
#
# Rows come in batches of any size, and are regrouped: a file's bytes depend on its rows, never on
# how these were cut. So a task that has the rows of one part writes what a run over all rows would.

PART_ROWS = 10_000_000
"""Rows of a part; a table that has no more is one file."""

ROW_GROUP_ROWS = 125_000
"""Rows of a row group, which is in memory: 50 MB where a row has two ids of 150 bytes."""


def write_parquet_parts(
    batches: Iterable[pa.Table | pa.RecordBatch],
    schema: pa.Schema,
    destination: Destination,
    *,
    part_rows: int = PART_ROWS,
    are_groups: bool = False,
) -> str:
    """Write rows, as they come, to a file, or to a folder of parts if they are many.

    Returns the SHA-256 of the file, or of its parts one behind the other, in hex.

    Parameters
    ----------
    batches
        The rows in order.
    schema
        Of all batches. A column of dictionary type is written as its values, because dictionaries
        differ from batch to batch.
    destination
        Of the file, or of the folder with files called ``part_name(0)``, ``part_name(1)`` and so
        on, and nothing else. Nothing may be there. While rows come it is not complete, so it should
        be in a folder that is not yet in its place.
    part_rows
        Rows of a part; the last one may have fewer.
    are_groups
        Batches are row groups as they are, of rows so long that fewer should be in memory.
    """
    cut = _given_groups if are_groups else _row_groups
    digest = hashlib.sha256()
    for number, part in groupby(cut(batches, schema, part_rows), itemgetter(0)):
        if number == 1:
            with writing(destination):
                destination.into_folder(part_name(0))
        target = destination / part_name(number) if number else destination
        _write_groups((group for _, group in part), schema, target, digest)
    return digest.hexdigest()


def write_parquet_part(rows: pa.Table | pa.RecordBatchReader, destination: Destination) -> None:
    """Write rows to one file: the bytes that ``write_parquet_parts`` gives a part of these rows."""
    batches = rows.to_batches() if isinstance(rows, pa.Table) else rows
    groups = (group for _, group in _row_groups(batches, rows.schema, part_rows=None))
    _write_groups(groups, rows.schema, destination)


def part_name(number: int) -> str:
    """Return the name of a part's file; parts count from 0."""
    return f"part-{number:05d}.parquet"


def _write_groups(
    groups: Iterable[pa.Table], schema: pa.Schema, destination: Destination, digest: Any = None
) -> None:
    with TableWriter(destination, _without_dictionaries(schema), digest=digest) as writer:
        for group in groups:
            writer.write_group(group)


def _row_groups(
    batches: Iterable[pa.Table | pa.RecordBatch], schema: pa.Schema, part_rows: int | None
) -> Iterator[tuple[int, pa.Table]]:
    """Yield the number of a part and the rows of one of its groups, group after group.

    All groups of a part but the last have ``ROW_GROUP_ROWS``. A table without rows is one group
    without rows. None for ``part_rows`` means one part.
    """
    number = n_in_part = 0
    waiting: list[pa.Table] = []
    n_wanted = n_missing = _next_size(0, part_rows)
    for batch in batches:
        rows = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        while len(rows) >= n_missing:
            yield number, _join([*waiting, rows[:n_missing]], schema)
            rows = rows[n_missing:]
            waiting = []
            n_in_part += n_wanted
            if n_in_part == part_rows:
                number, n_in_part = number + 1, 0
            n_wanted = n_missing = _next_size(n_in_part, part_rows)
        if len(rows):
            waiting.append(rows)
            n_missing -= len(rows)
    if waiting or number == n_in_part == 0:
        yield number, _join([schema.empty_table(), *waiting], schema)


def _given_groups(
    batches: Iterable[pa.Table | pa.RecordBatch], schema: pa.Schema, part_rows: int
) -> Iterator[tuple[int, pa.Table]]:
    """Yield batches with the numbers of their parts; one that goes beyond a part is cut."""
    n_rows = 0
    for batch in batches:
        rows = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        while len(rows):
            number, n_in_part = divmod(n_rows, part_rows)
            group = rows[: part_rows - n_in_part]
            yield number, _join([group], schema)
            rows, n_rows = rows[len(group) :], n_rows + len(group)
    if not n_rows:
        yield 0, _join([schema.empty_table()], schema)


def _next_size(n_in_part: int, part_rows: int | None) -> int:
    """Return the rows of a full group that starts ``n_in_part`` rows into a part."""
    return ROW_GROUP_ROWS if part_rows is None else min(ROW_GROUP_ROWS, part_rows - n_in_part)


def _join(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """Put tables one behind the other, each column in one piece.

    Parquet's pages end where a column's pieces do.
    """
    return pa.concat_tables(tables).cast(_without_dictionaries(schema)).combine_chunks()


def _without_dictionaries(schema: pa.Schema) -> pa.Schema:
    """Return a schema with the types of the values where it has dictionaries of them."""
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    ]
    return pa.schema(fields, schema.metadata)


TABLE_SUFFIXES = (".parquet", ".csv", ".jsonl", ".xlsx")


def format_of(target: Target, table_format: str | None = None) -> str:
    """Return the format of a table's file: that of its ending, or the one that was asked for.

    Empty if neither says it.
    """
    found = target.suffix[1:] if target.suffix in TABLE_SUFFIXES else ""
    if table_format is not None and found and found != table_format:
        message = f"output-format {table_format} does not go with the name {target}; leave it out"
        raise InvalidParameterError(message, "output-format")
    return table_format or found


def check_table_file(target: Target, *, overwrite: bool, table_format: str | None = None) -> None:
    """Make sure, before work starts, that a table may be written to a file."""
    found = format_of(target, table_format)
    if found == "xlsx" and find_spec("xlsxwriter") is None:
        raise MissingExtraError("xlsx", "a spreadsheet")
    suffixes = TABLE_SUFFIXES if not found else (target.suffix,)
    check_file(target, suffixes, overwrite=overwrite)


def check_file(target: Target, suffixes: tuple[str, ...], *, overwrite: bool) -> None:
    """Make sure, before work starts, that a single file may be written."""
    if target.suffix not in suffixes:
        message = f"the output file must end in {', '.join(suffixes)}, got {str(target)!r}"
        raise InvalidParameterError(message)
    if isinstance(target, Url):
        from neardup.outputs.remote import check_remote_file

        check_remote_file(target, overwrite=overwrite)
        return
    check_local(target)
    if target.is_dir():
        message = f"{target} is a folder; name a file"
        raise WriteError(message)
    if os.path.lexists(target) and not overwrite:
        message = f"{target} exists; choose another name, or replace it with --overwrite"
        raise OutputExistsError(message)
    with translated(target), tempfile.TemporaryFile(dir=target.parent):
        pass


def write_table(
    table: pa.Table | pa.RecordBatchReader,
    target: Target,
    *,
    overwrite: bool = False,
    table_format: str | None = None,
) -> None:
    """Write a table to a file, which appears when it is complete.

    Every page of a Parquet file has a checksum. Rows that are read are written as they come; the
    file does not depend on how they are cut.
    """
    check_table_file(target, overwrite=overwrite, table_format=table_format)
    written_as = format_of(target, table_format)
    write_file(target, lambda new: _write(table, new, written_as))


def write_file(target: Target, write: Callable[[Destination], object]) -> None:
    """Have a file written, which appears when it is complete: a local one is moved to its place."""
    if isinstance(target, Url):
        from neardup.outputs.remote import new_remote_file

        with new_remote_file(target) as destination:
            write(destination)
        return
    with translated(target), scratch_beside(target) as content:
        write(LocalDestination(content))
        take_place(content, target)


def size_of(target: Target) -> int:
    """Return the bytes of a file that was written."""
    if isinstance(target, Url):
        from neardup.outputs.remote import remote_size

        return remote_size(target)
    return target.stat().st_size


def _write(
    table: pa.Table | pa.RecordBatchReader,
    destination: Destination,
    written_as: str,
) -> None:
    import pyarrow as pa

    if written_as == "parquet" and isinstance(table, pa.RecordBatchReader):
        write_parquet_part(table, destination)
        return
    with destination.create() as file:
        if written_as == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, file, compression="zstd", write_page_checksum=True)
        elif written_as == "xlsx":
            write_xlsx(table, file)
        else:
            WRITERS[written_as](table, file)
