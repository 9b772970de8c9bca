"""Write tables as one Parquet file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InvalidInputError
from neardup.files.rows import Mask, RowBlock, RowWriter
from neardup.files.streams import one_line, writing

if TYPE_CHECKING:
    from neardup.files.streams import Destination

_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 64 << 20


class TableWriter(RowWriter):
    """Collect rows and write them in row groups of some tens of megabytes.

    Columns are compressed with Zstandard, and pages have checksums.

    Parameters
    ----------
    destination
        The file; folders on the way are created, an existing file is replaced.
    schema
        Of all rows, with the metadata to keep.
    digest
        Gets the bytes of the file, if it is given.
    """

    def __init__(self, destination: Destination, schema: pa.Schema, digest: Any = None) -> None:
        self._destination = destination
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._is_closed = self._has_failed = False
        with writing(destination), _fitting(destination):
            # A schema that Parquet cannot hold is refused before there is a file.
            pq.ParquetWriter(pa.BufferOutputStream(), schema).close()
            self._file = destination.create()
            sink = _Sink(self._file, digest)
            self._writer: Any = pq.ParquetWriter(
                sink, schema, compression="zstd", write_page_checksum=True
            )

    def prepare(self, block: RowBlock, select: Mask) -> pa.Table | None:
        """Return the selected rows, all columns."""
        return block.to_table(select) if select.any() else None

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
        """Append a table of the writer's schema as a row group of its own."""
        self._flush()
        self._put(table)

    def _flush(self) -> None:
        if self._waiting:
            self._put(pa.concat_tables(self._waiting))
        self._waiting, self._rows, self._bytes = [], 0, 0

    def _put(self, group: pa.Table) -> None:
        self._has_failed = True
        with writing(self._destination), _fitting(self._destination):
            # Arrow has no size for a group without rows.
            self._writer.write_table(group, row_group_size=len(group) or None)
        self._has_failed = False

    def close(self) -> None:
        """Complete the file; a second call does nothing, and neither does one after an error."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._has_failed:
            self._abandon()
            return
        try:
            self._flush()
            with writing(self._destination), _fitting(self._destination):
                self._writer.close()
                self._file.close()
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Close the file as it is."""
        # Arrow's writer cannot be closed after an error, and would try later.
        self._writer.is_open = False
        with contextlib.suppress(OSError):
            self._file.close()


class _Sink:
    """A file as Arrow writes it, whose bytes a digest gets, too."""

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
        """Nothing waits."""


@contextlib.contextmanager
def _fitting(destination: Destination) -> Iterator[None]:
    """Refuse values that Parquet has no place for: unions, runs, and too much in a column."""
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        message = f"Parquet cannot hold a column ({one_line(error)}); write the rows as they are, "
        message += "or without that column"
        raise InvalidInputError(message, path=str(destination)) from None
