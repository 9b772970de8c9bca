"""Zip and tar archives as folders: their members are inputs, like the files of a folder.

Members are copied to a temporary folder when an archive is opened, because jobs read inputs more
than once and some formats from the end. The folder goes when nothing refers to its files any more.
Their names are never used as paths there, so it does not matter where they lead.
"""

from __future__ import annotations

import contextlib
import lzma
import os
import shutil
import stat
import tarfile
import tempfile
import warnings
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol, Self

from neardup.errors import InvalidInputError, NeardupError, ReadError, WriteError
from neardup.files.limits import MOST_MEMBERS, UNPACK, most_bytes, too_large, too_many
from neardup.files.streams import (
    COMPRESSIONS,
    Copied,
    InputStream,
    ending_of,
    is_remote,
    open_seekable,
    read_blocks,
    reading,
)
from neardup.options.groups import InputOptions

# The members of tar archives, which are read from their start to their end, once.

# A name or comment may be long, but the description of a member is read into memory.
_MOST_HEADER_BYTES = 16 << 20

_PIECE = 1 << 18

# Errors of tarfile for damaged bytes; NeardupErrors are ValueErrors too.
_DAMAGE = (tarfile.TarError, ValueError, ArithmeticError, LookupError, RecursionError)


class _Header(tarfile.TarInfo):
    """The description of a member; one that is damaged is no end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        """Read a header; tarfile takes one that cannot be read for the end."""
        try:
            return super().fromtarfile(archive)
        except (
            tarfile.InvalidHeaderError,  # type: ignore[attr-defined] # stubs lack both
            tarfile.TruncatedHeaderError,  # type: ignore[attr-defined]
        ) as error:
            raise tarfile.ReadError(str(error)) from None


class _Reader:
    """The decompressed bytes of an archive, up to a limit."""

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
        """Open the member."""
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
    """Translate errors of tarfile into ReadError."""
    try:
        yield
    except NeardupError:
        raise
    except _DAMAGE as error:
        message = f"not a valid tar archive: {error}; get a full copy"
        raise ReadError(message, path=location) from error


# The members of zip archives.

# The first bit of a member's flags.
_ENCRYPTED = 1

# Errors of zipfile for damaged bytes.
_DAMAGE_OF_ZIP = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(ValueError, ArithmeticError, LookupError, AssertionError, NotImplementedError),
)


@dataclass(frozen=True)
class ZipMember:
    """An entry of the directory of a zip archive."""

    location: str
    file: zipfile.ZipFile
    info: zipfile.ZipInfo

    @property
    def name(self) -> str:
        """Its path in the archive."""
        return self.info.filename

    @property
    def is_file(self) -> bool:
        """Whether it is a file; archives of some systems do not record it."""
        kind = stat.S_IFMT(self.info.external_attr >> 16)
        return not self.info.is_dir() and kind in (0, stat.S_IFREG)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the member."""
        place = f"{self.location}/{self.name}"
        if self.info.flag_bits & _ENCRYPTED:
            message = f"this member is encrypted; unpack {self.location} with its password and "
            raise InvalidInputError(message + "name the folder", path=place)
        try:
            # Of entries that share their data Python 3.14 warns, and goes on.
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)
                stream = self.file.open(self.info)
        except NotImplementedError as error:
            message = f"this member is compressed in a way that is not read ({error}); {UNPACK}"
            raise InvalidInputError(message, path=place) from None
        except (*_DAMAGE_OF_ZIP, UserWarning) as error:
            raise _damaged("member of a zip archive", place, error) from error
        with stream:
            try:
                yield stream
            except _DAMAGE_OF_ZIP as error:
                raise _damaged("member of a zip archive", place, error) from error


@contextmanager
def zip_members(location: str) -> Iterator[Iterator[ZipMember]]:
    """Open a zip archive; give its members in the order of its directory, but for folders."""
    with reading(location), open_seekable(location) as raw:
        try:
            file = zipfile.ZipFile(raw)
        except _DAMAGE_OF_ZIP as error:
            raise _damaged("zip archive", location, error) from error
        yield (ZipMember(location, file, info) for info in file.infolist() if not info.is_dir())


def _damaged(what: str, place: str, error: Exception) -> NeardupError:
    """Translate an error of zipfile; other errors stay."""
    if isinstance(error, NeardupError):
        return error
    return ReadError(f"not a valid {what}: {error}; get a full copy", path=place)


ZIP_ENDINGS = (".zip",)
TAR_ENDINGS = {".tar": None, ".tgz": "gzip"} | {
    f".tar{suffix}": codec for suffix, codec in COMPRESSIONS.items()
}
"""Endings of archives; of tar with the compression that each stands for."""

ARCHIVE_ENDINGS = (*ZIP_ENDINGS, *TAR_ENDINGS)

_UNPACKED_PIECE = 1 << 20


