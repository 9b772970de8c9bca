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
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any, Self

from neardup.errors import InvalidInputError, NeardupError, ReadError
from neardup.files.formats import TAR_ENDINGS
from neardup.files.streams import (
    Copied,
    InputStream,
    LocalDestination,
    OutputStream,
    ending_of,
    file_size,
    most_bytes,
    open_seekable,
    read_blocks,
    reading,
)

MOST_MEMBERS = 1_000_000
_PIECE = 1 << 18
_UNPACK = "unpack it and name the folder"

# Errors of zipfile and tarfile for damaged bytes, and for members that are encrypted or compressed
# in an unknown way. zipfile warns of members that share their data.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, tarfile.TarError, EOFError, UserWarning),
    *(ValueError, ArithmeticError, LookupError, AssertionError, RuntimeError),
)

# The name of a member, whether it is a file, no link or device, and what opens it.
_Member = tuple[str, bool, Callable[[], Any]]


class _Spool:
    """A temporary folder with members of an archive."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="neardup-"))
        # Called when the last copy is gone, or the interpreter ends.
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def unpack(archive: str, is_input: Callable[[str], bool]) -> tuple[list[Copied], list[str]]:
    """Copy an archive's input members, and list the other members."""
    spool, limit, n_bytes = _Spool(), most_bytes(_stored_size(archive)), 0
    copies: dict[str, Path] = {}
    others: list[str] = []
    is_zip = ending_of(archive) == ".zip"
    members = _zip_members(archive) if is_zip else _tar_members(archive, limit)
    with reading(archive), contextlib.closing(members), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            for number, (stored_name, is_file, open_member) in enumerate(members):
                if number == MOST_MEMBERS:
                    message = f"the archive has more than {MOST_MEMBERS:,} members; {_UNPACK}"
                    raise InvalidInputError(message, path=archive)
                name = _clean_name(stored_name)
                if not name:
                    continue
                if not (is_file and is_input(name)):
                    others.append(f"{archive}/{name}")
                    continue
                # The last of several members with one name counts, as if all were unpacked.
                path = copies.setdefault(name, spool.folder / str(len(copies)))
                with open_member() as stream, OutputStream(LocalDestination(path)) as output:
                    while piece := stream.read(_PIECE):
                        n_bytes += len(piece)
                        if n_bytes > limit:
                            raise _too_large(archive, limit)
                        output.write(piece)
        except NeardupError:
            raise
        except _DAMAGE as error:
            kind = "zip" if is_zip else "tar"
            reason = f"not a {kind} archive that can be read: {error}"
            raise ReadError(f"{reason}; get a full copy, or {_UNPACK}", path=archive) from error
    found = [
        Copied(f"{archive}/{name}", copy, archive=archive, keeper=spool)
        for name, copy in copies.items()
    ]
    return found, others


def _clean_name(stored_name: str) -> str:
    """Return a member's path below the archive, empty for hidden members."""
    # Programs for Windows write backslashes. No system has a null in a name.
    parts = stored_name.replace("\0", "").replace("\\", "/").split("/")
    parts = [part for part in parts if part not in ("", ".", "..")]
    return "" if any(part.startswith(".") for part in parts) else "/".join(parts)


def _too_large(archive: str, limit: int) -> InvalidInputError:
    message = (
        f"the archive unpacks to more than {limit:,} bytes; if it was not made to fill disks, "
        f"{_UNPACK}"
    )
    return InvalidInputError(message, path=archive)


def _stored_size(archive: str) -> int:
    size = file_size(archive)
    if size is None:
        from fsspec.core import url_to_fs

        with reading(archive):
            system, path = url_to_fs(archive)
            size = system.size(path)
    return size or 0


def _zip_members(archive: str) -> Generator[_Member, None, None]:
    """Yield the members in the order of the directory."""
    with open_seekable(archive) as raw, zipfile.ZipFile(raw) as file:
        for info in file.infolist():
            if not info.is_dir():
                # Archives of some systems do not record the kind.
                kind = stat.S_IFMT(info.external_attr >> 16)
                yield info.filename, kind in (0, stat.S_IFREG), partial(file.open, info.filename)


def _tar_members(archive: str, limit: int) -> Generator[_Member, None, None]:
    """Yield a tar archive's members. Open each before the next."""
    with InputStream(archive, TAR_ENDINGS[ending_of(archive)]) as stream:
        reader: Any = _TarReader(stream, limit)
        with tarfile.open(fileobj=reader, mode="r|", bufsize=_PIECE, tarinfo=_TarHeader) as file:
            while (info := file.next()) is not None:
                # tarfile would keep the headers of all members.
                file.members = []  # type: ignore[attr-defined]
                if not info.isdir():
                    yield info.name, info.isreg(), partial(file.extractfile, info)
            # The end is marked by zeros.
            blocks: Any = file.fileobj
            if blocks.tell() == file.offset:
                message = "unexpected end of data"
                raise tarfile.ReadError(message)
            if any(piece.strip(b"\0") for piece in read_blocks(blocks, _PIECE)):
                message = (
                    f"there is more behind its end, as in archives put one after another; {_UNPACK}"
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

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._n_bytes += len(data)
        if self._n_bytes > self._limit:
            raise _too_large(self._stream.location, self._limit)
        return data
