"""The members of zip archives."""

from __future__ import annotations

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from neardup.errors import InvalidInputError, NeardupError, ReadError
from neardup.files.archives.limits import UNPACK
from neardup.files.streams import open_seekable, reading

# The first bit of a member's flags.
_ENCRYPTED = 1

# What zipfile raises where bytes are not as they should be.
_DAMAGE = (
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
        """Whether it is neither a folder nor a link; archives of some systems do not say."""
        kind = stat.S_IFMT(self.info.external_attr >> 16)
        return not self.info.is_dir() and kind in (0, stat.S_IFREG)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open what it holds."""
        place = f"{self.location}/{self.name}"
        if self.info.flag_bits & _ENCRYPTED:
            message = f"this member is encrypted; unpack {self.location} with its password and "
            raise InvalidInputError(message + "name the folder", path=place)
        try:
            stream = self.file.open(self.info)
        except NotImplementedError as error:
            message = f"this member is compressed in a way that is not read ({error}); {UNPACK}"
            raise InvalidInputError(message, path=place) from None
        except _DAMAGE as error:
            raise _damaged("member of a zip archive", place, error) from error
        with stream:
            try:
                yield stream
            except _DAMAGE as error:
                raise _damaged("member of a zip archive", place, error) from error


@contextmanager
def zip_members(location: str) -> Iterator[Iterator[ZipMember]]:
    """Open a zip archive; give its members in the order of its directory, but for folders."""
    with reading(location), open_seekable(location) as raw:
        try:
            file = zipfile.ZipFile(raw)
        except _DAMAGE as error:
            raise _damaged("zip archive", location, error) from error
        yield (ZipMember(location, file, info) for info in file.infolist() if not info.is_dir())


def _damaged(what: str, place: str, error: Exception) -> NeardupError:
    """Return the error for what zipfile raises; others than its own stay as they are."""
    if isinstance(error, NeardupError):
        return error
    return ReadError(f"not a valid {what}: {error}; get a full copy", path=place)
