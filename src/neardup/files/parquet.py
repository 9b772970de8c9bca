"""Parquet: rows are read when they are asked for, and only the columns that are.

A block is a range of rows of one row group. Within a row group Parquet can only be read forward,
so the blocks of a group share one reader for each set of columns. It hands every block its rows
as it passes them; blocks that are gone get none.
"""

from __future__ import annotations

import contextlib
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import filter_rows, parse_arrow
from neardup.files.parquetwriter import TableWriter
from neardup.files.problems import check_columns, first_values
from neardup.files.rawrows import BLOCK_BYTES
from neardup.files.rows import (
    ColumnNames,
    Mask,
    ParsedRows,
    RowBlock,
    RowWriter,
    Source,
    columns_among,
)
from neardup.files.streams import file_size, open_random, reading
from neardup.files.tableblocks import TableBlock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from neardup.files.cuts import Cuts
    from neardup.files.destinations import Destination
    from neardup.files.input_options import InputOptions

_MIN_ROWS, _MAX_ROWS = 64, 8192
_READ_AHEAD = 1 << 20

Columns = tuple[str, ...] | None
"""Names of the columns to read, None for all."""


def open_source(location: str, name: str, _: InputOptions) -> ParquetSource:
    """Return the source of a file."""
    return ParquetSource(location, name)


class ParquetSource(Source):
    """A Parquet file; rows count from 1.

    An output has the schema, the metadata and, column by column, the codec of the first row group
    of its input. Row groups are made anew.

    Parameters
    ----------
    location
        Local path or URL.
    name
        Name in ids and outputs.
    block_bytes
        About how much a block holds, as it is encoded in the file.
    """

    input_options = frozenset({"input_format"})

    def __init__(self, location: str, name: str, *, block_bytes: int = BLOCK_BYTES) -> None:
        self.location = self.origin = location
        self.name = name
        self.size = file_size(location)
        self._block_bytes = block_bytes

    @cached_property
    def metadata(self) -> pq.FileMetaData:
        """What the end of the file says about the rest."""
        with parquet_errors(self.location), open_random(self.location) as file:
            return pq.ParquetFile(file).metadata

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns with their Arrow types, and the metadata of the file."""
        return self.metadata.schema.to_arrow_schema()

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        names: list[str] = self.schema.names
        return names

    def schema_metadata(self) -> Mapping[bytes, bytes]:
        """Return the metadata of the file."""
        return self.schema.metadata or {}

    def blocks(self) -> Iterator[RowBlock]:
        """Divide the row groups; nothing is read yet but the metadata."""
        number = 1
        for index in range(self.metadata.num_row_groups):
            group = self.metadata.row_group(index)
            bytes_per_row = max(1, group.total_byte_size // max(1, group.num_rows))
            size = min(max(self._block_bytes // bytes_per_row, _MIN_ROWS), _MAX_ROWS)
            for block in _RowGroup(self, index, size).blocks(number):
                # Row groups say how large they are decompressed, and not where they end.
                block.end = (self.size or 0) * int(block.numbers[-1]) // self.metadata.num_rows
                yield block
            number += group.num_rows

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet."""
        return TableWriter(folder / self.name, self.schema, self._codecs())

    def _codecs(self) -> str | dict[str, str]:
        if not self.metadata.num_row_groups:
            return "snappy"
        group = self.metadata.row_group(0)
        columns = [group.column(index) for index in range(group.num_columns)]
        codecs = {
            column.path_in_schema: column.compression.replace("UNCOMPRESSED", "NONE")
            for column in columns
        }
        return codecs if len(set(codecs.values())) > 1 else next(iter(codecs.values()), "snappy")


@contextlib.contextmanager
def parquet_errors(path: str) -> Iterator[None]:
    """Turn what Arrow raises for a damaged file into InvalidInputError or ReadError."""
    try:
        with reading(path):
            yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        message = f"not a Parquet file that Arrow can read: {error}"
        raise InvalidInputError(message, path=path) from error


