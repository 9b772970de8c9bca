"""Output files and folders at URLs, through fsspec.

At a URL nothing can be exchanged in one step, and nothing is staged on the local disk. Files appear
in a folder one by one: ``_STARTED`` names the writer; ``_SUCCESS``, written last, lists the files
of a complete output. An output that is replaced loses that marker first. All errors of fsspec
become ``WriteError`` with the URL.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from neardup.errors import OVERWRITE, InvalidInputError, NeardupError, OutputExistsError, WriteError
from neardup.files.streams import Destination
from neardup.runs.runner import Threads
from neardup.version import __version__


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
        message = f"cannot write {url}: {_reason(error, url)}"
        raise WriteError(message) from error


def _reason(error: Exception, url: str) -> str:
    """Describe an error of fsspec or its file system package."""
    if isinstance(error, ImportError):
        from fsspec.registry import known_implementations

        known = known_implementations.get(url.partition("://")[0].rpartition("::")[2], {})
        package = known.get("class", "fsspec").partition(".")[0]
        advice = "" if package == "fsspec" else f" (pip install {package})"
        return f"this kind of URL needs another package: {error}{advice}"
    if isinstance(error, FileNotFoundError):
        return "there is no such bucket or folder"
    if isinstance(error, PermissionError):
        return "no permission to list, write and delete there"
    if isinstance(error, NotImplementedError):
        return "this kind of URL can only be read"
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or str(error) or type(error).__name__


def open_system(url: str) -> tuple[Any, str]:
    """Return the file system and path of a URL."""
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
        self._has_failed = False
        with writing_to(url):
            if has_folders(path):
                system.makedirs(system._parent(path), exist_ok=True)  # noqa: SLF001
            self._file = system.open(path, "wb", block_size=_PART_BYTES)

    def write(self, data: bytes | memoryview) -> int:
        """Append bytes to the file."""
        self._has_failed = True
        with writing_to(self._url):
            self._file.write(data)
        self._has_failed = False
        return memoryview(data).nbytes

    def flush(self) -> None:
        """Do nothing: parts are sent when they are full."""

    def close(self) -> None:
        """Complete the file once, or abandon it after an error."""
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
        """Abandon an incomplete file, and discard its sent parts.

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


class RemoteDestination(Destination):
    """A path of a remote file system.

    Parameters
    ----------
    system, path
        The file system, and the path there.
    url
        Its name for users.
    files
        Gets all files that this process creates there and below.
    """

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


# Single files.


def check_remote_file(url: Url, *, overwrite: bool) -> None:
    """Check before work starts that a file may be written."""
    system, path = open_system(url)
    with writing_to(url):
        is_folder, exists = system.isdir(path), system.exists(path)
    if is_folder:
        message = f"{url} is a folder; name a file"
        raise WriteError(message)
    if exists and not overwrite:
        raise OutputExistsError.at(url)
    beside = _beside(path)
    with writing_to(url):
        system.pipe_file(beside, b"")
    # Whoever may not delete may still write a file.
    with contextlib.suppress(Exception):
        system.rm_file(beside)


@contextmanager
def new_remote_file(url: Url) -> Iterator[Destination]:
    """Yield a file's destination, at the URL after the block.

    Object stores show a file when it is closed. Other systems get a temporary file that is renamed.
    """
    system, path = open_system(url)
    is_moved = has_folders(path)
    destination = RemoteDestination(system, _beside(path) if is_moved else path, url)
    try:
        yield destination
        if is_moved:
            with writing_to(url):
                system.mv(destination.path, path)
    except BaseException as error:
        for file in destination.files:
            file.abandon()
        if is_moved:
            with contextlib.suppress(Exception):
                system.rm_file(destination.path)
        if isinstance(error, WriteError):
            message = f"{error.in_both}; nothing was written"
            raise WriteError(message) from error.__cause__
        raise


def remote_size(url: Url) -> int:
    """Return the bytes of a file that was written."""
    system, path = open_system(url)
    with writing_to(url):
        return int(system.size(path))


