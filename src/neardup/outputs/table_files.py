"""Result tables as single files, in the format of their ending."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from neardup.errors import InvalidParameterError, MissingExtraError, WriteError
from neardup.files.streams import Destination, LocalDestination, writing
from neardup.options.choices import TableFormat
from neardup.outputs.folder import check_local, holding, translated
from neardup.outputs.table_text import WRITERS
from neardup.outputs.targets import Target, Url, is_standard_output, output_exists
from neardup.runs.disk import note_stream
from neardup.runs.scratch import take_place

# Long tables as Parquet: one file, or beyond a number of rows a folder of parts.
#
# Rows come in batches of any size, and are regrouped: a file's bytes depend on its rows alone. So a
# task with the rows of one part writes the same bytes as a run over all rows.

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

    Returns the SHA-256 of the file, or of its parts one after the other, in hex.

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
    # Tables as text do not load the Parquet writer.
    from neardup.files.parquetwriter import TableWriter

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
    """Concatenate tables, each column in one piece.

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
    """Return the format of a table's file, by its ending or ``table_format``.

    Empty if both are missing.
    """
    found = target.suffix[1:] if target.suffix in TABLE_SUFFIXES else ""
    if table_format is not None and found and found != table_format:
        message = f"format {table_format} does not go with the name {target}; leave it out"
        raise InvalidParameterError(message, "format")
    return table_format or found


def check_table_file(
    target: Target,
    *,
    overwrite: bool,
    table_format: str | None = None,
) -> None:
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
        raise output_exists(target)
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
    with holding(target, overwrite=True) as content, translated(target):
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
            from neardup.outputs.table_xlsx import write_xlsx

            write_xlsx(table, file)
        else:
            WRITERS[written_as](table, file)


# Formats that are not written row by row.
_OF_FILES = {"parquet": "Parquet", "xlsx": "a spreadsheet"}


@dataclass(frozen=True)
class TableTarget:
    """Where a table goes.

    Parameters
    ----------
    path
        A file or its URL, a pipe or a device, or standard output.
    format
        ``parquet``, ``csv``, ``jsonl`` or ``xlsx``.
    is_stream
        Whether it takes rows one after the other, as all but a file does.
    """

    path: Target
    format: str
    is_stream: bool

    @property
    def is_standard_output(self) -> bool:
        """Whether nothing else may be written to standard output."""
        return is_standard_output(self.path)

    def __str__(self) -> str:
        """Return the name for messages."""
        return "standard output" if self.is_standard_output else str(self.path)

    def write(self, table: pa.Table | pa.RecordBatchReader, *, overwrite: bool) -> None:
        """Write the table; a file appears when complete, a stream gets some rows at a time."""
        if not self.is_stream:
            write_table(table, self.path, overwrite=overwrite, table_format=self.format)
            return
        from neardup.outputs.table_text import WRITERS

        with note_stream(str(self)), self._open() as stream:
            WRITERS[self.format](table, stream)

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        try:
            if self.is_standard_output:
                yield sys.stdout.buffer
                sys.stdout.buffer.flush()
            else:
                # It waits until somebody reads a pipe.
                with Path(self.path).open("wb") as stream:
                    yield stream
        except BrokenPipeError:
            raise
        except OSError as error:
            message = f"cannot write to {self}: {error.strerror}; what it has got is incomplete"
            raise WriteError(message) from None


def plan_table(target: Target, table_format: TableFormat | None, *, overwrite: bool) -> TableTarget:
    """Plan the file and format of a table before work starts; JSON lines by default."""
    if not _is_stream(target):
        check_table_file(target, overwrite=overwrite, table_format=table_format)
        return TableTarget(target, format_of(target, table_format), is_stream=False)
    found = format_of(target, table_format) or "jsonl"
    if found in _OF_FILES:
        name = _OF_FILES[found]
        message = f"{target} is no file, and takes CSV or JSON lines only; {name} needs a file"
        raise InvalidParameterError(message)
    return TableTarget(target, found, is_stream=True)


def _is_stream(target: Target) -> bool:
    if is_standard_output(target):
        return True
    if isinstance(target, Url):
        return False
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
