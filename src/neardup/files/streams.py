"""Byte streams of files and URLs, compression and output destinations.

All errors on the way to the bytes become ReadError or WriteError with the path, so no other module
depends on the library that opened the file.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Self

import pyarrow as pa

from neardup.errors import InvalidInputError, NeardupError, ReadError, WriteError
from neardup.runs.runner import NestedMap

Buffer = bytes | memoryview

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bz2"}
"""Suffixes of compressed files and the codec each stands for."""

_GZIP_LEVEL = 6

# A compressed output is cut into pieces of so many bytes, which threads compress side by side, as
# members of gzip, frames of zstd, or streams one after the other. Pieces are long enough that the
# lost context hardly matters.
_PIECE_BYTES = {"gzip": 4 << 20, "zstd": 16 << 20, "xz": 32 << 20, "bz2": 9 << 20}

# Bytes that go to a local file together.
_BUFFER_BYTES = 1 << 20


def compression_of(name: str) -> str | None:
    """Return the codec of a file name's suffix, or None."""
    return COMPRESSIONS.get(PurePosixPath(name).suffix.lower())


def suffix_below(name: str) -> str:
    """Return the lower-case suffix below a compression's suffix."""
    path = PurePosixPath(name.lower())
    return PurePosixPath(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix


def ending_of(name: str) -> str:
    """Return a name's lower-case suffix, with compression, empty if none."""
    suffix = PurePosixPath(name.lower()).suffix
    return suffix_below(name) + suffix if suffix in COMPRESSIONS else suffix


def compress(data: bytes, compression: str) -> Buffer:
    """Compress bytes, without time or name."""
    if compression == "xz":
        return lzma.compress(data)
    if compression == "bz2":
        return bz2.compress(data)
    if compression == "gzip":
        packed = io.BytesIO()
        # Arrow compresses at level 9, at 2 MB/s on English text; level 6 gives 40 MB/s.
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, packed, mtime=0) as stream:
            stream.write(data)
        # Not as a view: a viewed stream cannot be closed, and Python 3.13 and later print a line
        # when both are collected as garbage.
        return packed.getvalue()
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, compression) as stream:
        stream.write(data)
    return memoryview(sink.getvalue())


def is_url(location: str) -> bool:
    """Return whether a location is spelled as a URL."""
    return "://" in location


def is_remote(location: str) -> bool:
    """Return whether a location is a URL without a copy."""
    return is_url(location) and not isinstance(location, Copied)


def path_of(location: str) -> str:
    """Return a URL without query and fragment."""
    if location.startswith(("http://", "https://")):
        return location.partition("#")[0].partition("?")[0]
    return location


def parts_of(location: str) -> tuple[str, ...]:
    """Split a location into folders and name, safe for output."""
    if is_url(location):
        protocol, _, path = path_of(location).partition("://")
        return (protocol, *(part for part in path.split("/") if part not in ("", ".", "..")))
    # Links are not followed: in some caches all names lead to one folder.
    local = Path(os.path.normpath(Path.cwd() / location))
    return tuple(part for part in local.parts if part != local.anchor)


@dataclass(frozen=True)
class NamedFile:
    """A file, with the argument that names or contains it."""

    location: str
    argument: str

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts of the location."""
        return parts_of(self.location)

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The parts of the argument."""
        return parts_of(self.argument.removeprefix("file://"))

    @property
    def is_below(self) -> bool:
        """Whether the argument names a parent folder or archive."""
        n_named = len(self.named)
        return len(self.parts) > n_named and self.parts[:n_named] == self.named

    @property
    def is_walked(self) -> bool:
        """Whether the argument names or matches a folder or archive."""
        return "**" not in self.argument and len(self.parts) > len(self.named)


class Copied(str):
    """A location's local copy, which exists as long as ``keeper``."""

    copy: Path
    archive: str | None

    def __new__(
        cls, name: str, copy: Path, archive: str | None = None, keeper: object = None
    ) -> Self:
        """Return the name, with the copy as an attribute."""
        location = super().__new__(cls, name)
        location.copy, location.archive, location._keeper = copy, archive, keeper
        return location

    _keeper: object

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name and the copy's path."""
        return Copied, (str(self), self.copy, self.archive)