def is_remote_path_in(url: Url, given: str) -> bool:
    """Return whether a path is within a URL, or identical."""
    system, path = open_system(url)
    protocols = (system.protocol,) if isinstance(system.protocol, str) else system.protocol
    if given.partition("://")[0] not in protocols:
        return False
    place = system._strip_protocol(given)  # noqa: SLF001 - the public way asks the server
    return f"{place}/".startswith(f"{path}/")


def _beside(path: str) -> str:
    """Return a free name in the folder of a path."""
    parent, _, name = path.rpartition("/")
    return f"{parent}/.{name}.neardup-{uuid.uuid4().hex[:8]}"


# Folders at URLs, with their markers.

_STARTED, _SUCCESS = "_STARTED", "_SUCCESS"

# All that a run writes below an output folder, by the first part of its name.
_ENTRIES = frozenset({"kept", "removed", "removed.parquet", "clusters.parquet", "summary.json"})

# Written and removed again before work starts, so that a run does not end where it may not write.
_PROBE = "_neardup_probe"


def read_marker(system: Any, folder: str, name: str) -> dict[str, Any] | None:
    """Return the content of a neardup marker, or None."""
    try:
        content = json.loads(system.cat_file(f"{folder}/{name}"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and "neardup" in content else None


def is_remote_output(system: Any, folder: str) -> bool:
    """Return whether a folder has a marker of neardup."""
    return any(read_marker(system, folder, marker) for marker in (_STARTED, _SUCCESS))


def check_is_complete(system: Any, path: str) -> None:
    """Raise if a path is part of an incomplete output."""
    parts = path.split("/")
    for count, part in enumerate(parts):
        folder = "/".join(parts[:count])
        if part not in _ENTRIES or not folder:
            continue
        started = success = None
        # Without access, reading the input raises the error.
        with contextlib.suppress(Exception):
            started = read_marker(system, folder, _STARTED)
            success = read_marker(system, folder, _SUCCESS) if started else None
        if started and not success:
            message = (
                f"{system.unstrip_protocol(folder)} is an unfinished output of neardup, without "
                f"{_SUCCESS}; wait for the run that writes it, or run it again with {OVERWRITE}"
            )
            raise InvalidInputError(message)


@contextmanager
def new_remote_folder(url: Url, *, overwrite: bool = False) -> Iterator[Destination]:
    """Yield the folder for files, writing its marker on exit.

    After an error the written files are removed, if they can be.
    """
    folder = _RemoteFolder(url)
    folder.check(overwrite=overwrite)
    destination = RemoteDestination(folder.system, folder.path, url)
    try:
        folder.start()
        yield destination
        folder.finish()
    except BaseException as error:
        for file in destination.files:
            file.abandon()
        fate = folder.undo()
        if isinstance(error, WriteError):
            message = f"{error.in_both}; {fate}"
            raise WriteError(message) from error.__cause__
        raise
    # The output is complete without the name of its writer.
    with contextlib.suppress(Exception):
        folder.remove([_STARTED])


def check_remote_folder(url: Url, *, overwrite: bool) -> None:
    """Check before work starts that a folder may be written."""
    folder = _RemoteFolder(url)
    folder.check(overwrite=overwrite)
    folder.probe()


class _RemoteFolder:
    """A folder at a URL and its markers."""

    def __init__(self, url: Url) -> None:
        self.url = url
        self.system, self.path = open_system(url)
        self._token = uuid.uuid4().hex
        self._is_started = self._has_replaced = False

    def check(self, *, overwrite: bool) -> None:
        """Raise unless the folder is empty or a replaceable output."""
        with writing_to(self.url):
            is_file = self.system.isfile(self.path)
            names = self._sizes()
            is_complete = self._marker(_SUCCESS) is not None
            started = self._marker(_STARTED)
        if is_file:
            message = f"{self.url} is not a folder; the output is a folder, choose another name"
            raise WriteError(message)
        is_ours = is_complete or bool(started)
        foreign = [n for n in names if not is_ours or n.partition("/")[0] not in _ENTRIES]
        if foreign:
            message = (
                f"{self.url} holds files that are not of an output of neardup, such as "
                f"{foreign[0]}; choose another name, or remove them yourself"
            )
            raise OutputExistsError(message)
        if overwrite or not is_ours:
            return
        if is_complete or not started:
            raise OutputExistsError.at(self.url)
        writer = f"{started.get('at')} by process {started.get('process')} on {started.get('host')}"
        message = (
            f"{self.url} is an unfinished output of neardup, begun {writer}; if that run has "
            f"ended, {OVERWRITE} removes what it left, and writes anew"
        )
        raise OutputExistsError(message)

    def probe(self) -> None:
        """Check write access with a temporary file, leaving no folder."""
        with writing_to(self.url):
            is_new = has_folders(self.path) and not self.system.exists(self.path)
            self._put(_PROBE, {})
            self.remove([_PROBE])
        if is_new:
            self._remove_if_empty()

    def start(self) -> None:
        """Write a start marker, then clear the folder, markers first."""
        start = {
            "neardup": __version__,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": platform.node(),
            "process": os.getpid(),
            "run": self._token,
        }
        with writing_to(self.url):
            self._is_started = True
            self._put(_STARTED, start)
            self._clear()

    def finish(self) -> None:
        """Write the marker, with all files' names and sizes."""
        with writing_to(self.url):
            if not self._is_own():
                message = (
                    f"{self.url} has been taken over by another run; give each run an output of "
                    "its own"
                )
                raise WriteError(message)
            files = [{"name": name, "bytes": size} for name, size in self._sizes().items()]
            self._put(_SUCCESS, {"neardup": __version__, "files": files})

    def undo(self) -> str:
        """Remove the written files, and describe the result."""
        if not self._is_started:
            return "nothing was written"
        lost = ", and the earlier output is gone" if self._has_replaced else ""
        try:
            if self._is_own():
                self._clear()
                self.remove([_STARTED])
                self._remove_if_empty()
        except Exception:
            # Of whatever kind: the error that led here is the one to report.
            return f"what was written may still be there, without {_SUCCESS}{lost}"
        return f"nothing was written{lost}"

    def remove(self, names: list[str]) -> None:
        """Remove files by their names."""
        if names:
            self.system.rm([f"{self.path}/{name}" for name in names])

    def _clear(self) -> None:
        if self._marker(_SUCCESS) is not None:
            self._has_replaced = True
            self.remove([_SUCCESS])
        self.remove([*self._sizes()])

    def _sizes(self) -> dict[str, int]:
        """Return the bytes of all files below by name, except markers."""
        self.system.invalidate_cache(self.path)
        start = len(self.path)
        found = self.system.find(self.path, detail=True)
        sizes = {path[start:].strip("/"): about["size"] for path, about in found.items()}
        ours = {"", _PROBE, _STARTED} | ({_SUCCESS} if self._marker(_SUCCESS) else set())
        return {name: sizes[name] for name in sorted(sizes) if name not in ours}

    def _is_own(self) -> bool:
        return (self._marker(_STARTED) or {}).get("run") == self._token

    def _marker(self, name: str) -> dict[str, Any] | None:
        return read_marker(self.system, self.path, name)

    def _put(self, name: str, content: dict[str, Any]) -> None:
        if has_folders(self.path):
            self.system.makedirs(self.path, exist_ok=True)
        data = (json.dumps(content, indent=2) + "\n").encode()
        to_its_end(lambda: self.system.pipe_file(f"{self.path}/{name}", data))

    def _remove_if_empty(self) -> None:
        """Remove an empty folder, if the system has folders."""
        if has_folders(self.path):
            with contextlib.suppress(Exception):
                if not self.system.find(self.path):
                    self.system.rm(self.path, recursive=True)
