"""The members of tar archives, which are read from their start to their end, once."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Self

from neardup.errors import NeardupError, ReadError
from neardup.files.archives.limits import UNPACK, too_large
from neardup.files.streams import InputStream, read_blocks

# A name or comment may be long, but what describes a member is read into memory.
_MOST_HEADER_BYTES = 16 << 20

_PIECE = 1 << 18

# What tarfile raises where bytes are not as they should be; NeardupErrors are ValueErrors too.
_DAMAGE = (tarfile.TarError, ValueError, ArithmeticError, LookupError, RecursionError)


class _Header(tarfile.TarInfo):
    """The description of a member; one that is damaged is no end of the archive."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> Self:
        """Read a header; tarfile takes one that cannot be read for the end."""
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if bytes(buf).strip(b"\0"):
                raise tarfile.ReadError(str(error)) from None
            raise


class _Reader:
    """The decompressed bytes of an archive, of which there may be so many."""

    def __init__(self, stream: InputStream, limit: int) -> None:
        self._stream, self._limit = stream, limit
        self._n_bytes = 0
        # Bytes that the description of a member may still have; None outside.
        self.left: int | None = None

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._n_bytes += len(data)
        if self._n_bytes > self._limit:
            raise too_large(self._stream.location, self._limit)
        if self.left is not None:
            self.left -= len(data)
            if self.left < 0:
                message = f"a member's description has more than {_MOST_HEADER_BYTES:,} bytes"
                raise tarfile.ReadError(message)
        return data


@dataclass(frozen=True)
class TarMember:
    """A member of the archive, as long as the next one has not been asked for."""

    location: str
    file: tarfile.TarFile
    info: tarfile.TarInfo

    @property
    def name(self) -> str:
        """Its path in the archive."""
        return self.info.name

    @property
    def is_file(self) -> bool:
        """Whether it is neither a link nor a device."""
        return self.info.isreg()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open what it holds."""
        stream = self.file.extractfile(self.info)
        assert stream is not None
        with stream:
            yield stream


@contextmanager
def tar_members(
    location: str, compression: str | None, limit: int
) -> Iterator[Iterator[TarMember]]:
    """Open a tar archive that holds ``limit`` bytes at most; folders are left out."""
    with InputStream(location, compression) as stream, _damage(location):
        reader = _Reader(stream, limit)
        reader.left = _MOST_HEADER_BYTES
        with tarfile.open(
            fileobj=reader,  # type: ignore[call-overload] # all that it calls is read
            mode="r|",
            bufsize=_PIECE,
            tarinfo=_Header,
        ) as file:
            yield _members(location, file, reader)


def _members(location: str, file: tarfile.TarFile, reader: _Reader) -> Iterator[TarMember]:
    stream: Any = file.fileobj
    while True:
        reader.left = _MOST_HEADER_BYTES
        info = file.next()
        reader.left = None
        # It would keep them all.
        file.members = []  # type: ignore[attr-defined]
        if info is None:
            break
        if not info.isdir():
            yield TarMember(location, file, info)
        stream.seek(file.offset)
    # The end is marked by zeros.
    if stream.tell() == file.offset:
        message = "unexpected end of data"
        raise tarfile.ReadError(message)
    if any(piece.strip(b"\0") for piece in read_blocks(stream, _PIECE)):
        message = f"there is more behind its end, as in archives put one after another; {UNPACK}"
        raise ReadError(message, path=location)


@contextmanager
def _damage(location: str) -> Iterator[None]:
    """Turn what tarfile raises for damage into ReadError."""
    try:
        yield
    except NeardupError:
        raise
    except _DAMAGE as error:
        message = f"not a valid tar archive: {error}; get a full copy"
        raise ReadError(message, path=location) from error