def _as_local(location: str) -> str:
    """Return the local path of a location."""
    return str(location.copy) if isinstance(location, Copied) else location


class InputStream:
    """The decompressed bytes of a path or URL from its start."""

    def __init__(self, location: str, compression: str | None = None) -> None:
        self.location = location
        self._compression = compression
        with reading(location):
            self._raw = _open_raw(location)
            self._stream = _decompressing(self._raw, compression)

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes, fewer only at the end."""
        parts: list[bytes] = []
        n_missing = size
        with reading(self.location):
            while n_missing and (data := self._stream.read(n_missing)):
                parts.append(data)
                n_missing -= len(data)
            self._check_not_empty(size - n_missing, size)
        return b"".join(parts)

    def read_into(self, room: memoryview) -> int:
        """Fill memory with next bytes, fewer only at the end."""
        if not hasattr(self._stream, "readinto"):
            # Not all file systems of fsspec have it.
            data = self.read(len(room))
            room[: len(data)] = data
            return len(data)
        count = 0
        with reading(self.location):
            while count < len(room) and (n := self._stream.readinto(room[count:])):
                count += n
            self._check_not_empty(count, len(room))
        return count

    def _check_not_empty(self, count: int, size: int) -> None:
        # Some libraries take an empty file for valid compressed data; no compressor writes one.
        if size and not count and self._compression and not self._raw.tell():
            raise EOFError

    @property
    def position(self) -> int:
        """Number of stored bytes of the file read so far."""
        with reading(self.location):
            return int(self._raw.tell())

    @property
    def version(self) -> tuple[int, int] | None:
        """Local file's size and modification time, None for a URL."""
        if is_remote(self.location):
            return None
        with reading(self.location):
            state = os.fstat(self._raw.fileno())
        return state.st_size, state.st_mtime_ns

    def close(self) -> None:
        """Close the file, ignoring errors, as all reads are done."""
        for stream in (self._stream, self._raw):
            with contextlib.suppress(Exception):
                stream.close()

    def __enter__(self) -> InputStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OutputStream:
    """An output file, written sequentially and compressed reproducibly.

    Written bytes must not change any more: idle threads of a map compress them while the next
    pieces are made. Folders on the way are created, an existing file is replaced.
    """

    def __init__(self, destination: Destination, compression: str | None = None) -> None:
        self._destination, self._compression = destination, compression
        self._piece: list[memoryview] = []
        self._missing = self._size = _PIECE_BYTES.get(compression or "", 0)
        self._n_pieces = 0
        self._has_failed = True
        with writing(destination):
            self._raw = destination.create()
        self._has_failed = False
        self._packed = NestedMap(self._compress)

    def write(self, *parts: Buffer) -> None:
        """Append the parts in order."""
        self._has_failed = True
        with writing(self._destination):
            for part in parts:
                view = memoryview(part)
                if self._compression is None:
                    self._append(view)
                    continue
                while len(view) >= self._missing:
                    self._piece.append(view[: self._missing])
                    view = view[self._missing :]
                    self._hand_over()
                self._piece.append(view)
                self._missing -= len(view)
        self._has_failed = False

    def _hand_over(self) -> None:
        """Have a piece compressed, and the next one begin."""
        piece, self._piece, self._missing = self._piece, [], self._size
        self._n_pieces += 1
        for packed in self._packed.add(piece):
            self._append(packed)

    def _compress(self, piece: list[memoryview]) -> Buffer:
        assert self._compression is not None
        return compress(b"".join(piece), self._compression)

    def _append(self, data: Buffer) -> None:
        self._raw.write(data)

    def close(self) -> None:
        """Complete the file, unless it is closed or failed."""
        if self._raw.closed:
            return
        if self._has_failed:
            self._packed.abandon()
            with contextlib.suppress(OSError):
                self._raw.close()
            return
        self._has_failed = True
        with writing(self._destination), contextlib.closing(self._raw), self._packed:
            # Without a piece there would be no compressed file.
            if self._compression and (self._missing < self._size or not self._n_pieces):
                self._hand_over()
            for packed in self._packed.rest():
                self._append(packed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_blocks(stream: InputStream, size: int) -> Iterator[bytes]:
    """Yield blocks of ``size`` bytes, the last perhaps shorter."""
    while data := stream.read(size):
        yield data


def file_has_changed(name: str) -> ReadError:
    """Return the error for a source with changed rows."""
    message = "the file has changed since it was first read; run again when it is at rest"
    return ReadError(message, path=name)


def _open_raw(location: str) -> Any:
    """Open the bytes as they are stored."""
    return _open_url(location) if is_remote(location) else io.FileIO(_as_local(location), "rb")


class _JoinedStreams(io.RawIOBase):
    """Decompress xz or bz2 streams that follow each other.

    Python's own readers take a damaged stream behind the first one for the end of the file.
    """

    def __init__(self, raw: Any, compression: str) -> None:
        self._raw = raw
        self._new = lzma.LZMADecompressor if compression == "xz" else bz2.BZ2Decompressor
        self._codec: Any = self._new()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            piece = self._codec.unused_data
            if self._codec.eof:
                # Zeros may pad a stream.
                while not (piece := piece.lstrip(b"\0")):
                    if not (piece := self._raw.read(io.DEFAULT_BUFFER_SIZE)):
                        return 0
                self._codec = self._new()
            elif self._codec.needs_input and not (piece := self._raw.read(io.DEFAULT_BUFFER_SIZE)):
                raise EOFError
            data = self._codec.decompress(piece, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _decompressing(raw: Any, compression: str | None) -> Any:
    """Return a decompressing stream of an open file."""
    if compression is None:
        return raw
    if compression == "gzip":
        # Arrow's refuses zeros after the end, as tapes and block devices leave them.
        return gzip.GzipFile(fileobj=raw)
    if compression in ("xz", "bz2"):
        return io.BufferedReader(_JoinedStreams(raw, compression))
    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression)


def open_random(location: str) -> Any:
    """Open an uncompressed file or URL for Parquet's random access."""
    with reading(location):
        return _open_url(location) if is_remote(location) else pa.OSFile(_as_local(location), "rb")


def open_seekable(location: str) -> Any:
    """Open an uncompressed file or URL as seekable for ``zipfile``."""
    with reading(location):
        return _open_url(location) if is_remote(location) else Path(_as_local(location)).open("rb")


def file_size(location: str) -> int | None:
    """Return a local file's bytes on disk, None for URLs."""
    if is_remote(location):
        return None
    with reading(location):
        return Path(_as_local(location)).stat().st_size


def state_of_url(location: str) -> str:
    """Return a URL's fingerprint: size and time, or its tag."""
    from fsspec.core import url_to_fs

    with reading(location):
        filesystem, path = url_to_fs(location)
        return str(filesystem.ukey(path))


@contextlib.contextmanager
def reading(location: str) -> Iterator[None]:
    """Translate errors of opening, reading and decompressing into ReadError."""
    try:
        yield
    except NeardupError:
        raise
    except Exception as error:
        reason = _reason(error)
        # Remote file systems raise classes of their own, which only their packages know.
        if reason is None and not is_remote(location):
            raise
        raise ReadError(reason or f"cannot be read: {error}", path=location) from error


def _reason(error: Exception) -> str | None:
    """Describe an error of reading, None if it is of another kind."""
    words = one_line(error)
    if isinstance(error, FileNotFoundError):
        # Over HTTP a host that does not answer is a file that is not found, too.
        cause = error.__cause__
        if cause is None or isinstance(cause, FileNotFoundError):
            return "no such file"
        return f"cannot be read: {one_line(cause)}"
    if isinstance(error, IsADirectoryError):
        return "expected a file, this is a folder"
    if isinstance(error, PermissionError):
        return "no permission to read this file"
    # The words of Arrow for an early end; zlib's variant is misspelled there.
    if isinstance(error, EOFError) or words.startswith("Truncated comp"):
        return "the compressed data end too early; the file is incomplete, get a full copy"
    if isinstance(error, gzip.BadGzipFile) and words.startswith("Not a gzipped file"):
        return (
            "not compressed with gzip, or something else is behind the compressed data; if it "
            "is not compressed, let its name not end in .gz"
        )
    if isinstance(error, OSError) and error.errno is not None:
        return f"cannot be read: {error.strerror or error}"
    if isinstance(error, OSError | lzma.LZMAError | zlib.error):
        return f"not valid compressed data: {words}"
    if isinstance(error, MemoryError):
        # Arrow's message has the size of the request; Python's is empty.
        asked = f" ({words})" if words else ""
        return (
            f"reading it takes more memory than there is{asked}; if the file is intact, write it "
            "in smaller pieces"
        )
    if isinstance(error, ImportError):
        return f"this kind of URL needs another package: {error}"
    return None


@contextlib.contextmanager
def writing(destination: Destination) -> Iterator[None]:
    """Translate errors of creating and writing a file into WriteError."""
    try:
        yield
    except OSError as error:
        if isinstance(error, NeardupError):
            raise
        message = f"{destination}: cannot be written: {error.strerror or error}"
        raise WriteError(message) from error


def one_line(error: BaseException) -> str:
    """Return an error's message on one line."""
    return " ".join(str(error).split())


def _open_url(location: str) -> Any:
    from fsspec.core import url_to_fs

    system, path = url_to_fs(location)
    return system.open(path, "rb")


class Destination(ABC):
    """A file or folder to write, with ``str`` for errors."""

    @abstractmethod
    def __truediv__(self, name: str) -> Destination:
        """Return the destination of a file or folder below."""

    @abstractmethod
    def make_folder(self) -> None:
        """Create the folder, unless the system has no empty folders."""

    @abstractmethod
    def create(self) -> BinaryIO:
        """Create and open the file, with parent folders, replacing another."""

    def write_text(self, text: str) -> None:
        """Write a text, its ends of lines as they are."""
        with self.create() as file:
            file.write(text.encode())


class LocalDestination(Destination):
    """A path of the local file system."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __truediv__(self, name: str) -> LocalDestination:
        return LocalDestination(self._path / name)

    def __str__(self) -> str:
        return str(self._path)

    def make_folder(self) -> None:
        """Make the folder and its parents."""
        self._path.mkdir(parents=True, exist_ok=True)

    def create(self) -> BinaryIO:
        """Open a file of the operating system."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return self._path.open("wb", buffering=_BUFFER_BYTES)


# Bounds of unpacked data: a small file can unpack to more than any disk holds.

MOST_BYTES = 1 << 30
MOST_TIMES = 100
"""An archive may hold ``MOST_BYTES``, or ``MOST_TIMES`` its own size if that is more.

So may what is read at once of an Arrow or Parquet file. Text is compressed by a factor of 3 to 10,
and rows that repeat by more, which the first of the two allows for.
"""


def most_bytes(size: int) -> int:
    """Return the unpacked bytes allowed for an archive's size."""
    return max(MOST_BYTES, MOST_TIMES * size)


def check_unpacked(n_bytes: int, size: int | None, where: str, path: str | None) -> None:
    """Raise InvalidInputError if unpacked data exceeds the limit for ``size``."""
    limit = most_bytes(size or 0)
    if n_bytes > limit:
        message = (
            f"{where} takes {n_bytes:,} bytes of memory, more than the {limit:,} that are read at "
            f"once: the larger of {MOST_BYTES:,} and {MOST_TIMES} times the data as they are "
            "stored; if they are not damaged, write fewer rows at a time, or not compressed"
        )
        raise InvalidInputError(message, path=path)
