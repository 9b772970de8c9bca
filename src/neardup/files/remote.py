"""Files written to remote file systems, through fsspec.

All errors become WriteError with the URL, so that no other writer depends on fsspec.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from neardup.errors import NeardupError, WriteError
from neardup.files.streams import Destination
from neardup.runs.threads import Threads

# S3 takes 10,000 parts, so files of 320 GB; a file being written holds a part in memory.
_PART_BYTES = 32 << 20


@contextlib.contextmanager
def writing_to(url: str) -> Iterator[None]:
    """Translate errors of a remote file system into WriteError."""
    try:
        yield
    except NeardupError:
        raise
    except Exception as error:
        message = f"cannot write {url}: {_reason(error, url)}"
        raise WriteError(message) from error


def open_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path there."""
    with writing_to(url):
        from fsspec.core import url_to_fs

        system, path = url_to_fs(url)
        # Who asked before, in this process, is answered from memory.
        system.invalidate_cache()
    if not path.strip("/"):
        message = f"{url} is no place for an output; add a name to it"
        raise WriteError(message)
    return system, path


def has_folders(path: str) -> bool:
    """Return whether a path is of a system with folders, unlike an object store."""
    return path.startswith("/")


def to_its_end(call: Callable[[], object]) -> None:
    """Call something that an interrupt does not cut short, but only follows.

    Otherwise a request goes on in fsspec's thread, and a file may appear after it was removed.
    """
    with Threads(1) as threads:
        threads.do(call).result()


class RemoteFile:
    """A new file of a remote file system; object stores show it when it is complete.

    Parameters
    ----------
    system, path
        The file to write.
    url
        Its name in errors.
    """

    def __init__(self, system: Any, path: str, url: str) -> None:
        self.path, self._url = path, url
        self.size = 0
        self.closed = self.is_complete = False
        self._has_failed = False
        with writing_to(url):
            if has_folders(path):
                system.makedirs(system._parent(path), exist_ok=True)  # noqa: SLF001
            self._file = system.open(path, "wb", block_size=_PART_BYTES)

    def write(self, data: bytes | memoryview) -> int:
        """Append bytes."""
        self._has_failed = True
        with writing_to(self._url):
            self._file.write(data)
        self._has_failed = False
        count = memoryview(data).nbytes
        self.size += count
        return count

    def flush(self) -> None:
        """Do nothing: parts are sent when they are full."""

    def close(self) -> None:
        """Complete the file, or abandon it after an error; a second call does nothing."""
        if self.closed:
            return
        if self._has_failed:
            self.abandon()
            return
        self.closed = True
        with writing_to(self._url):
            to_its_end(self._complete)

    def _complete(self) -> None:
        self._file.close()
        self.is_complete = True

    def abandon(self) -> None:
        """Let the file not appear, and let go of the parts that were sent, if it is not complete.

        Systems that show a file while it is written keep the written part.
        """
        self.closed = True
        if self.is_complete:
            return
        with contextlib.suppress(Exception):
            self._file.discard()
        # To close a file of an object store is to complete it, unless it is closed.
        with contextlib.suppress(AttributeError):
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


@dataclass
class WrittenFile:
    """A file that another process has completed."""

    path: str
    size: int
    is_complete = True

    def abandon(self) -> None:
        """Do nothing: it is complete."""


class RemoteDestination(Destination):
    """A path of a remote file system.

    Parameters
    ----------
    system, path
        The folder.
    url
        Its name for users.
    files
        Gets all files that are created there and below.
    """

    def __init__(
        self, system: Any, path: str, url: str, files: list[RemoteFile | WrittenFile]
    ) -> None:
        self._system, self._path, self._url, self._files = system, path, url, files

    def __truediv__(self, name: str) -> RemoteDestination:
        path, url = f"{self._path}/{name}", f"{self._url}/{name}"
        return RemoteDestination(self._system, path, url, self._files)

    def __str__(self) -> str:
        return self._url

    def for_other_process(self) -> RemoteDestination:
        """Return the same place, with files of its own."""
        return RemoteDestination(self._system, self._path, self._url, [])

    def written(self) -> list[WrittenFile]:
        """Return the files that were created there and below."""
        return [WrittenFile(file.path, file.size) for file in self._files]

    def add_written(self, files: Iterable[WrittenFile]) -> None:
        """Take over files that another process has written there."""
        self._files.extend(files)

    def make_folder(self) -> None:
        """Do nothing: a folder is there when it has a file."""

    def into_folder(self, name: str) -> None:
        """Move the file below: object stores copy it and remove the old one."""
        path = f"{self._path}/{name}"
        with writing_to(self._url):
            self._system.mv(self._path, path)
        for file in self._files:
            if file.path == self._path:
                file.path = path

    def create(self) -> BinaryIO:
        """Begin a file."""
        file = RemoteFile(self._system, self._path, self._url)
        self._files.append(file)
        return cast("BinaryIO", file)


def _reason(error: Exception, url: str) -> str:
    """Describe an error of fsspec or of a package below it."""
    if isinstance(error, ImportError):
        return f"this kind of URL needs another package: {error}{_advice(url)}"
    if isinstance(error, FileNotFoundError):
        return "there is no such bucket or folder"
    if isinstance(error, PermissionError):
        return "no permission to list, write and delete there"
    if isinstance(error, NotImplementedError):
        return "this kind of URL can only be read"
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or str(error) or type(error).__name__


def _advice(url: str) -> str:
    """Describe how to install the package of a URL's protocol, if fsspec knows it."""
    from fsspec.registry import known_implementations

    known = known_implementations.get(url.partition("://")[0].rpartition("::")[2], {})
    package = known.get("class", "fsspec").partition(".")[0]
    return "" if package == "fsspec" else f" (pip install {package})"
