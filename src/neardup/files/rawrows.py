"""Raw rows: the bytes of each row as they stand in a file, cut into blocks and written back.

JSON lines, the elements of a JSON array, the rows of CSV and the lines of a text are all ranges of
bytes. ``rawsource.py`` reads files in pieces, and cuts each piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.files.cuts import Splices
from neardup.files.languages import language_of_file
from neardup.files.rows import Mask, RowBlock, RowWriter
from neardup.files.streams import Buffer, OutputStream

BLOCK_BYTES = 8 << 20
"""How much of a file is read at a time."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Positions = npt.NDArray[np.int64]
_NEWLINE, _RETURN = 10, 13

# There is room at first for a line in so many bytes, and at least for so many lines.
_SPARSE, _LEAST_PLACES = 64, 128

# Bytes of a block that are processed at a time, so that they stay in the cache.
_PIECE = 1 << 17

# Shorter slices on average are copied together before they are written.
_LEAST_SLICE = 1 << 10

_SPACES = np.isin(np.arange(256), list(b" \t\n\v\f\r"))


@dataclass(frozen=True)
class RawRows:
    """Ranges of bytes of one piece of a file, ascending and disjoint.

    ``starts`` and ``ends`` are positions in ``data``, ends exclusive; ``numbers`` counts the
    rows of the whole file.
    """

    data: bytes | memoryview
    starts: Positions
    ends: Positions
    numbers: Positions

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> bytes:
        """Return the bytes of one row."""
        return bytes(self.data[self.starts[index] : self.ends[index]])

    def select(self, mask: Mask | None) -> RawRows:
        """Keep the rows where the mask is true; all of them without a mask."""
        if mask is None or mask.all():
            return self
        return RawRows(self.data, self.starts[mask], self.ends[mask], self.numbers[mask])

    def spliced(self, splices: Splices) -> RawRows:
        """Exchange ranges of bytes, each within a row, for others."""
        starts, ends = splices.moved(self.starts), splices.moved(self.ends)
        return RawRows(splices.apply(self.data), starts, ends, self.numbers)

    def slices(self) -> list[memoryview]:
        """Return all rows one after the other; adjoining rows in one slice."""
        if not len(self):
            return []
        breaks = np.flatnonzero(self.starts[1:] != self.ends[:-1])
        view = memoryview(self.data)
        firsts = [int(self.starts[0]), *self.starts[breaks + 1].tolist()]
        lasts = [*self.ends[breaks].tolist(), int(self.ends[-1])]
        return [view[start:end] for start, end in zip(firsts, lasts, strict=True)]

    def joined(self) -> bytes | memoryview:
        """Return all rows one after the other."""
        slices = self.slices()
        return slices[0] if len(slices) == 1 else b"".join(slices)

    def joined_by(self, separator: bytes) -> bytes:
        """Return all rows with a separator between each two."""
        view = memoryview(self.data)
        ranges = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return separator.join([view[start:end] for start, end in ranges])


@dataclass(frozen=True)
class Cut:
    """The rows that a cutter found in a piece of a file.

    ``starts`` and ``ends`` of the rows; ``numbers``, counted from 0 in this piece; ``count`` by
    which the numbers of the next piece are higher; ``consumed`` bytes, the rest is carried over.
    """

    starts: Positions
    ends: Positions
    numbers: Positions
    count: int
    consumed: int


Cutter = Callable[[bytes | memoryview, bool], Cut]
"""Finds the complete rows of a piece that starts between two rows.

The second argument tells whether the file ends with this piece.
"""


class RawBlock(RowBlock):
    """The rows of one piece of a file, with their bytes."""

    def __init__(self, path: str, raw: RawRows) -> None:
        self.path, self.language = path, language_of_file(path)
        self.raw = raw
        self.numbers = raw.numbers

    def largest_row(self) -> tuple[int, int]:
        """Return the bytes and the number of the largest row."""
        sizes = self.raw.ends - self.raw.starts
        largest = int(np.argmax(sizes)) if len(sizes) else 0
        return (int(sizes[largest]), int(self.numbers[largest])) if len(sizes) else (0, 0)


