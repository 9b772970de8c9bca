"""Texts that come out of rows by much work, kept in a run for its later passes.

A job reads what it works on several times, and to take the text out of a page or a document takes
longer than all else that is done with it. So each text is taken out once. Compressed they are kept
in memory while they are few, then in a file of the work folder; what is not there is taken out
again, and nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from neardup.runs.disk import write_all
from neardup.runs.work import IN_MEMORY
from neardup.tables import Int64s

if TYPE_CHECKING:
    from neardup.runs.work import Workspace

# The share of a job's memory that texts may take.
_SHARE = 0.1

# Texts that are compressed together: so many bytes that little is lost, so few that a row whose
# neighbours are not wanted is cheap.
_PIECE_BYTES = 1 << 16
_CODEC = "zstd"


class _Piece(NamedTuple):
    """Texts of some rows: numbers, and where each text ends; compressed, or where that stands."""

    numbers: Int64s
    ends: Int64s
    size: int
    data: bytes | None
    place: int


class ExtractedTexts:
    """Texts of rows of several sources, by the block that they are of; threads may use one.

    Parameters
    ----------
    workspace
        Says how much memory there is, and where a file may be.
    """

    def __init__(self, workspace: Workspace = IN_MEMORY) -> None:
        self._workspace = workspace
        self._lock = Lock()
        self._pieces: dict[Hashable, list[_Piece]] = {}
        self._bytes_in_memory = self._bytes_in_file = 0
        self._file: BinaryIO | None = None
        self._is_full = False

    def add(self, block: Hashable, numbers: Int64s, texts: Sequence[bytes]) -> None:
        """Keep the texts of some rows of a block; numbers ascend."""
        import pyarrow as pa

        ends: Int64s = np.cumsum([len(text) for text in texts], dtype=np.int64)
        for start, stop in _runs(ends):
            data = b"".join(texts[start:stop])
            packed = pa.compress(data, codec=_CODEC, asbytes=True)
            with self._lock:
                held, place = self._put(packed)
                if held is None and place < 0:
                    return
                own_ends = ends[start:stop] - (ends[stop - 1] - len(data))
                piece = _Piece(numbers[start:stop], own_ends, len(packed), held, place)
                self._pieces.setdefault(block, []).append(piece)

    def take(self, block: Hashable, numbers: Int64s) -> list[bytes | None]:
        """Return the texts of some rows of a block; None for each that is not there."""
        found: list[bytes | None] = [None] * len(numbers)
        with self._lock:
            pieces = tuple(self._pieces.get(block, ()))
        for piece in pieces:
            places = np.minimum(np.searchsorted(piece.numbers, numbers), len(piece.numbers) - 1)
            rows = np.flatnonzero(piece.numbers[places] == numbers)
            data = self._unpacked(piece) if len(rows) else None
            if data is None:
                continue
            starts = np.concatenate([[0], piece.ends[:-1]])[places[rows]].tolist()
            stops = piece.ends[places[rows]].tolist()
            for row, start, stop in zip(rows.tolist(), starts, stops, strict=True):
                found[row] = data[start:stop]
        return found

    def _put(self, packed: bytes) -> tuple[bytes | None, int]:
        """Return the bytes to be held in memory, or where they now are in the file, or -1."""
        n_bytes = self._bytes_in_memory + len(packed)
        if self._file is None and self._workspace.fits(n_bytes, _SHARE):
            self._bytes_in_memory = n_bytes
            return packed, -1
        if self._is_full:
            return None, -1
        try:
            if self._file is None:
                assert self._workspace.work is not None
                self._file = self._workspace.work.passing_file("texts")
            place = self._bytes_in_file
            self._file.seek(place)
            write_all(self._file.fileno(), packed)
        except (OSError, ValueError):
            # The disk is full, or the run has ended; the run does without.
            self._is_full = True
            return None, -1
        self._bytes_in_file += len(packed)
        return None, place

    def _unpacked(self, piece: _Piece) -> bytes | None:
        """Return texts as they were added; None where they cannot be had any more."""
        import pyarrow as pa

        n_bytes = int(piece.ends[-1])
        packed = piece.data
        if packed is None:
            try:
                with self._lock:
                    assert self._file is not None
                    self._file.seek(piece.place)
                    packed = self._file.read(piece.size)
            except (OSError, ValueError):
                return None
        if len(packed) < piece.size:
            return None
        data: bytes = pa.decompress(packed, n_bytes, codec=_CODEC, asbytes=True) if n_bytes else b""
        return data


def _runs(ends: Int64s) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts that are compressed together."""
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + _PIECE_BYTES)) + 1
        yield start, min(stop, len(ends))
        start = stop


class SourceTexts:
    """Those of one source, which another process does not have."""

    def __init__(self, texts: ExtractedTexts, source: int) -> None:
        self._texts, self._source = texts, source

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Be copied as None."""
        return type(None), ()

    def add(self, block: Hashable, numbers: Int64s, texts: Sequence[bytes]) -> None:
        """Keep the texts of some rows of a block; numbers ascend."""
        self._texts.add((self._source, block), numbers, texts)

    def take(self, block: Hashable, numbers: Int64s) -> list[bytes | None]:
        """Return the texts of some rows of a block; None for each that is not there."""
        return self._texts.take((self._source, block), numbers)
