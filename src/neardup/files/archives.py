"""Zip and tar archives, read as folders of input files.

Members are copied to a temporary folder when an archive is opened, because jobs read inputs more
than once and some formats from the end. The folder is removed with its last user. Its paths never
contain the members' names, so malicious names are harmless.
"""

from __future__ import annotations

import contextlib
import lzma
import shutil
import stat
import tarfile
import tempfile
import warnings
import weakref
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Self

from neardup.errors import InvalidInputError, NeardupError, ReadError, WriteError
from neardup.files.formats import TAR_ENDINGS
from neardup.files.streams import (
    MOST_MEMBERS,
    UNPACK,
    Copied,
    InputStream,
    ending_of,
    file_size,
    most_bytes,
    open_seekable,
    read_blocks,
    reading,
    too_large,
    too_many,
)

# A name or comment may be long, but the description of a member is read into memory.
_MOST_HEADER_BYTES = 16 << 20

_TAR_PIECE = 1 << 18
_COPIED_PIECE = 1 << 20

# The first bit of a zip member's flags.
_ENCRYPTED = 1

# Errors of zipfile and tarfile for damaged bytes. Of entries that share their data zipfile warns.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, tarfile.TarError, EOFError, UserWarning),
    *(ValueError, ArithmeticError, LookupError, AssertionError, NotImplementedError),
    RecursionError,
)


class ArchiveMember(Copied):
    """Location of an archive member, as if in a folder."""

    archive: str
    _spool: _Spool

    @classmethod
    def of(cls, archive: str, name: str, copy: Path, spool: _Spool) -> Self:
        """Return a member's location, keeping its copy alive."""
        location = cls(f"{archive}/{name}", copy)
        location.archive, location._spool = archive, spool
        return location


