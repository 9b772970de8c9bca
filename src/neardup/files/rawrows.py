"""Files with byte ranges as rows, such as JSON lines.

A file is read in large pieces. Each piece is cut after its last complete row, and the rest is
carried over to the next one. A row longer than a piece makes the piece grow, so rows never depend
on the size of the pieces. Rows keep their bytes; rows in other encodings than UTF-8 are decoded
when they are parsed.
"""

from __future__ import annotations

import codecs
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.encodings import MARKS, encoding_by_mark
from neardup.files.problems import not_decodable
from neardup.files.rows import ColumnNames, Mask, ParsedRows, Problems, RowBlock, RowWriter, Source
from neardup.files.streams import (
    Buffer,
    Destination,
    InputStream,
    OutputStream,
    compression_of,
    file_has_changed,
    file_size,
    read_blocks,
)
from neardup.tables import Int64s, Uint32s

if TYPE_CHECKING:
    from neardup.files.cuts import Cuts

BLOCK_BYTES = 4 << 20
"""How much of a file is read at a time."""

MAX_ROW_BYTES = 1 << 30
"""A longer row is an error: it is nearly always a file of another format."""

_NEWLINE, _RETURN = 10, 13
_SPACES = np.isin(np.arange(256), list(b" \t\n\v\f\r"))

_NO_ENDS: Uint32s = np.empty(0, np.uint32)

# Shorter slices on average are copied together before they are written.
_LEAST_SLICE = 1 << 10


# Encodings of files.

BYTE_ORDER_MARK = codecs.BOM_UTF8

MARK_BYTES = 4
"""The longest byte-order mark."""

LOOKED_AT = 1 << 16
"""How much of a file is checked for UTF-8 although another encoding is named."""


@dataclass(frozen=True)
class TextEncoding:
    """A file's character encoding and byte-order mark."""

    codec: str = "utf-8"
    mark: bytes = b""

    @property
    def is_wide(self) -> bool:
        """Whether ASCII characters have several bytes."""
        return self.codec.startswith(("utf-16", "utf-32"))


def encoding_of(name: str | None, head: Callable[[], bytes]) -> TextEncoding:
    """Return the encoding of a file.

    ``head`` reads its first ``LOOKED_AT`` bytes. They have the byte order of UTF-16 and UTF-32; the
    default is little-endian. If an encoding of one byte per character is named, and the bytes are
    valid UTF-8 beyond ASCII, the file is UTF-8: so files of several encodings can be read together.
    """
    codec = "utf-8" if name is None else codecs.lookup(name).name
    if codec in ("utf-8", "utf-8-sig"):
        return TextEncoding(mark=BYTE_ORDER_MARK)
    if not codec.startswith(("utf-16", "utf-32")):
        # An encoding with 256 characters of one byte.
        if codec != "ascii" and len(bytes(range(256)).decode(codec, "replace")) == 256:
            with suppress(UnicodeDecodeError):
                if not codecs.getincrementaldecoder("utf-8")().decode(head()).isascii():
                    return TextEncoding(mark=BYTE_ORDER_MARK)
        return TextEncoding(codec)
    family = codec[: len("utf-16")]
    beginning = head()
    for exact, mark in MARKS:
        if exact.startswith(codec) and beginning.startswith(mark):
            return TextEncoding(exact, mark)
    return TextEncoding(codec if codec != family else f"{family}-le")


# The first bytes of marks; most files have others.
_FIRST_OF_MARKS = {mark[:1] for _, mark in MARKS}


def check_mark(
    head: bytes, encoding: str | None, path: str, *, can_be_decoded: bool = True
) -> None:
    """Raise for another encoding's mark, unless an encoding is chosen."""
    if encoding is not None or head[:1] not in _FIRST_OF_MARKS:
        return
    if (found := encoding_by_mark(head[:MARK_BYTES])) is not None:
        remedy = (
            f"read it with encoding {found} (--encoding {found})"
            if can_be_decoded
            else f"convert it, for example with: iconv -f {found} -t utf-8 FILE"
        )
        message = f"the file begins with the byte-order mark of {found.upper()}; {remedy}"
        raise InvalidInputError(message, path=path)


# Rows of a file.


