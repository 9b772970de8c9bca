"""Parquet files, with rows and columns read only when used.

A block is a range of rows of one row group. Within a row group Parquet can only be read forward,
so the blocks of a group share one reader for each set of columns. It hands every block its rows
as it passes them; blocks that are gone get none.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from weakref import WeakValueDictionary, proxy

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import (
    TableBlock,
    arrow_errors,
    check_batch,
    filter_rows,
    without_views,
)
from neardup.files.columnpaths import path_in
from neardup.files.cuts import Cuts
from neardup.files.rawrows import BLOCK_BYTES
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.streams import Destination, check_unpacked, file_size, open_random
from neardup.files.writers import TableWriter
from neardup.options.groups import InputOptions
from neardup.tables import Int64s

_MIN_ROWS, _MAX_ROWS = 64, 8192
_READ_AHEAD = 1 << 20

Columns = tuple[str, ...] | None
"""Names of the columns to read, None for all."""


def open_source(location: str, name: str, _: InputOptions) -> ParquetSource:
    """Return the source of a file."""
    return ParquetSource(location, name)


class ParquetSource(Source):
    """A Parquet file, written with its schema and metadata."""

    def __init__(self, location: str, name: str, *, block_bytes: int = BLOCK_BYTES) -> None:
        self.location = self.origin = location
        self.name = name
        self.size = file_size(location)
        self._block_bytes = block_bytes

    @cached_property
    def metadata(self) -> pq.FileMetaData:
        """The metadata at the end of the file."""
        with arrow_errors(self.location, _KIND), open_random(self.location) as file:
            metadata = pq.ParquetFile(file).metadata
            groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
            # Names are decoded when they are asked for, which must not fail later.
            for index in range(len(metadata.schema)):
                _ = metadata.schema.column(index).path
        counts = [group.num_rows for group in groups]
        if min(counts, default=0) < 0 or sum(counts) != metadata.num_rows:
            message = (
                f"says that it has {metadata.num_rows:,} rows, and its row groups have "
                f"{sum(counts):,}; get an intact copy"
            )
            raise InvalidInputError(message, path=self.location)
        return metadata

    @cached_property
    def _schema(self) -> pa.Schema:
        return without_views(self.metadata.schema.to_arrow_schema().empty_table()).schema

    def schema(self) -> pa.Schema:
        """Return the Arrow schema with the metadata of the file."""
        return self._schema

    def _read_blocks(self) -> Iterator[RowBlock]:
        """Divide the row groups, reading only metadata."""
        number = 1
        for index in range(self.metadata.num_row_groups):
            group = self.metadata.row_group(index)
            bytes_per_row = max(1, group.total_byte_size // max(1, group.num_rows))
            size = min(max(self._block_bytes // bytes_per_row, _MIN_ROWS), _MAX_ROWS)
            for block in _RowGroup(self, index, size).blocks(number):
                # Row groups record their decompressed size, and not their end.
                block.end = (self.size or 0) * int(block.numbers[-1]) // self.metadata.num_rows
                yield block
            number += group.num_rows

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet."""
        return TableWriter(folder / self.name, self.schema())


_KIND = "a Parquet file"


class _RowRange:
    """A row range within a row group, with loaded columns."""

    def __init__(self, group: _RowGroup, numbers: Int64s) -> None:
        self.group, self.numbers = group, numbers
        self.tables: dict[Columns, pa.Table] = {}


class _RowGroup:
    """One row group, in blocks of ``size`` rows."""

    def __init__(self, source: ParquetSource, index: int, size: int) -> None:
        self.source, self.index, self.size = source, index, size
        self.n_rows = source.metadata.row_group(index).num_rows
        self.living: WeakValueDictionary[int, _RowRange] = WeakValueDictionary()
        self._readers: dict[Columns, Iterator[None]] = {}
        self._lock = threading.Lock()

    def blocks(self, number: int) -> Iterator[RowBlock]:
        for start in range(0, self.n_rows, self.size):
            stop = min(start + self.size, self.n_rows)
            row_range = _RowRange(self, np.arange(number + start, number + stop))
            self.living[start] = row_range
            yield _ParquetBlock(row_range)

    def read(self, row_range: _RowRange, columns: Columns) -> pa.Table:
        """Return columns of a row range, reading forward or anew."""
        with self._lock, arrow_errors(self.source.location, _KIND):
            while columns not in row_range.tables:
                # After an error, reading starts over, so that the next caller gets the right rows.
                # A reader of its group would keep the read part until the next garbage collection.
                reader = self._readers.pop(columns, None) or _read_blocks(proxy(self), columns)
                if next(reader, _END) is not _END:
                    self._readers[columns] = reader
            return row_range.tables[columns]


_END = object()


def _read_blocks(group: _RowGroup, columns: Columns) -> Iterator[None]:
    """Read a row group forward, giving existing blocks their rows."""
    source = group.source
    with open_random(source.location) as opened:
        file = pq.ParquetFile(
            opened,
            metadata=source.metadata,
            buffer_size=_READ_AHEAD,
            pre_buffer=False,
            # Checksums are verified in files that have them.
            page_checksum_verification=True,
        )
        names = None if columns is None else list(columns)
        found = file.iter_batches(
            group.size, row_groups=[group.index], columns=names, use_threads=False
        )
        for start in range(0, group.n_rows, group.size):
            rows = _next_rows(found, min(group.size, group.n_rows - start), group)
            owner = group.living.get(start)
            if owner is not None:
                where = f"{len(rows):,} rows from row {owner.numbers[0]:,}"
                check_batch(rows, where, path=source.location)
                owner.tables[columns] = without_views(rows)
            # A suspended generator keeps its variables.
            del rows, owner
            yield


def _next_rows(batches: Iterator[pa.RecordBatch], n_rows: int, group: _RowGroup) -> pa.Table:
    """Return the next rows, joining batches split by string size."""
    found: list[pa.RecordBatch] = []
    while n_rows > 0:
        batch = next(batches, None)
        if batch is None:
            message = "a row group has fewer rows than the file says; get another copy"
            raise InvalidInputError(message, path=group.source.location)
        found.append(batch)
        n_rows -= len(batch)
        # A value that a page has once may be in all its rows.
        n_bytes = sum(each.nbytes for each in found)
        where = f"row group {group.index + 1:,}"
        check_unpacked(n_bytes, group.source.size, where, group.source.location)
    return pa.Table.from_batches(found)


class _ParquetBlock(TableBlock):
    """Rows of a row range, with columns read on demand."""

    def __init__(self, row_range: _RowRange) -> None:
        source = row_range.group.source
        super().__init__(source.schema().empty_table(), 1, source.location)
        self._row_range, self.numbers = row_range, row_range.numbers

    def _columns(self, names: Sequence[str] | None) -> pa.Table:
        """Return all columns with metadata, or only the needed columns."""
        columns: Columns = None
        if names is not None:
            paths = (path_in(self.schema, name) or () for name in names)
            columns = tuple(dict.fromkeys(filter(None, map(".".join, paths))))
        table = filter_rows(self._row_range.group.read(self._row_range, columns), self._rows)
        return table if names is not None else table.replace_schema_metadata(self.schema.metadata)

    def with_cuts(self, cuts: Cuts) -> TableBlock:
        """Read all columns, and cut spans out of the texts."""
        block = TableBlock(self.to_table(), 1, self._path)
        block.numbers = self.numbers
        return block.with_cuts(cuts)
