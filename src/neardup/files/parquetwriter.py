"""Write tables, and the rows of any source, as one Parquet file."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InvalidInputError
from neardup.files.rows import Mask, RowBlock, RowWriter, Source
from neardup.files.streams import writing

if TYPE_CHECKING:
    from neardup.files.destinations import Destination

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
    """

    def __init__(
        self,
        destination: Destination,
        schema: pa.Schema,
        compression: str | dict[str, str] = "zstd",
    ) -> None:
        self._destination, self._schema = destination, schema
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._is_closed = self._has_failed = False
        with writing(destination):
            self._file = destination.create()
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
        with writing(self._destination):
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


class FittingTableWriter(RowWriter):
    """Writes the rows of any source as Parquet, with the schema of the first block of the source.

    The schema does not depend on which rows are selected, so all outputs of a source agree.

    Parameters
    ----------
    source
        Where the rows come from.
    destination
        Where to write.
    """

    def __init__(self, source: Source, destination: Destination) -> None:
        first = next(iter(source.blocks()), None)
        self._schema = pa.schema([]) if first is None else first.to_table().schema
        self._path = source.name
        self._writer = TableWriter(destination, self._schema)

    def write(self, block: RowBlock, select: Mask) -> None:
        """Append the selected rows.

        Raises
        ------
        InvalidInputError
            If they do not fit the schema.
        """
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
        """Complete the file."""
        self._writer.close()
