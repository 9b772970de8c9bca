"""Files at URLs, through fsspec.

A file of an object store is visible when it is closed; other systems show what is written so far.
All errors of fsspec become ``WriteError`` with the URL.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from neardup.errors import NeardupError, WriteError
from neardup.files.streams import Destination
from neardup.runs.runner import Threads


class Url(str):
    """The URL of an output, which fsspec writes."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self).name

    @property
    def suffix(self) -> str:
        """The ending of the name."""
        return PurePosixPath(self).suffix


# S3 takes 10,000 parts, so files of 320 GB; a file being written holds a part in memory.
_PART_BYTES = 32 << 20


@contextmanager
def writing_to(url: str) -> Iterator[None]:
    """Translate errors of a remote file system into WriteError."""
    try:
        yield
    except NeardupError:
        raise
    except Exception as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if isinstance(error, ImportError):
            reason = f"this kind of URL needs another package: {error}"
        elif isinstance(error, FileNotFoundError):
            reason = "there is no such bucket or folder"
        elif isinstance(error, PermissionError):
            reason = "no permission to list, write and delete there"
        elif isinstance(error, NotImplementedError):
            reason = "this kind of URL can only be read"
        message = f"cannot write {url}: {reason}"
        raise WriteError(message) from error


def open_system(url: str) -> tuple[Any, str]:
    """Return the file system and path of a URL."""
    with writing_to(url):
        from fsspec.core import url_to_fs

        system, path = url_to_fs(url)
        # fsspec would answer from memory what this process asked before.
        system.invalidate_cache()
    if not path.strip("/"):
        message = f"{url} is no place for an output; add a name to it"
        raise WriteError(message)
    return system, path


def has_folders(path: str) -> bool:
    """Return whether a path's system has folders, unlike object stores."""
    return path.startswith("/")


def to_its_end(call: Callable[[], object]) -> None:
    """Call a function to its end despite an interrupt.

    Otherwise a request goes on in fsspec's thread, and a file may appear after it was removed.
    """
    with Threads(1) as threads:
        threads.do(call).result()


class RemoteFile:
    """A new remote file, visible in object stores when complete."""

    def __init__(self, system: Any, path: str, url: str) -> None:
        self._url = url
        self.closed = self.is_complete = False
        with writing_to(url):
            if has_folders(path):
                system.makedirs(system._parent(path), exist_ok=True)  # noqa: SLF001
            self._file = system.open(path, "wb", block_size=_PART_BYTES)

    def write(self, data: bytes | memoryview) -> int:
        """Append bytes to the file, or abandon it after an error."""
        try:
            with writing_to(self._url):
                self._file.write(data)
        except BaseException:
            self.abandon()
            raise
        return memoryview(data).nbytes

    def flush(self) -> None:
        """Do nothing: parts are sent when they are full."""

    def close(self) -> None:
        """Complete the file once."""
        if not self.closed:
            self.closed = True
            with writing_to(self._url):
                to_its_end(self._complete)

    def _complete(self) -> None:
        self._file.close()
        self.is_complete = True

    def abandon(self) -> None:
        """Abandon an incomplete file, and discard its sent parts.

        Systems that show a file while it is written keep the written part.
        """
        self.closed = True
        if self.is_complete:
            return
        with contextlib.suppress(Exception):
            self._file.discard()
        with contextlib.suppress(Exception):
            # To close a file of an object store is to complete it, unless it is closed.
            self._file.closed = True
        with contextlib.suppress(Exception):
            self._file.close()

    def __enter__(self) -> RemoteFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class RemoteDestination(Destination):
    """A remote path, shown by name, and ``files`` created there."""

    def __init__(
        self, system: Any, path: str, url: str, files: list[RemoteFile] | None = None
    ) -> None:
        self._system, self.path, self._url = system, path, url
        self.files = [] if files is None else files

    def __truediv__(self, name: str) -> RemoteDestination:
        path, url = f"{self.path}/{name}", f"{self._url}/{name}"
        return RemoteDestination(self._system, path, url, self.files)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the place, without the open files of this process."""
        return RemoteDestination, (self._system, self.path, self._url)

    def __str__(self) -> str:
        return self._url

    def make_folder(self) -> None:
        """Do nothing, as a folder exists with its first file."""

    def create(self) -> BinaryIO:
        """Create a file at the path."""
        file = RemoteFile(self._system, self.path, self._url)
        self.files.append(file)
        return cast("BinaryIO", file)