def unpack(archive: str, is_input: Callable[[str], bool]) -> tuple[list[ArchiveMember], list[str]]:
    """Copy an archive's input members, and list the other members.

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
    others: list[str] = []
    is_zip = ending_of(archive) == ".zip"
    what = "zip archive" if is_zip else "tar archive"
    members = _zip_members(archive) if is_zip else _tar_members(archive, spool.limit)
    with reading(archive), _damage(what, archive), contextlib.closing(members):
        for number, member in enumerate(members):
            if number == MOST_MEMBERS:
                raise too_many(archive)
            name = _plain_name(member.name, archive)
            if not name or any(part.startswith(".") for part in name.split("/")):
                continue
            if not (member.is_file and is_input(name)):
                others.append(f"{archive}/{name}")
                continue
            place = (
                (f"member of a {what}", f"{archive}/{member.name}") if is_zip else (what, archive)
            )
            with _damage(*place), member.open() as stream:
                # Of members of one name the last stands, as if all had been unpacked.
                copies[name] = spool.copy(stream, str(len(copies)), copies.get(name))
    return [ArchiveMember.of(archive, name, copy, spool) for name, copy in copies.items()], others


@contextmanager
def _damage(what: str, place: str) -> Iterator[None]:
    """Translate errors of damaged bytes into ReadError."""
    try:
        yield
    except NeardupError:
        raise
    except _DAMAGE as error:
        raise ReadError(f"not a valid {what}: {error}; get a full copy", path=place) from error


def _plain_name(name: str, archive: str) -> str:
    """Return a name as a relative path below the archive."""
    if "\0" in name:
        message = f"the name {name!r} of a member has a null character; {UNPACK}"
        raise InvalidInputError(message, path=archive)
    # Programs for Windows write backslashes.
    parts = name.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))


class _Spool:
    """A temporary folder with members of an archive."""

    def __init__(self, archive: str) -> None:
        self._archive = archive
        size = file_size(archive)
        if size is None:
            from fsspec.core import url_to_fs

            with reading(archive):
                system, path = url_to_fs(archive)
                size = system.size(path)
        self.limit = most_bytes(size or 0)
        self._n_bytes = 0
        self._folder = tempfile.mkdtemp(prefix="neardup-")
        # Also when the interpreter ends.
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def copy(self, stream: IO[bytes], name: str, old: Path | None) -> Path:
        """Copy a member to a file, or overwrite ``old``."""
        path = Path(self._folder, name) if old is None else old
        with contextlib.ExitStack() as stack:
            with self._writing():
                file = stack.enter_context(path.open("wb"))
            while piece := stream.read(_COPIED_PIECE):
                self._n_bytes += len(piece)
                if self._n_bytes > self.limit:
                    raise too_large(self._archive, self.limit)
                with self._writing():
                    file.write(piece)
            with self._writing():
                file.close()
        return path

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = (
                f"{self._folder}: cannot be written: {error.strerror or error}; members of "
                f"{self._archive} are copied there, set TMPDIR to a folder on a disk with room"
            )
            raise WriteError(message) from error


@dataclass(frozen=True)
class _Member:
    """A member that is not a folder.

    ``is_file`` is false for links and devices. In a tar archive it can be opened until the next
    member is asked for.
    """

    name: str
    is_file: bool
    open: Callable[[], Any]


def _zip_members(archive: str) -> Generator[_Member, None, None]:
    """Yield the members in the order of the directory."""
    with open_seekable(archive) as raw, zipfile.ZipFile(raw) as file:
        for info in file.infolist():
            if not info.is_dir():
                # Archives of some systems do not record the kind.
                kind = stat.S_IFMT(info.external_attr >> 16)
                opener = partial(_open_zip_member, archive, file, info)
                yield _Member(info.filename, kind in (0, stat.S_IFREG), opener)


def _open_zip_member(archive: str, file: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    place = f"{archive}/{info.filename}"
    if info.flag_bits & _ENCRYPTED:
        message = f"this member is encrypted; unpack {archive} with its password and "
        raise InvalidInputError(message + "name the folder", path=place)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            return file.open(info)
    except NotImplementedError as error:
        message = f"this member is compressed in a way that is not read ({error}); {UNPACK}"
        raise InvalidInputError(message, path=place) from None


def _tar_members(archive: str, limit: int) -> Generator[_Member, None, None]:
    """Yield a tar archive's members, limited to ``limit`` bytes."""
    with InputStream(archive, TAR_ENDINGS[ending_of(archive)]) as stream:
        reader: Any = _TarReader(stream, limit)
        reader.left = _MOST_HEADER_BYTES
        with tarfile.open(
            fileobj=reader, mode="r|", bufsize=_TAR_PIECE, tarinfo=_TarHeader
        ) as file:
            blocks: Any = file.fileobj
            while True:
                reader.left = _MOST_HEADER_BYTES
                info = file.next()
                reader.left = None
                # It would keep them all.
                file.members = []  # type: ignore[attr-defined]
                if info is None:
                    break
                if not info.isdir():
                    yield _Member(info.name, info.isreg(), partial(file.extractfile, info))
                blocks.seek(file.offset)
            # The end is marked by zeros.
            if blocks.tell() == file.offset:
                message = "unexpected end of data"
                raise tarfile.ReadError(message)
            if any(piece.strip(b"\0") for piece in read_blocks(blocks, _TAR_PIECE)):
                message = (
                    f"there is more behind its end, as in archives put one after another; {UNPACK}"
                )
                raise ReadError(message, path=archive)


class _TarHeader(tarfile.TarInfo):
    """A tar header that is an error if damaged."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        """Read a header, raising an error instead of ending early."""
        try:
            return super().fromtarfile(archive)
        except (
            tarfile.InvalidHeaderError,  # type: ignore[attr-defined] # stubs lack both
            tarfile.TruncatedHeaderError,  # type: ignore[attr-defined]
        ) as error:
            raise tarfile.ReadError(str(error)) from None


class _TarReader:
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
