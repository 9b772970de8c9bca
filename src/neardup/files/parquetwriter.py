"""Write Arrow tables as one Parquet file."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.files.rows import Mask, RowBlock, RowWriter
from neardup.files.streams import writing

if TYPE_CHECKING:
    from pathlib import Path

_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 64 << 20


class TableWriter(RowWriter):
    """Collects rows and writes them in row groups of some tens of megabytes.

    Parameters
    ----------
    path
        Where to write; folders on the way are created, an existing file is replaced.
    schema
        Of all rows, with the metadata to keep.
    compression
        Codec of all columns, or of each by its path in the schema.
    """

    def __init__(
        self, path: Path, schema: pa.Schema, compression: str | dict[str, str] = "zstd"
    ) -> None:
        self._path, self._schema = path, schema
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._is_closed = self._has_failed = False
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb")
            self._writer: Any = pq.ParquetWriter(self._file, schema, compression=compression)

    def write(self, block: RowBlock, select: Mask) -> None:
        """Append the selected rows, all columns."""
        if select.any():
            self.write_table(block.to_table(select))

    def write_table(self, table: pa.Table) -> None:
        """Append a table of the writer's schema."""
        self._waiting.append(table)
        self._rows += len(table)
        self._bytes += table.nbytes
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            group = pa.concat_tables(self._waiting)
            self._has_failed = True
            with writing(self._path):
                self._writer.write_table(group, row_group_size=len(group))
            self._has_failed = False
        self._waiting, self._rows, self._bytes = [], 0, 0

    def close(self) -> None:
        """Complete the file; a second call does nothing, and neither does one after an error."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._has_failed:
            with contextlib.suppress(OSError):
                self._file.close()
            return
        with contextlib.closing(self._file):
            self._flush()
            with writing(self._path):
                self._writer.close()
