"""Single files at URLs, which appear when they are complete."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from neardup.errors import OutputExistsError, WriteError
from neardup.files.destinations import Destination
from neardup.files.remote import (
    RemoteDestination,
    RemoteFile,
    WrittenFile,
    has_folders,
    open_system,
    writing_to,
)
from neardup.outputs.targets import Url
from neardup.storage.journal import note_written


def check_remote_file(url: Url, *, overwrite: bool) -> None:
    """Make sure, before work starts, that a file may be written.

    Raises
    ------
    OutputExistsError
        If it exists and is not to be replaced.
    WriteError
        If it is a folder, or cannot be written.
    """
    system, path = open_system(url)
    with writing_to(url):
        is_folder, exists = system.isdir(path), system.exists(path)
    if is_folder:
        message = f"{url} is a folder; name a file"
        raise WriteError(message)
    if exists and not overwrite:
        message = f"{url} exists; choose another name, or replace it with --overwrite"
        raise OutputExistsError(message)
    beside = _beside(system, path)
    with writing_to(url):
        system.pipe_file(beside, b"")
    # Whoever may not delete may still write a file.
    with contextlib.suppress(Exception):
        system.rm_file(beside)


@contextmanager
def new_remote_file(url: Url) -> Iterator[Destination]:
    """Give a place for one file to be created, which is at the URL when the block ends.

    Object stores show a file when it is closed. Elsewhere it is written beside its place and moved
    there.

    Raises
    ------
    WriteError
        When writing fails.
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
            message = f"{error}; nothing was written"
            raise WriteError(message) from error.__cause__
        raise
    note_written(url)


def remote_size(url: Url) -> int:
    """Return the bytes of a file that was written."""
    system, path = open_system(url)
    with writing_to(url):
        return int(system.size(path))


def _beside(system: Any, path: str) -> str:
    """Return a name that is free, beside a path."""
    parent, _, name = path.rpartition("/")
    return f"{parent}/.{name}.neardup-{uuid.uuid4().hex[:8]}"
