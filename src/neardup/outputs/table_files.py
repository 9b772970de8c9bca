"""Result tables as single files: Parquet, CSV, JSON lines or a spreadsheet, by their ending."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from neardup.errors import (
    InvalidParameterError,
    MissingExtraError,
    OutputExistsError,
    WriteError,
)
from neardup.files.destinations import Destination, LocalDestination
from neardup.outputs.folder import check_local, translated
from neardup.outputs.targets import Target, Url
from neardup.storage.scratch import scratch_beside, take_place

if TYPE_CHECKING:
    import pyarrow as pa

TABLE_SUFFIXES = (".parquet", ".csv", ".jsonl", ".xlsx")


def format_of(target: Target, table_format: str | None = None) -> str:
    """Return the format of a table's file: that of its ending, or the one that was asked for.

    Empty if neither says it.

    Raises
    ------
    InvalidParameterError
        If they differ.
    """
    found = target.suffix[1:] if target.suffix in TABLE_SUFFIXES else ""
    if table_format is not None and found and found != table_format:
        message = f"output-format {table_format} does not go with the name {target}; leave it out"
        raise InvalidParameterError(message, "output-format")
    return table_format or found


def check_table_file(target: Target, *, overwrite: bool, table_format: str | None = None) -> None:
    """Make sure, before work starts, that a table may be written to a file.

    Raises
    ------
    InvalidParameterError
        If its ending is not one of ``TABLE_SUFFIXES`` and no format is given, or another one.
    MissingExtraError
        For a spreadsheet, without the library that writes it.
    OutputExistsError, WriteError
        As ``check_file``.
    """
    found = format_of(target, table_format)
    if found == "xlsx" and find_spec("xlsxwriter") is None:
        raise MissingExtraError("xlsx", "a spreadsheet")
    suffixes = TABLE_SUFFIXES if not found else (target.suffix,)
    check_file(target, suffixes, overwrite=overwrite)


def check_file(target: Target, suffixes: tuple[str, ...], *, overwrite: bool) -> None:
    """Make sure, before work starts, that a single file may be written.

    Raises
    ------
    InvalidParameterError
        If its ending is not one of ``suffixes``.
    OutputExistsError
        If it exists and is not to be replaced.
    WriteError
        If it is a folder, or cannot be written there.
    """
    if target.suffix not in suffixes:
        message = f"the output file must end in {', '.join(suffixes)}, got {str(target)!r}"
        raise InvalidParameterError(message)
    if isinstance(target, Url):
        from neardup.outputs.remote_file import check_remote_file

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

    Raises
    ------
    InvalidParameterError, MissingExtraError, OutputExistsError, WriteError
        As ``check_table_file``, and when writing fails.
    """
    check_table_file(target, overwrite=overwrite, table_format=table_format)
    written_as = format_of(target, table_format)
    write_file(target, lambda new: _write(table, new, written_as))


def write_file(target: Target, write: Callable[[Destination], object]) -> None:
    """Have a file written, which appears when it is complete: a local one is moved to its place.

    Raises
    ------
    WriteError
        When writing fails.
    """
    if isinstance(target, Url):
        from neardup.outputs.remote_file import new_remote_file

        with new_remote_file(target) as destination:
            write(destination)
        return
    with translated(target), scratch_beside(target) as content:
        write(LocalDestination(content))
        take_place(content, target)


def size_of(target: Target) -> int:
    """Return the bytes of a file that was written."""
    if isinstance(target, Url):
        from neardup.outputs.remote_file import remote_size

        return remote_size(target)
    return target.stat().st_size


def _write(
    table: pa.Table | pa.RecordBatchReader,
    destination: Destination,
    written_as: str,
) -> None:
    import pyarrow as pa

    if written_as == "parquet" and isinstance(table, pa.RecordBatchReader):
        from neardup.outputs.table_parts import write_parquet_part

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
            from neardup.outputs.table_text import WRITERS

            WRITERS[written_as](table, file)
