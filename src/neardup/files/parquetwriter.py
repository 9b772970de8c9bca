"""Write tables as one Parquet file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

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
    """Collects rows and writes them in row groups of some tens of megabytes.

    Parameters
    ----------
    destination
        Where to write; folders on the way are created, an existing file is replaced.
    schema
        Of all rows, with the metadata to keep.
    compression
        Codec of all columns, or of each by its path in the schema.
    digest
        Gets the bytes of the file, if it is given.
    """

    def __init__(
        self,
        destination: Destination,
        schema: pa.Schema,
        compression: str | dict[str, str] = "zstd",
        digest: Any = None,
    ) -> None:
        self._destination, self._schema = destination, schema
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._is_closed = self._has_failed = False
        with writing(destination), _fitting(destination):
            self._file = destination.create()
            file = self._file if digest is None else _Digested(self._file, digest)
            try:
                self._writer: Any = pq.ParquetWriter(
                    file, schema, compression=compression, write_page_checksum=True
                )
            except BaseException:
                self._file.close()
                raise

    def prepare(self, block: RowBlock, select: Mask) -> pa.Table | None:
        """Return the selected rows, all columns."""
        return block.to_table(select) if select.any() else None

    def append(self, prepared: pa.Table | None) -> None:
        """Append a table of the writer's schema."""
        if prepared is None:
            return
        table = prepared
        self._waiting.append(table)
        self._rows += len(table)
        self._bytes += table.nbytes
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
            with writing(self._destination):
                self._writer.close()
                self._file.close()
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Close the file; Arrow's writer cannot be closed after an error, and would try later."""
        self._writer.is_open = False
        with contextlib.suppress(OSError):
            self._file.close()


@contextlib.contextmanager
def _fitting(destination: Destination) -> Iterator[None]:
    """Say what Parquet does not hold: unions, runs, and more in a column than it can count."""
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        message = f"Parquet cannot hold a column ({one_line(error)}); write the rows as they are, "
        message += "or without that column"
        raise InvalidInputError(message, path=str(destination)) from None


class _Digested:
    """A file that hands the bytes that it gets to a digest, too."""

    closed = False

    def __init__(self, file: BinaryIO, digest: Any) -> None:
        self._file, self._digest = file, digest

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()