class _RowGroup:
    """One row group, in blocks of ``size`` rows."""

    def __init__(self, source: ParquetSource, index: int, size: int) -> None:
        self.source, self.index, self.size = source, index, size
        self.n_rows = source.metadata.row_group(index).num_rows
        self.living: WeakValueDictionary[int, _ParquetBlock] = WeakValueDictionary()
        self._readers: dict[Columns, _Reader] = {}
        self._lock = threading.Lock()

    def blocks(self, number: int) -> Iterator[RowBlock]:
        for start in range(0, self.n_rows, self.size):
            stop = min(start + self.size, self.n_rows)
            block = _ParquetBlock(self, start, np.arange(number + start, number + stop))
            self.living[start] = block
            yield block

    def reader(self, columns: Columns) -> _Reader:
        with self._lock:
            return self._readers.setdefault(columns, _Reader(self, columns))


class _Reader:
    """Reads some columns of a row group from front to back, for all its blocks."""

    def __init__(self, group: _RowGroup, columns: Columns) -> None:
        self._group, self._columns = group, columns
        self._lock = threading.Lock()
        self._position = 0
        self._batches: Iterator[pa.RecordBatch] | None = None
        self._file: Any = None

    def read(self, block: _ParquetBlock) -> pa.Table:
        """Give the rows of a block."""
        with self._lock, parquet_errors(self._group.source.location):
            try:
                while self._columns not in block.tables:
                    self._advance()
            except BaseException:
                # Who asks again must get the right rows, so reading starts over.
                self._close()
                raise
            return block.tables[self._columns]

    def _advance(self) -> None:
        """Read the rows of the next block and hand them over, if it still exists."""
        if self._batches is None:
            self._open()
        assert self._batches is not None
        group, start = self._group, self._position
        wanted = min(group.size, group.n_rows - start)
        batches = []
        # Arrow gives shorter batches where strings do not fit 32-bit offsets.
        while wanted > 0:
            batches.append(next(self._batches))
            wanted -= len(batches[-1])
        self._position = start + group.size
        owner = group.living.get(start)
        if owner is not None:
            owner.tables[self._columns] = pa.Table.from_batches(batches)
        if self._position >= group.n_rows:
            self._close()

    def _open(self) -> None:
        source = self._group.source
        self._file = open_random(source.location)
        file = pq.ParquetFile(
            self._file, metadata=source.metadata, buffer_size=_READ_AHEAD, pre_buffer=False
        )
        self._batches = file.iter_batches(
            self._group.size,
            row_groups=[self._group.index],
            columns=None if self._columns is None else list(self._columns),
            use_threads=False,
        )

    def _close(self) -> None:
        self._batches, self._position = None, 0
        if self._file is not None:
            self._file.close()


class _ParquetBlock(RowBlock):
    """A range of rows of a row group, with what has been read of it so far."""

    def __init__(self, group: _RowGroup, start: int, numbers: Any) -> None:
        self._group = group
        self.start = start
        self.numbers = numbers
        self.tables: dict[Columns, pa.Table] = {}

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Read the named columns and check them."""
        source = self._group.source
        names = check_columns(
            columns,
            source.schema.names,
            path=source.location,
            sample=lambda: first_values(self),
        )
        table = self._read(tuple(names), select)
        numbers = self.numbers if select is None else self.numbers[select]
        return parse_arrow(table, numbers, columns, path=source.location, skip_bad=skip_bad)

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all columns, with the metadata of the file."""
        return self._read(None, select).replace_schema_metadata(self._group.source.schema.metadata)

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Read the named columns alone."""
        there = tuple(dict.fromkeys(n for n in names if n in self._group.source.schema.names))
        return columns_among(self._read(there, select), there)

    def with_cuts(self, cuts: Cuts) -> TableBlock:
        """Read all columns, and cut spans out of those of the texts."""
        path = self._group.source.location
        return TableBlock(self.to_table(), int(self.numbers[0]), path).with_cuts(cuts)

    def _read(self, columns: Columns, select: Mask | None) -> pa.Table:
        table = self._group.reader(columns).read(self)
        return filter_rows(table, select)