@dataclass(frozen=True)
class RawRows:
    """Ascending, disjoint byte ranges of one piece of a file.

    ``starts`` and ``ends`` are positions in ``data``, ends exclusive; ``numbers`` counts the
    rows of the whole file.
    """

    data: bytes | memoryview
    starts: Int64s
    ends: Int64s
    numbers: Int64s

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> bytes:
        """Return the bytes of one row."""
        return bytes(self.data[self.starts[index] : self.ends[index]])

    @classmethod
    def joining(cls, rows: Sequence[Buffer], numbers: Int64s) -> RawRows:
        """Return rows joined to one piece, one after another."""
        ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
        return cls(b"".join(rows), np.append(0, ends)[:-1], ends, numbers)

    def select(self, mask: Mask | None) -> RawRows:
        """Keep the rows of a mask, all rows without one."""
        if mask is None or mask.all():
            return self
        return RawRows(self.data, self.starts[mask], self.ends[mask], self.numbers[mask])

    def replaced(self, mask: Mask, rows: Iterable[bytes]) -> RawRows:
        """Return the rows with some of them replaced."""
        new, view = iter(rows), memoryview(self.data)
        columns = mask.tolist(), self.starts.tolist(), self.ends.tolist()
        every = [
            next(new) if is_new else view[start:end]
            for is_new, start, end in zip(*columns, strict=True)
        ]
        return RawRows.joining(every, self.numbers)

    def slices(self) -> list[memoryview]:
        """Return the bytes of all rows, joining adjacent rows."""
        if not len(self):
            return []
        breaks = np.flatnonzero(self.starts[1:] != self.ends[:-1])
        view = memoryview(self.data)
        firsts = [int(self.starts[0]), *self.starts[breaks + 1].tolist()]
        lasts = [*self.ends[breaks].tolist(), int(self.ends[-1])]
        return [view[start:end] for start, end in zip(firsts, lasts, strict=True)]

    def joined_by(self, separator: bytes) -> bytes:
        """Return all rows with a separator between each two."""
        view = memoryview(self.data)
        ranges = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return separator.join([view[start:end] for start, end in ranges])


@dataclass(frozen=True)
class Cut:
    """The rows found by a cutter in a file's piece.

    ``starts`` and ``ends`` of the rows; ``numbers``, counted from 0 in this piece; ``count``, the
    difference to the numbers of the next piece; ``consumed`` bytes, the rest is carried over.
    """

    starts: Int64s
    ends: Int64s
    numbers: Int64s
    count: int
    consumed: int

    @classmethod
    def of_ends(cls, ends: Uint32s) -> Cut:
        """Return adjacent rows from their ends."""
        n, stops = len(ends), ends.astype(np.int64)
        starts: Int64s = np.append(0, stops)
        return cls(starts[:-1], stops, np.arange(n), n, int(starts[-1]))

    @property
    def has_adjacent_rows(self) -> bool:
        """Whether the rows and their numbers follow from the ends."""
        starts = np.append(0, self.ends)
        is_whole = (self.count, self.consumed) == (len(self.ends), starts[-1])
        return is_whole and bool((self.starts == starts[:-1]).all())


Cutter = Callable[[bytes | memoryview, bool], Cut]
"""Finds the complete rows of a piece that starts between two rows.

The second argument is true for the last piece of the file.
"""


def cut_lines(data: bytes | memoryview, final: bool) -> Cut:
    """Cut after newlines, leaving out but counting lines of white space."""
    array = np.frombuffer(data, np.uint8)
    ends: Int64s = np.flatnonzero(array == _NEWLINE) + 1
    if final and len(data) and array[-1] != _NEWLINE:
        ends = np.append(ends, len(data))
    if not len(ends):
        return Cut(ends, ends, ends, 0, 0)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    keep = np.ones(len(ends), np.bool_)
    # Lines that begin with a space are rare, except where whole lines are empty.
    for line in np.flatnonzero(_SPACES[array[starts]]).tolist():
        keep[line] = not bytes(data[starts[line] : ends[line]]).isspace()
    numbers = np.arange(len(ends))
    return Cut(starts[keep], ends[keep], numbers[keep], len(ends), int(ends[-1]))


def cut_nothing(data: bytes | memoryview, final: bool) -> Cut:
    """Take the whole file as one row, even if empty."""
    n = int(final)
    size = len(data) * n
    return Cut(np.zeros(n, np.int64), np.full(n, size, np.int64), np.zeros(n, np.int64), n, size)


def line_ends(raw: RawRows) -> Int64s:
    r"""Return each line's end without ``\n`` or ``\r\n``."""
    array = np.frombuffer(raw.data, np.uint8)
    ends: Int64s = raw.ends - (array[raw.ends - 1] == _NEWLINE)
    # A lone \r at the end of the file stays, as it does within a line.
    has_return = (raw.starts < ends) & (ends < raw.ends) & (array[ends - 1] == _RETURN)
    shorter: Int64s = ends - has_return
    return shorter


