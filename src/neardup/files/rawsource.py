"""Files whose rows are ranges of their bytes, read in pieces.

A stream is read in large pieces; each piece is cut after its last complete row and the rest is
carried over to the next. A row that is longer than a piece makes the piece grow, so rows never
depend on the size of the pieces.
"""

from __future__ import annotations

import contextlib
import weakref
from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.encodings import (
    LOOKED_AT,
    MARK_BYTES,
    EncodedBlock,
    TextEncoding,
    encoding_by_mark,
    encoding_of,
)
from neardup.files.rawrows import BLOCK_BYTES, Cut, Cutter, RawRows, RawWriter, cut_lines
from neardup.files.rows import Mask, Place, RowBlock, RowWriter, Source, TakeMemory
from neardup.files.streams import (
    InputStream,
    OutputStream,
    compression_of,
    file_has_changed,
    file_size,
)
from neardup.runs.runner import map_ordered

if TYPE_CHECKING:
    from neardup.files.rawrows import Positions
    from neardup.files.streams import Destination


# Memory that the blocks of a file are read into, used again when nothing refers to a block.


class Buffers:
    """Gives out memory, and takes it back when neither it nor a view of it is used any more.

    Memory that is used again costs no page faults, which take as long as reading from the system's
    cache does. As many buffers as were in use at a time are kept as long as this object is.
    """

    def __init__(self) -> None:
        self._free: list[pa.Buffer] = []

    def take(self, size: int) -> memoryview:
        """Return writable memory of ``size`` bytes, with any content."""
        buffer = None
        # Other threads may take the last one.
        with contextlib.suppress(IndexError):
            while buffer is None:
                known = self._free.pop()
                # One that is too small is let go: rows have become longer.
                buffer = known if known.size >= size else None
        if buffer is None:
            buffer = pa.allocate_buffer(size)
        # All views refer to this array, because its base is not an array.
        array = np.frombuffer(buffer, np.uint8, size)
        weakref.finalize(array, self._free.append, buffer).atexit = False
        return array.data


MAX_ROW_BYTES = 1 << 30
"""A longer row is an error: it is nearly always a file of another format."""


# Rows below this share of their range are read one by one.
_LEAST_SHARE = 0.25

# Bytes that are read first to find the end of a line.
_REST_BYTES = 1 << 16


