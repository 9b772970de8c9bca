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
from neardup.files.thrift import Struct, read_struct, write_struct
from neardup.runs.runner import Handed

if TYPE_CHECKING:
    from neardup.files.streams import Destination

_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 64 << 20


class TableWriter(RowWriter):
    """Collects rows and writes them in row groups of some tens of megabytes.

    Idle threads of a map encode row groups side by side, each as a file of its own, in memory; the
    file is the one that Arrow would write of all of them.

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
        self._options = {"compression": compression, "write_page_checksum": True}
        self._digest = digest
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._is_closed = self._has_failed = False
        with writing(destination), _fitting(destination):
            self._footer = _footer_of(self._encode(None))
            self._file = destination.create()
        self._place = 0
        self._append_bytes(_MARK)
        self._handed = Handed(self._encode)

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
            is_large = 4 * group.nbytes > _GROUP_BYTES
            for encoded in self._handed.add(group, is_large=is_large):
                self._append_group(encoded)
        self._has_failed = False

    def _encode(self, group: pa.Table | None) -> memoryview:
        """Return a file that has one row group, or none."""
        sink = pa.BufferOutputStream()
        writer: Any = pq.ParquetWriter(sink, self._schema, **self._options)
        try:
            if group is not None:
                # Arrow has no size for a group without rows.
                writer.write_table(group, row_group_size=len(group) or None)
        except BaseException:
            # Arrow's writer cannot be closed after an error, and would try later.
            writer.is_open = False
            raise
        writer.close()
        return memoryview(sink.getvalue())

    def _append_group(self, encoded: memoryview) -> None:
        """Append the row group of a file."""
        footer = _footer_of(encoded)
        group = footer[ROW_GROUPS].values[0]
        _move(group, self._place - len(_MARK), len(self._footer[ROW_GROUPS].values))
        self._footer[ROW_GROUPS].of = footer[ROW_GROUPS].of
        self._footer[ROW_GROUPS].values.append(group)
        self._footer[_NUM_ROWS] += footer[_NUM_ROWS]
        self._append_bytes(encoded[len(_MARK) : -_TAIL - _footer_size(encoded)])

    def _append_bytes(self, data: bytes | memoryview) -> None:
        if self._digest is not None:
            self._digest.update(data)
        self._file.write(data)
        self._place += len(data)

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
                for encoded in self._handed.rest():
                    self._append_group(encoded)
                footer = write_struct(self._footer)
                self._append_bytes(footer + len(footer).to_bytes(4, "little") + _MARK)
                self._file.close()
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Close the file as it is."""
        self._handed.abandon()
        with contextlib.suppress(OSError):
            self._file.close()


# What a file begins and ends with; before the end stand the footer and its length.
_MARK = b"PAR1"
_TAIL = 4 + len(_MARK)

# Numbers of fields in the footer: of the file, of a row group, of a column of one.
_NUM_ROWS, ROW_GROUPS = 3, 4
COLUMNS, _ORDINAL = 1, 7
META_DATA = 3
# Those that say where something is in the file.
_PLACES_OF_GROUP, _PLACES_OF_COLUMN, _PLACES_OF_DATA = (5,), (2, 4, 6), (9, 10, 11, 14)


def _footer_size(file: memoryview) -> int:
    return int.from_bytes(file[-_TAIL : -len(_MARK)], "little")


def _footer_of(file: memoryview) -> Struct:
    return read_struct(bytes(file[-_TAIL - _footer_size(file) : -_TAIL]))


def _move(group: Struct, distance: int, ordinal: int) -> None:
    """Say of a row group that it stands somewhere else in a file, behind so many others."""
    moved: list[tuple[Struct, tuple[int, ...]]] = [(group, _PLACES_OF_GROUP)]
    for column in group[COLUMNS].values:
        moved += [(column, _PLACES_OF_COLUMN), (column[META_DATA], _PLACES_OF_DATA)]
    for struct, places in moved:
        for number in places:
            # 0 is none.
            if struct.get(number):
                struct[number] += distance
    # One without rows has no number.
    if group.get(_ORDINAL) is not None:
        group[_ORDINAL] = ordinal


@contextlib.contextmanager
def _fitting(destination: Destination) -> Iterator[None]:
    """Say what Parquet does not hold: unions, runs, and more in a column than it can count."""
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        message = f"Parquet cannot hold a column ({one_line(error)}); write the rows as they are, "
        message += "or without that column"
        raise InvalidInputError(message, path=str(destination)) from None
