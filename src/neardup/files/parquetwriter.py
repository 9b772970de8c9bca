"""Write tables as one Parquet file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InvalidInputError
from neardup.files.rows import Mask, RowBlock, RowWriter
from neardup.files.streams import one_line, writing
from neardup.files.thrift import Struct, read_struct, write_struct
from neardup.runs.threads import Handed

if TYPE_CHECKING:
    from neardup.files.streams import Destination

_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 64 << 20


class TableWriter(RowWriter):
    """Collects rows and writes them in row groups of some tens of megabytes.

    Row groups are encoded as files of their own, by idle threads of a map side by side and in
    memory, or where there are too few straight to the file, which is the one that Arrow would write
    of all of them.

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
            self._footer = self._encode(None, self._append_bytes)
            self._file = destination.create()
        self._place = 0
        self._append_bytes(_MARK)
        self._handed = Handed(self._encode_apart)

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
            if self._handed.keeps(is_large=is_large):
                self._append_rest()
                place = self._place
                self._note_group(self._encode(group, self._append_bytes), place)
            else:
                for encoded in self._handed.add(group, is_large=is_large):
                    self._append_group(*encoded)
        self._has_failed = False

    def _encode(self, group: pa.Table | None, put: Callable[[Any], object]) -> Struct:
        """Hand over the bytes of a row group, page by page; return the end of a file of it."""
        edges = bytearray()
        sink = _Sink(edges.extend)
        writer: Any = pq.ParquetWriter(sink, self._schema, **self._options)
        try:
            if group is not None:
                sink.put = put
                # Arrow has no size for a group without rows.
                writer.write_table(group, row_group_size=len(group) or None)
                sink.put = edges.extend
        except BaseException:
            # Arrow's writer cannot be closed after an error, and would try later.
            writer.is_open = False
            raise
        writer.close()
        return read_struct(bytes(edges[len(_MARK) :]))

    def _encode_apart(self, group: pa.Table) -> tuple[list[bytes], Struct]:
        """Return the pages of a row group, and the end of a file of it."""
        pages: list[bytes] = []
        footer = self._encode(group, lambda data: pages.append(bytes(data)))
        return pages, footer

    def _append_group(self, pages: list[bytes], footer: Struct) -> None:
        place = self._place
        for page in pages:
            self._append_bytes(page)
        self._note_group(footer, place)

    def _append_rest(self) -> None:
        for encoded in self._handed.rest():
            self._append_group(*encoded)

    def _note_group(self, footer: Struct, place: int) -> None:
        """Note in the footer the row group of another file, whose pages stand at a place here."""
        group = footer[ROW_GROUPS].values[0]
        _move(group, place - len(_MARK), len(self._footer[ROW_GROUPS].values))
        self._footer[ROW_GROUPS].of = footer[ROW_GROUPS].of
        self._footer[ROW_GROUPS].values.append(group)
        self._footer[_NUM_ROWS] += footer[_NUM_ROWS]

    def _append_bytes(self, data: bytes | pa.Buffer) -> None:
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
                self._append_rest()
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


class _Sink:
    """A file that hands on the bytes that it gets."""

    closed = False

    def __init__(self, put: Callable[[Any], object]) -> None:
        self.put = put

    def write(self, data: Any) -> int:
        self.put(data)
        return len(data)

    def flush(self) -> None:
        """Nothing waits."""


# What a file begins and ends with; before the end stand the footer and its length.
_MARK = b"PAR1"

# Numbers of fields in the footer: of the file, of a row group, of a column of one.
_NUM_ROWS, ROW_GROUPS = 3, 4
COLUMNS, _ORDINAL = 1, 7
META_DATA = 3
# Those that say where something is in the file.
_PLACES_OF_GROUP, _PLACES_OF_COLUMN, _PLACES_OF_DATA = (5,), (2, 4, 6), (9, 10, 11, 14)


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