class RawBlock(RowBlock):
    """Rows of a piece of a file with their bytes."""

    def __init__(self, path: str, raw: RawRows, codec: str = "utf-8") -> None:
        self.path, self.codec = path, codec
        self.raw, self.numbers = raw, raw.numbers

    @abstractmethod
    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Parse the named columns of rows in UTF-8."""

    @abstractmethod
    def _table(self, raw: RawRows, names: Sequence[str] | None) -> pa.Table:
        """Return the named columns of rows in UTF-8, or all."""

    def _cut(self, raw: RawRows, cuts: Cuts) -> list[bytes]:
        """Cut spans out of every UTF-8 row, returning all rows."""
        raise NotImplementedError

    def select(self, rows: Mask | None) -> Self:
        """Return some of the rows as a block."""
        return self if rows is None or rows.all() else self._with(self.raw.select(rows))

    def _with(self, raw: RawRows) -> Self:
        made = copy(self)
        made.raw, made.numbers = raw, raw.numbers
        return made

    def _read_columns(self, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Parse the named columns, with undecodable rows as bad rows."""
        raw, problems = self._decoded(self.raw, skip_bad=skip_bad)
        return problems.insert_bad_rows(self._parse(raw, columns, skip_bad=skip_bad))

    def _read_table(self, names: Sequence[str] | None) -> pa.Table:
        """Return the existing columns of some names, None for all."""
        return self._table(self._decoded(self.raw)[0], names)

    def with_cuts(self, cuts: Cuts) -> Self:
        """Cut spans out of the texts, encoding changed rows anew."""
        if not len(cuts):
            return self
        changed = np.isin(np.arange(len(self)), cuts.changed)
        own = replace(cuts, rows=np.searchsorted(cuts.changed, cuts.rows))
        rows = self._cut(self._decoded(self.raw.select(changed))[0], own)
        if self.codec != "utf-8":
            try:
                rows = [row.decode().encode(self.codec) for row in rows]
            except UnicodeEncodeError as error:
                message = (
                    f"replacement {cuts.replacement!r} cannot be written in {self.codec}, which "
                    f"lacks {error.object[error.start]!r}; choose another with replacement "
                    "(--replacement)"
                )
                raise InvalidInputError(message, path=self.path) from None
        return self._with(self.raw.replaced(changed, rows))

    def _decoded(self, raw: RawRows, *, skip_bad: bool = False) -> tuple[RawRows, Problems]:
        """Return rows in UTF-8, and problems of decoding."""
        problems = Problems(raw.numbers, self.path, skip_bad)
        if self.codec == "utf-8":
            return raw, problems
        rows = []
        for index in range(len(raw)):
            try:
                rows.append(raw[index].decode(self.codec).encode())
            except UnicodeDecodeError as error:
                problems.add(index, not_decodable(error, self.codec))
        return RawRows.joining(rows, raw.numbers[~problems.bad]), problems


