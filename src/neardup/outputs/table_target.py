"""Where a table goes: a file, a pipe or device, or standard output."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from neardup.errors import InvalidParameterError, WriteError
from neardup.options.choices import TableFormat
from neardup.outputs.folder import STANDARD_OUTPUT
from neardup.outputs.table_files import check_table_file, format_of, write_table
from neardup.outputs.targets import Target, Url
from neardup.runs.disk import note_stream

if TYPE_CHECKING:
    import pyarrow as pa

# Formats that are not written row by row.
_OF_FILES = {"parquet": "Parquet", "xlsx": "a spreadsheet"}

_NAMES_OF_STANDARD_OUTPUT = (STANDARD_OUTPUT, Path("/dev/stdout"))


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
        return self.path in _NAMES_OF_STANDARD_OUTPUT

    def __str__(self) -> str:
        """Return what users call it."""
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
    """Decide, before work starts, where a table goes and how; JSON lines if nothing says so."""
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
    if target in _NAMES_OF_STANDARD_OUTPUT:
        return True
    if isinstance(target, Url):
        return False
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
