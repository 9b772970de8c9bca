"""Zip and tar archives as folders: their members are inputs, like the files of a folder.

Members are copied to a temporary folder when an archive is opened, because jobs read inputs more
than once and some formats from the end. The folder goes when nothing refers to its files any more.
Their names are never used as paths there, so it does not matter where they lead.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, Self

from neardup.errors import InvalidInputError, WriteError
from neardup.files.archives.limits import MOST_MEMBERS, UNPACK, most_bytes, too_large, too_many
from neardup.files.compression import COMPRESSIONS, ending_of
from neardup.files.input_options import InputOptions
from neardup.files.streams import Copied, is_remote, reading

if TYPE_CHECKING:
    from typing import Any

ZIP_ENDINGS = (".zip",)
TAR_ENDINGS = {".tar": None, ".tgz": "gzip"} | {
    f".tar{suffix}": codec for suffix, codec in COMPRESSIONS.items()
}
"""Endings of archives; of tar with the compression that each stands for."""

ARCHIVE_ENDINGS = (*ZIP_ENDINGS, *TAR_ENDINGS)

_PIECE = 1 << 20


class Member(Protocol):
    """What an archive says of one of its members."""

    @property
    def name(self) -> str:
        """Its path in the archive."""
        ...

    @property
    def is_file(self) -> bool:
        """Whether it is neither a folder, a link nor a device."""
        ...

    def open(self) -> AbstractContextManager[IO[bytes]]:
        """Open what it holds; of a tar archive only until the next member is asked for."""
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
    """The members of an archive that are inputs, and the names of those that are none."""

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
        Says by its name whether a member is an input. It is not asked about hidden ones, and what
        is neither file nor folder, such as a link, is none.

    Raises
    ------
    ReadError
        If the archive is damaged or cannot be read.
    InvalidInputError
        If a member is encrypted, or the archive is larger than limits allow.
    WriteError
        If the temporary folder has no room.
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
    """A temporary folder with what is copied out of an archive."""

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
            while piece := stream.read(_PIECE):
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
        from neardup.files.archives.zip import zip_members

        return zip_members(archive)
    from neardup.files.archives.tar import tar_members

    return tar_members(archive, TAR_ENDINGS[ending], limit)


def _size_of(archive: str) -> int:
    """Return the bytes of an archive; 0 where a URL does not say."""
    with reading(archive):
        if not is_remote(archive):
            return os.stat(archive).st_size
        from fsspec.core import url_to_fs

        filesystem, path = url_to_fs(archive)
        size: Any = filesystem.size(path)
        return int(size or 0)


def _plain_name(name: str, archive: str) -> str:
    """Return a name as a path below the archive: what leads to its root or above is left out.

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
