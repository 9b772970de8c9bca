"""Output files and folders at URLs, where nothing can be exchanged in one step.

Files appear in the folder one by one, and nothing is staged on the local disk. ``_STARTED`` names
the writer. ``_SUCCESS``, written last, marks a complete output and lists its files. An output that
is replaced loses its marker first.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from neardup.errors import OVERWRITE, OutputExistsError, WriteError
from neardup.files.locations import ENTRIES, STARTED, SUCCESS, read_marker
from neardup.files.remote import (
    RemoteDestination,
    RemoteFile,
    WrittenFile,
    has_folders,
    open_system,
    to_its_end,
    writing_to,
)
from neardup.files.streams import Destination
from neardup.outputs.targets import Url
from neardup.runs.disk import note_written
from neardup.version import __version__

# Single files at URLs, which appear when they are complete.


def check_remote_file(url: Url, *, overwrite: bool) -> None:
    """Make sure, before work starts, that a file may be written."""
    system, path = open_system(url)
    with writing_to(url):
        is_folder, exists = system.isdir(path), system.exists(path)
    if is_folder:
        message = f"{url} is a folder; name a file"
        raise WriteError(message)
    if exists and not overwrite:
        raise OutputExistsError.at(url)
    beside = _beside(system, path)
    with writing_to(url):
        system.pipe_file(beside, b"")
    # Whoever may not delete may still write a file.
    with contextlib.suppress(Exception):
        system.rm_file(beside)


@contextmanager
def new_remote_file(url: Url) -> Iterator[Destination]:
    """Yield the destination of one file, which is at the URL when the block ends.

    Object stores show a file when it is closed. Other systems get a temporary file that is renamed.
    """
    system, path = open_system(url)
    is_moved = has_folders(path)
    written = _beside(system, path) if is_moved else path
    files: list[RemoteFile | WrittenFile] = []
    try:
        yield RemoteDestination(system, written, url, files)
        if is_moved:
            with writing_to(url):
                system.mv(written, path)
    except BaseException as error:
        for file in files:
            file.abandon()
        if is_moved:
            with contextlib.suppress(Exception):
                system.rm_file(written)
        elif any(file.is_complete for file in files):
            # The interrupt came while it was completed.
            note_written(url)
        if isinstance(error, WriteError):
            message = f"{error.in_both}; nothing was written"
            raise WriteError(message) from error.__cause__
        raise
    note_written(url)


def remote_size(url: Url) -> int:
    """Return the bytes of a file that was written."""
    system, path = open_system(url)
    with writing_to(url):
        return int(system.size(path))


def _beside(system: Any, path: str) -> str:
    """Return a free name in the folder of a path."""
    parent, _, name = path.rpartition("/")
    return f"{parent}/.{name}.neardup-{uuid.uuid4().hex[:8]}"


# Written and removed again before work starts, so that a run does not end where it may not write.
_PROBE = "_neardup_probe"


def check_remote_folder(url: Url, *, overwrite: bool) -> None:
    """Make sure, before work starts, that a folder may be written."""
    folder = _RemoteFolder(url)
    folder.check(overwrite=overwrite)
    folder.probe()


def check_apart_remote(url: Url, inputs: Iterable[str]) -> None:
    """Make sure that replacing a folder or file does not take an input away."""
    system, path = open_system(url)
    protocols = (system.protocol,) if isinstance(system.protocol, str) else system.protocol
    for found in inputs:
        if found.partition("://")[0] not in protocols:
            continue
        place = system._strip_protocol(found)  # noqa: SLF001 - the public way asks the server
        if place == path or place.startswith(path + "/"):
            holds = "is an input" if place == path else f"holds the input {found}"
            message = f"{url} {holds}, and would be replaced; choose another name"
            raise OutputExistsError(message)


@contextmanager
def new_remote_folder(url: Url, *, overwrite: bool = False) -> Iterator[Destination]:
    """Yield the folder for files; at the end it gets its marker.

    After an error the written files are removed, if they can be.
    """
    folder = _RemoteFolder(url)
    folder.check(overwrite=overwrite)
    files: list[RemoteFile | WrittenFile] = []
    try:
        folder.start()
        yield RemoteDestination(folder.system, folder.path, url, files)
        folder.finish(files)
    except BaseException as error:
        fate = folder.undo(files)
        if isinstance(error, WriteError):
            message = f"{error.in_both}; {fate}"
            raise WriteError(message) from error.__cause__
        raise
    note_written(url)
    folder.forget_start()


class _RemoteFolder:
    """A folder at a URL and its markers."""

    def __init__(self, url: Url) -> None:
        self.url = url
        self.system, self.path = open_system(url)
        self._token = uuid.uuid4().hex
        self._is_started = self._has_replaced = False

    def check(self, *, overwrite: bool) -> None:
        """Raise unless the folder is empty, or an output of ours that may be replaced."""
        with writing_to(self.url):
            is_file = self.system.isfile(self.path)
            names = self._names()
            is_complete = self._marker(SUCCESS) is not None
            started = self._marker(STARTED)
        if is_file:
            message = f"{self.url} is not a folder; the output is a folder, choose another name"
            raise WriteError(message)
        foreign = [name for name in names if name.partition("/")[0] not in ENTRIES]
        if not is_complete and not started:
            foreign = names
        if foreign:
            message = (
                f"{self.url} holds files that are not of an output of neardup, such as "
                f"{foreign[0]}; choose another name, or remove them yourself"
            )
            raise OutputExistsError(message)
        if overwrite or not (is_complete or started):
            return
        if is_complete:
            raise OutputExistsError.at(self.url)
        message = (
            f"{self.url} is an unfinished output of neardup, begun {_who(started)}; if that "
            f"run has ended, {OVERWRITE} removes what it left, and writes anew"
        )
        raise OutputExistsError(message)

    def probe(self) -> None:
        """Write a file and remove it, and with it a folder that was made for it."""
        with writing_to(self.url):
            is_new = has_folders(self.path) and not self.system.exists(self.path)
            if has_folders(self.path):
                self.system.makedirs(self.path, exist_ok=True)
            self._put(_PROBE, {})
            self._remove([_PROBE])
        if is_new:
            self._remove_if_empty()

    def start(self) -> None:
        """Write who writes, then clear the folder, the marker of an earlier output first."""
        start = {
            "neardup": __version__,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": platform.node(),
            "process": os.getpid(),
            "run": self._token,
        }
        with writing_to(self.url):
            if has_folders(self.path):
                self.system.makedirs(self.path, exist_ok=True)
            self._is_started = True
            self._put(STARTED, start)
            self._clear()

    def finish(self, files: list[RemoteFile | WrittenFile]) -> None:
        """Write the marker, with the names and sizes of all files."""
        with writing_to(self.url):
            if not self._is_ours():
                message = (
                    f"{self.url} has been taken over by another run; give each run an output of "
                    "its own"
                )
                raise WriteError(message)
            start = len(self.path) + 1
            sizes = sorted((file.path[start:], file.size) for file in files)
            listed = [{"name": name, "bytes": size} for name, size in sizes]
            self._put(SUCCESS, {"neardup": __version__, "files": listed})

    def undo(self, files: list[RemoteFile | WrittenFile]) -> str:
        """Remove the written files, and return a description of their fate."""
        for file in files:
            file.abandon()
        if not self._is_started:
            return "nothing was written"
        lost = ", and the earlier output is gone" if self._has_replaced else ""
        try:
            if not self._is_ours():
                return f"nothing was written{lost}"
            self._clear()
            self._remove([STARTED])
        except Exception:
            # Of whatever kind: the error that led here is the one to report.
            return f"what was written may still be there, without {SUCCESS}{lost}"
        self._remove_if_empty()
        return f"nothing was written{lost}"

    def forget_start(self) -> None:
        """Remove the file that names the writer; the output is complete without it."""
        with contextlib.suppress(Exception):
            self._remove([STARTED])

    def _clear(self) -> None:
        if self._marker(SUCCESS) is not None:
            self._has_replaced = True
            self._remove([SUCCESS])
        self._remove(self._names())

    def _names(self) -> list[str]:
        """Return the names of all files below, but for our markers."""
        self.system.invalidate_cache(self.path)
        start = len(self.path)
        found = (path[start:].strip("/") for path in self.system.find(self.path))
        ours = {"", _PROBE, STARTED} | ({SUCCESS} if self._marker(SUCCESS) else set())
        return sorted(name for name in found if name not in ours)

    def _is_ours(self) -> bool:
        return (self._marker(STARTED) or {}).get("run") == self._token

    def _marker(self, name: str) -> dict[str, Any] | None:
        return read_marker(self.system, self.path, name)

    def _put(self, name: str, content: dict[str, Any]) -> None:
        data = (json.dumps(content, indent=2) + "\n").encode()
        to_its_end(lambda: self.system.pipe_file(f"{self.path}/{name}", data))

    def _remove(self, names: list[str]) -> None:
        if names:
            self.system.rm([f"{self.path}/{name}" for name in names])

    def _remove_if_empty(self) -> None:
        """Remove folders without files, where there are folders."""
        if has_folders(self.path):
            with contextlib.suppress(Exception):
                if not self.system.find(self.path):
                    self.system.rm(self.path, recursive=True)


def _who(started: dict[str, Any] | None) -> str:
    """Describe who began an output, by its marker."""
    found = started or {}
    return f"{found.get('at')} by process {found.get('process')} on {found.get('host')}"