class Member(Protocol):
    """The description of a member in an archive."""

    @property
    def name(self) -> str:
        """Its path in the archive."""
        ...

    @property
    def is_file(self) -> bool:
        """Whether it is neither a folder, a link nor a device."""
        ...

    def open(self) -> AbstractContextManager[IO[bytes]]:
        """Open the member; in a tar archive it closes at the next member."""
        ...


class ArchiveMember(Copied):
    """The location of a member of an archive: the path of a file as if that were a folder."""

    archive: str
    _spool: _Spool

    @classmethod
    def of(cls, archive: str, name: str, copy: Path, spool: _Spool) -> Self:
        """Return the location of the member of a name; the copy stays as long as it does."""
        location = cls(f"{archive}/{name}", copy)
        location.archive, location._spool = archive, spool
        return location


@dataclass
class Unpacked:
    """The input members of an archive, and the names of the others."""

    files: list[ArchiveMember] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)


def is_archive(name: str, options: InputOptions) -> bool:
    """Return whether a file is read as a folder: by its ending, unless it is read as bytes."""
    return options.input_format != "bytes" and ending_of(name) in ARCHIVE_ENDINGS


def unpack(archive: str, is_input: Callable[[str], bool]) -> Unpacked:
    """Copy the members of an archive that are inputs.

    Parameters
    ----------
    archive
        Local path or URL.
    is_input
        Returns whether a member is an input, by its name. Hidden members, and links and devices,
        are never inputs.
    """
    spool = _Spool(archive)
    copies: dict[str, Path] = {}
    found = Unpacked()
    with _members_of(archive, spool.limit) as members:
        for number, member in enumerate(members):
            if number == MOST_MEMBERS:
                raise too_many(archive)
            name = _plain_name(member.name, archive)
            if not name or any(part.startswith(".") for part in name.split("/")):
                continue
            if member.is_file and is_input(name):
                # Of members of one name the last stands, as if all had been unpacked.
                with member.open() as stream:
                    copies[name] = spool.copy(stream, str(len(copies)), copies.get(name))
            else:
                found.passed_over.append(f"{archive}/{name}")
    _check_no_folders(archive, copies)
    found.files = [ArchiveMember.of(archive, name, copy, spool) for name, copy in copies.items()]
    return found


class _Spool:
    """A temporary folder with members of an archive."""

    def __init__(self, archive: str) -> None:
        self._archive = archive
        self.limit = most_bytes(_size_of(archive))
        self._n_bytes = 0
        self._folder = tempfile.mkdtemp(prefix="neardup-")
        # Also when the interpreter ends.
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def copy(self, stream: IO[bytes], name: str, old: Path | None) -> Path:
        """Copy a member to a file of this name, or in place of an ``old`` one."""
        path = Path(self._folder, name) if old is None else old
        with contextlib.ExitStack() as stack:
            with self._writing():
                file = stack.enter_context(path.open("wb"))
            while piece := stream.read(_UNPACKED_PIECE):
                self._n_bytes += len(piece)
                if self._n_bytes > self.limit:
                    raise too_large(self._archive, self.limit)
                with self._writing():
                    file.write(piece)
            with self._writing():
                file.close()
        return path

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = (
                f"{self._folder}: cannot be written: {error.strerror or error}; members of "
                f"{self._archive} are copied there, set TMPDIR to a folder on a disk with room"
            )
            raise WriteError(message) from error


def _members_of(archive: str, limit: int) -> AbstractContextManager[Iterator[Member]]:
    """Open an archive; its members come in its order."""
    ending = ending_of(archive)
    if ending in ZIP_ENDINGS:
        return zip_members(archive)

    return tar_members(archive, TAR_ENDINGS[ending], limit)


def _size_of(archive: str) -> int:
    """Return the bytes of an archive; 0 if a URL has no size."""
    with reading(archive):
        if not is_remote(archive):
            return os.stat(archive).st_size
        from fsspec.core import url_to_fs

        filesystem, path = url_to_fs(archive)
        size: Any = filesystem.size(path)
        return int(size or 0)


def _plain_name(name: str, archive: str) -> str:
    """Return a name as a path below the archive, without parts that lead to the root or above.

    Programs for Windows write backslashes; there a name may also begin with a drive.
    """
    if "\0" in name:
        message = f"the name {name!r} of a member has a null character; {UNPACK}"
        raise InvalidInputError(message, path=archive)
    parts = name.replace("\\", "/").split("/")
    if os.name == "nt":
        parts = [part.rpartition(":")[2] for part in parts]
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def _check_no_folders(archive: str, copies: dict[str, Path]) -> None:
    """Raise if a member lies in another one, so that both cannot be written as files."""
    for name in copies:
        parts = name.split("/")
        for count in range(1, len(parts)):
            folder = "/".join(parts[:count])
            if folder in copies:
                message = f"{folder!r} is a file, and the folder of {name!r}; {UNPACK}"
                raise InvalidInputError(message, path=archive)