class RawSource(Source):
    """A file whose rows are ranges of its bytes."""

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
        # Size and time of a local file that was read to its end. If all its rows are adjacent, also
        # their ends in each piece, which later passes need not find again.
        self._version: tuple[int, int] | None = None
        self._ends: list[Uint32s] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickle and copy without the ends of rows, 4 bytes per row."""
        return {**vars(self), "_ends": None}

    @abstractmethod
    def _cutter(self) -> Cutter:
        """Return a cutter for one pass over the file."""

    @abstractmethod
    def _block(self, raw: RawRows) -> RowBlock:
        """Make a block of rows as they are stored."""

    @cached_property
    def encoding(self) -> TextEncoding:
        """The encoding, with the byte-order mark of the file."""

        def head() -> bytes:
            with self.open() as stream:
                return stream.read(LOOKED_AT)

        return encoding_of(self._encoding, head)

    def _start(self, stream: InputStream) -> bytes:
        """Read the header, and return bytes read after it."""
        head = stream.read(MARK_BYTES)
        check_mark(head, self._encoding, self.location, can_be_decoded=self.is_one_row)
        return head.removeprefix(self.encoding.mark)

    def open(self) -> InputStream:
        """Open the file at its start."""
        return InputStream(self.location, compression_of(self.name))

    def _read_blocks(self) -> Iterator[RowBlock]:
        """Read the file from its start, leaving out empty blocks."""
        with self.open() as stream:
            if self._version is not None and self._version != stream.version:
                raise file_has_changed(self.name)
            if self.encoding.is_wide and not self.is_one_row:
                codec = self.encoding.codec
                message = (
                    f"a file in {codec} cannot be cut into rows; convert it, for example with: "
                    f"iconv -f {codec} -t utf-8 FILE"
                )
                raise InvalidInputError(message, path=self.location)
            cutter = self._cutter()
            known = None if self._ends is None else iter(self._ends)
            ends: list[Uint32s] = []
            are_adjacent = True
            rest, number = self._start(stream), 1
            final = False
            while not final:
                # Doubling the rest keeps the cost of a very long row linear.
                wanted = max(self.block_bytes - len(rest), len(rest), 1)
                # Arrow reuses memory, whose pages cost as much as reading from the system's cache.
                buffer = pa.allocate_buffer(len(rest) + wanted)
                room = np.frombuffer(buffer, np.uint8).data
                room[: len(rest)] = rest
                n_read = stream.read_into(room[len(rest) :])
                final = n_read < wanted
                data = room[: len(rest) + n_read]
                if known is None:
                    cut = cutter(data, final)
                    are_adjacent = are_adjacent and cut.has_adjacent_rows
                    if are_adjacent:
                        ends.append(cut.ends.astype(np.uint32))
                else:
                    cut = Cut.of_ends(next(known, _NO_ENDS))
                    if cut.consumed > len(data):
                        raise file_has_changed(self.name)
                if len(cut.starts):
                    block = self._block(RawRows(data, cut.starts, cut.ends, cut.numbers + number))
                    block.end = stream.position
                    yield block
                number += cut.count
                rest = bytes(data[cut.consumed :])
                self._check_length(len(rest), number)
            self._version = stream.version
            if known is None and are_adjacent and self._version is not None:
                self._ends = ends

    def _check_length(self, n_bytes: int, number: int) -> None:
        """Raise if so many bytes belong to one row."""
        if n_bytes > MAX_ROW_BYTES:
            limit = f"{MAX_ROW_BYTES >> 20} MB"
            message = f"a row longer than {limit}; check that the file has the expected format"
            raise InvalidInputError(message, path=self.location, row=number)

    def output(self, folder: Destination) -> OutputStream:
        """Create the output of the same name and compression."""
        return OutputStream(folder / self.name, compression_of(self.name))

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of rows, or of a one-row file."""
        if self.is_one_row:
            return _FileWriter(self, folder)
        return RawWriter(self.output(folder))


class RawWriter(RowWriter):
    """Writes raw rows one after the other, byte for byte."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output
        self._line_is_open = False

    def prepare(self, block: RowBlock) -> list[Buffer]:
        """Return the bytes of the rows, if possible uncopied."""
        assert isinstance(block, RawBlock)
        return written_slices(block.raw)

    def append(self, prepared: Sequence[Buffer]) -> None:
        """Append rows, adding a missing newline between lines."""
        if not prepared:
            return
        if self._line_is_open:
            self._output.write(b"\n")
        self._output.write(*prepared)
        self._line_is_open = prepared[-1][-1] not in (_NEWLINE, _RETURN)

    def close(self) -> None:
        """Complete the output file."""
        self._output.close()


def written_slices(raw: RawRows) -> list[Buffer]:
    """Return rows' bytes, uncopied if most of the block."""
    slices: list[Any] = raw.slices()
    n_bytes = sum(map(len, slices))
    # A slice keeps the memory of the whole block.
    if 2 * n_bytes < len(raw.data) or n_bytes < _LEAST_SLICE * len(slices):
        return [b"".join(slices)] if slices else []
    return slices


class _FileWriter(RowWriter):
    """Writer of a file with one document, if selected.

    No file is written otherwise: an empty file is a document. A file read in part is copied.
    """

    def __init__(self, source: RawSource, folder: Destination) -> None:
        self._source, self._folder = source, folder

    def prepare(self, block: RowBlock) -> RawBlock | None:
        """Return the block if it has its row."""
        assert isinstance(block, RawBlock)
        return block if len(block) else None

    def append(self, prepared: RawBlock | None) -> None:
        """Write the file of the row."""
        if prepared is None:
            return
        with self._source.output(self._folder) as output:
            if self._source.extracts_text:
                with self._source.open() as stream:
                    for piece in read_blocks(stream, BLOCK_BYTES):
                        output.write(piece)
            else:
                output.write(*prepared.raw.slices())

    def close(self) -> None:
        """Do nothing, as the file is already complete."""