class RawWriter(RowWriter):
    """Writes raw rows one after the other, byte for byte.

    Parameters
    ----------
    output
        Where to write; closed with the writer.
    header
        Bytes before the first row.
    codec
        The encoding of the rows.
    """

    def __init__(self, output: OutputStream, header: bytes = b"", codec: str = "utf-8") -> None:
        self._output = output
        self._newline, self._return = "\n".encode(codec), "\r".encode(codec)
        self._line_is_open = False
        self._put([header] if header else [])

    def prepare(self, block: RowBlock, select: Mask) -> Sequence[Buffer]:
        """Return the bytes of the selected rows, without a copy if they are most of the block."""
        assert isinstance(block, RawBlock)
        slices = block.raw.select(select).slices()
        n_bytes = sum(map(len, slices))
        # A slice keeps the memory of the whole block.
        if 2 * n_bytes < len(block.raw.data) or n_bytes < _LEAST_SLICE * len(slices):
            return [b"".join(slices)] if slices else []
        return slices

    def append(self, prepared: Sequence[Buffer]) -> None:
        """Append bytes of rows; a line that lacks its newline gets it if more follows."""
        self._put(prepared)

    def _put(self, parts: Sequence[Buffer]) -> None:
        if not parts:
            return
        if self._line_is_open:
            self._output.write(self._newline)
        self._output.write(*parts)
        end = bytes(parts[-1][-len(self._newline) :])
        self._line_is_open = end not in (self._newline, self._return)

    def close(self) -> None:
        """Complete the file."""
        self._output.close()


def places_of(data: bytes | memoryview, byte: int) -> Positions:
    """Return where a byte stands."""
    # Compiled or loaded on import.
    from neardup.kernels.file.rawrows import find_byte

    array = np.frombuffer(data, np.uint8)
    pieces = [np.empty(0, np.int64)]
    done, wanted = 0, len(array) // _SPARSE
    while done < len(array):
        room = np.empty(wanted + _LEAST_PLACES, np.int64)
        before = done
        count, done = find_byte(array, byte, done, room)
        pieces.append(room[:count])
        # Estimates later rows by the earlier ones.
        wanted = count * (len(array) - done) // max(1, done - before)
    return np.concatenate(pieces)


def count_bytes(data: bytes | memoryview, byte: int) -> int:
    """Return how often a byte comes."""
    array = np.frombuffer(data, np.uint8)
    starts = range(0, len(array), _PIECE)
    return sum(int(np.count_nonzero(array[i : i + _PIECE] == byte)) for i in starts)


def cut_lines(data: bytes | memoryview, final: bool) -> Cut:
    """Cut at newlines; a row is a line with its newline; lines of white space are left out.

    Every line has a number. White space is that of ``bytes.isspace``.
    """
    array = np.frombuffer(data, np.uint8)
    ends = places_of(data, _NEWLINE) + 1
    if final and len(data) and array[-1] != _NEWLINE:
        ends = np.append(ends, len(data))
    if not len(ends):
        return Cut(ends, ends, ends, 0, 0)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    numbers = np.arange(len(ends))
    # Lines that begin with a space are rare, except where whole lines are empty.
    doubtful = np.flatnonzero(_SPACES[array[starts]])
    if len(doubtful):
        ranges = zip(starts[doubtful].tolist(), ends[doubtful].tolist(), strict=True)
        blank = [bytes(data[start:end]).isspace() for start, end in ranges]
        keep = np.ones(len(ends), np.bool_)
        keep[doubtful[blank]] = False
        return Cut(starts[keep], ends[keep], numbers[keep], len(ends), int(ends[-1]))
    return Cut(starts, ends, numbers, len(ends), int(ends[-1]))


def cut_nothing(data: bytes | memoryview, final: bool) -> Cut:
    """Take the whole file as one row, also if it is empty."""
    n = int(final)
    size = len(data) * n
    return Cut(np.zeros(n, np.int64), np.full(n, size, np.int64), np.zeros(n, np.int64), n, size)


def line_ends(raw: RawRows) -> Positions:
    r"""Give where each line ends without its ``\n`` or ``\r\n``."""
    array = np.frombuffer(raw.data, np.uint8)
    ends = raw.ends - (array[raw.ends - 1] == _NEWLINE)
    # A row is never blank, so there is a byte before the newline. A lone \r at the end of the
    # file stays, as it does within a line.
    shorter: Positions = ends - ((ends < raw.ends) & (array[ends - 1] == _RETURN))
    return shorter