class RawSource(Source):
    """A file whose rows are ranges of its bytes.

    Parameters
    ----------
    location
        Local path or URL.
    name
        Name in ids and outputs; its last suffix is the compression.
    encoding
        Of the text, by Python's name; None is UTF-8.
    block_bytes
        How much to read at a time.
    """

    input_options = frozenset({"input_format", "encoding"})

    def __init__(
        self,
        location: str,
        name: str,
        *,
        encoding: str | None = None,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        self.location = self.origin = location
        self.name = name
        self.size = file_size(location)
        self._encoding = encoding
        self.block_bytes = block_bytes
        # Of the file, when it was first read to its end.
        self._version: tuple[int, int] | None = None

    @abstractmethod
    def _cutter(self) -> Cutter:
        """Give a cutter for one pass over the file."""

    @abstractmethod
    def _block(self, raw: RawRows) -> RowBlock:
        """Make a block of this format, of rows in UTF-8."""

    @cached_property
    def encoding(self) -> TextEncoding:
        """The encoding, and the byte-order mark that the file begins with."""

        def head() -> bytes:
            with self.open() as stream:
                return stream.read(LOOKED_AT)

        return encoding_of(self._encoding, head)

    def _start(self, stream: InputStream) -> bytes:
        """Read the header before the first row, and return the bytes after it."""
        head = stream.read(MARK_BYTES)
        self._check_mark(head)
        return head.removeprefix(self.encoding.mark)

    def _check_mark(self, head: bytes) -> None:
        """Raise if a file that is read as UTF-8 begins with the mark of another encoding."""
        found = encoding_by_mark(head) if self._encoding is None else None
        if found is not None:
            message = (
                f"the file begins with the byte-order mark of {found.upper()}; read it with "
                f"encoding {found} (--encoding {found})"
            )
            raise InvalidInputError(message, path=self.location)

    def open(self) -> InputStream:
        """Open the file at its start."""
        return InputStream(self.location, compression_of(self.name))

    def blocks(self) -> Iterator[RowBlock]:
        """Read the file from its start; blocks without rows are left out.

        Idle threads of a map read and cut pieces of lines, whose ends are found without the rest.
        """
        if self._is_of_plain_lines():
            yield from self._blocks_of_lines()
            return
        with self.open() as stream:
            cutter = self.encoding.in_units(self._cutter())
            buffers = Buffers()
            is_local = self.size is not None
            has_places = is_local and not self.is_one_row and compression_of(self.name) is None
            rest, number = self._start(stream), 1
            final = False
            while not final:
                # Doubling the rest keeps the cost of a very long row linear.
                wanted = max(self.block_bytes - len(rest), len(rest), 1)
                room = buffers.take(len(rest) + wanted)
                room[: len(rest)] = rest
                n_read = stream.read_into(room[len(rest) :])
                final = n_read < wanted
                data = room[: len(rest) + n_read]
                cut = cutter(data, final)
                if len(cut.starts):
                    numbers = cut.numbers + number
                    block = self._rows(RawRows(data, cut.starts, cut.ends, numbers))
                    block.end = stream.position
                    if has_places:
                        block.place = _place(stream.position - len(data), cut.starts, cut.ends)
                    yield block
                number += cut.count
                rest = bytes(data[cut.consumed :])
                if final and has_places and self._version is None:
                    self._version = stream.version
                if final and 0 < len(rest) < self.encoding.unit:
                    message = f"the file ends within a character of {self.encoding.codec}"
                    raise InvalidInputError(message, path=self.location)
                self._check_length(len(rest), number)

    def _is_of_plain_lines(self) -> bool:
        """Return whether it is a local file of lines that are not compressed."""
        if self.size is None or self.is_one_row or compression_of(self.name) is not None:
            return False
        return self._cutter() is cut_lines and self.encoding.unit == 1

    def _blocks_of_lines(self) -> Iterator[RowBlock]:
        number, buffers = 1, Buffers()

        def read(piece: tuple[int, int]) -> tuple[int, memoryview, Cut]:
            start, stop = piece
            # A longer row is an error as soon as its number is known.
            data = buffers.take(min(stop - start, MAX_ROW_BYTES + 1))
            with self.open() as stream:
                stream.seek(start)
                data = data[: stream.read_into(data)]
            return start, data, cut_lines(data, True)

        for start, data, cut in map_ordered(read, self._pieces(), 1):
            if len(data) > MAX_ROW_BYTES:
                self._check_length(len(data), number)
            if len(cut.starts):
                block = self._rows(RawRows(data, cut.starts, cut.ends, cut.numbers + number))
                block.end = start + len(data)
                block.place = _place(start, cut.starts, cut.ends)
                yield block
            number += cut.count

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Yield where pieces of whole lines begin and end."""
        with self.open() as stream:
            rest = self._start(stream)
            start = stream.position - len(rest)
            while start < (size := stream.version[0]):
                stop = min(start + self.block_bytes, size)
                if stop < size:
                    stop = self._end_of_lines(stream, start, stop)
                yield start, stop
                start = stop
            if self._version is None:
                self._version = stream.version

    def _end_of_lines(self, stream: InputStream, start: int, stop: int) -> int:
        """Return the last line end between two bytes, or else the first one after them."""
        at, size = stop, _REST_BYTES
        while at > start:
            first = max(start, at - size)
            stream.seek(first)
            found = stream.read(at - first).rfind(b"\n")
            if found >= 0:
                return first + found + 1
            at, size = first, 2 * size
        stream.seek(stop)
        at, size = stop, _REST_BYTES
        while at - start <= MAX_ROW_BYTES and (data := stream.read(size)):
            found = data.find(b"\n")
            if found >= 0:
                return at + found + 1
            at, size = at + len(data), 2 * size
        return at

    def block_at(self, place: Place, numbers: Positions, take: TakeMemory) -> RowBlock:
        """Read rows again from their place, unless the file has changed since the first pass."""
        starts, ends = place.starts.astype(np.int64), place.ends.astype(np.int64)
        sizes = ends - starts
        is_apart = np.concatenate([[True], starts[1:] != ends[:-1]])
        if _LEAST_SHARE * (ends[-1] - starts[0]) < sizes.sum():
            # Reading the bytes between rows takes less time than reading rows one by one.
            is_apart[1:] = False
        firsts = np.flatnonzero(is_apart)
        lasts = np.append(firsts[1:], len(starts)) - 1
        lengths = ends[lasts] - starts[firsts]
        stops = np.cumsum(lengths)
        data = take(int(stops[-1]))
        rooms = [data[i:j] for i, j in pairwise([0, *stops.tolist()])]
        begins = (starts[firsts] + place.offset).tolist()
        with self.open() as stream:
            if not (self._has_rows_at(place, stream) and stream.read_ranges(begins, rooms)):
                raise file_has_changed(self.name)
        moved = np.repeat(stops - lengths - starts[firsts], lasts - firsts + 1)
        return self._rows(RawRows(data, starts + moved, ends + moved, numbers))

    def _has_rows_at(self, place: Place, stream: InputStream) -> bool:
        """Return whether the file is the one that was read first, or one of equal rows there."""
        if self._version in (None, stream.version):
            return True
        if self._version is None or self._version[0] != stream.version[0]:
            return False
        first, stop = int(place.starts[0]), int(place.ends[-1])
        stream.seek(place.offset + first)
        try:
            cut = self.encoding.in_units(self._cutter())(stream.read(stop - first), True)
        except InvalidInputError:
            return False
        are_rows = np.isin(place.starts, cut.starts + first) & np.isin(place.ends, cut.ends + first)
        return bool(are_rows.all())

    def _check_length(self, n_bytes: int, number: int) -> None:
        """Raise if so many bytes belong to one row."""
        if n_bytes > MAX_ROW_BYTES:
            message = (
                f"a row longer than {MAX_ROW_BYTES >> 20} MB; is this file of the format that its "
                "name tells?"
            )
            raise InvalidInputError(message, path=self.location, row=number)

    def _rows(self, raw: RawRows) -> RowBlock:
        """Make a block of rows as they are in the file."""
        if self.encoding.is_utf8:
            return self._block(raw)
        return EncodedBlock(self.location, raw, self._block, self.encoding.codec)

    def output(self, folder: Destination) -> OutputStream:
        """Create the output of the same name, with the same compression."""
        return OutputStream(folder / self.name, compression_of(self.name))

    def marked_output(self, folder: Destination) -> OutputStream:
        """Create the output, begun with the mark of UTF-16 or UTF-32 if the source has one.

        Without it the order of bytes is unknown.
        """
        output = self.output(folder)
        if self.encoding.unit > 1:
            output.write(self.encoding.mark)
        return output


def _place(offset: int, starts: Positions, ends: Positions) -> Place | None:
    """Return the places of rows, unless their piece is too long for 32 bits."""
    if ends[-1] >= 1 << 32:
        return None
    return Place(offset, starts.astype(np.uint32), ends.astype(np.uint32))


class WholeFileWriter(RowWriter):
    """Copies a file that is one document, or makes none: an empty file would be a document too."""

    def __init__(self, source: RawSource, folder: Destination) -> None:
        self._source, self._folder = source, folder

    def prepare(self, block: RowBlock, select: Mask) -> tuple[RowBlock, Mask]:
        """Return the argument."""
        return block, select

    def append(self, prepared: tuple[RowBlock, Mask]) -> None:
        """Write the file if its row is selected."""
        if prepared[1].any():
            with RawWriter(self._source.output(self._folder)) as writer:
                writer.write(*prepared)

    def close(self) -> None:
        """Do nothing; the file was complete when it was written."""
