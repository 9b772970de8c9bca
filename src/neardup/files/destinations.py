"""Outputs that appear whole, in folders and at URLs.

A local output is made in a hidden folder beside its place, ``.NAME.neardup-progress``, and renamed
when it is complete. Its writer locks the folder; the system frees the lock of a killed writer. Then
the next run for this output restores an earlier output, if its name is free, and removes the rest.

At a URL nothing can be exchanged in one step, and nothing is staged on the local disk. A file of an
object store is visible when it is closed; other systems get a temporary file that is renamed. The
files of a folder appear one by one; ``_SUCCESS``, written last, lists the files of a complete
output. An output that is replaced loses that marker first.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from neardup.errors import InvalidParameterError, NeardupError, OutputExistsError, WriteError
from neardup.files.remote import (
    RemoteDestination,
    Url,
    has_folders,
    open_system,
    to_its_end,
    writing_to,
)
from neardup.files.streams import Destination, LocalDestination, is_url
from neardup.runs import disk
from neardup.runs.disk import LockedFolder
from neardup.version import __version__

SUMMARY = "summary.json"
"""The file that marks an output folder."""

# Targets: paths and URLs that users name.

Target = Path | Url


def target_of(output: str | os.PathLike[str]) -> Target:
    """Return the path or URL that a user has named."""
    text = os.fspath(output).removeprefix("file://")
    protocol, separator, rest = text.partition("://")
    return Url(protocol + separator + rest.rstrip("/")) if separator else Path(text)


def is_standard_output(target: Target) -> bool:
    """Return whether a target is standard output."""
    return target in (Path("-"), Path("/dev/stdout"))


# Checks before work starts.


def check_output(target: Target, *, overwrite: bool, mark: str = SUMMARY) -> None:
    """Check that an output folder is new or replaceable."""
    if isinstance(target, Url):
        _check_writable(target, *_check_remote(target, overwrite=overwrite))
        return
    if is_standard_output(target):
        message = "the output is a folder, which standard output does not take; name a new folder"
        raise WriteError(message)
    _check_local(target)
    if Path.cwd().is_relative_to(os.path.realpath(target)):
        message = f"{str(target)!r} is the folder you are in, or above it; name a new folder"
        raise WriteError(message)
    if os.path.lexists(target) or recover(target):
        if not target.is_dir() or target.is_symlink():
            raise _no_folder(target)
        if any(target.iterdir()) and not (target / mark).is_file():
            message = (
                f"{target} is not empty, and has no {mark}; choose another name, or remove it "
                "yourself"
            )
            raise OutputExistsError(message)
        if not overwrite:
            raise OutputExistsError.at(target)


def check_file(target: Target, suffixes: tuple[str, ...], *, overwrite: bool) -> None:
    """Check that a single file may be written."""
    if target.suffix not in suffixes:
        message = f"the output file must end in {', '.join(suffixes)}, got {str(target)!r}"
        raise InvalidParameterError(message)
    if isinstance(target, Url):
        system, path = open_system(target)
        with writing_to(target):
            is_folder, exists = system.isdir(path), system.exists(path)
    else:
        _check_local(target)
        is_folder, exists = target.is_dir(), os.path.lexists(target)
    if is_folder:
        message = f"{target} is a folder; name a file"
        raise WriteError(message)
    if exists and not overwrite:
        raise OutputExistsError.at(target)
    if isinstance(target, Path):
        with _translated(target), tempfile.TemporaryFile(dir=target.parent):
            return
    _check_writable(target, system, path)


def _check_writable(url: Url, system: Any, path: str) -> None:
    """Check that a folder is writable, before a long run."""
    beside = _beside(path)
    with writing_to(url):
        system.pipe_file(beside, b"")
    # Without permission to delete, a file can still be written.
    with contextlib.suppress(Exception):
        system.rm_file(beside)


def _check_local(target: Path) -> None:
    # A path has taken one of the slashes away.
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(target)):
        message = f"{target} is a URL; give it as a string, or for an index a local path"
        raise WriteError(message)


def _no_folder(target: Target) -> WriteError:
    message = f"{target} is not a folder; the output is a folder, choose another name"
    return WriteError(message)


def check_apart(target: Target, inputs: Iterable[str | None]) -> None:
    """Check that replacing an output does not delete an input."""
    for given in filter(None, inputs):
        if _is_within(given, target):
            is_same = _is_within(str(target), target_of(given))
            holds = "is an input" if is_same else f"holds the input {given}"
            message = f"{target} {holds}, and would be replaced; choose another name"
            raise OutputExistsError(message)


def check_outside(target: Target, folder: str | Path, kind: str = "index") -> None:
    """Check that an output is not inside a protected folder."""
    if _is_within(str(target), target_of(folder)):
        message = f"{target} is in the {kind} {folder}; write it somewhere else"
        raise WriteError(message)


def _is_within(place: str, folder: Target) -> bool:
    """Return whether a path or URL is in a folder."""
    if not isinstance(folder, Url):
        real = os.path.realpath(folder)
        return not is_url(place) and Path(os.path.realpath(place)).is_relative_to(real)
    system, path = open_system(folder)
    protocols = (system.protocol,) if isinstance(system.protocol, str) else system.protocol
    if place.partition("://")[0] not in protocols:
        return False
    inner = system._strip_protocol(place)  # noqa: SLF001 - the public way asks the server
    return f"{inner}/".startswith(f"{path}/")


# Folders and files that appear when they are complete.


@contextmanager
def new_output(target: Target, *, overwrite: bool = False) -> Iterator[Destination]:
    """Yield the destination of an output folder, completed on exit."""
    if isinstance(target, Url):
        with _new_remote_folder(target, overwrite=overwrite) as destination:
            yield destination
    else:
        with new_folder(target, overwrite=overwrite) as folder:
            yield LocalDestination(folder)


@contextmanager
def new_folder(target: Path, *, overwrite: bool = False, mark: str = SUMMARY) -> Iterator[Path]:
    """Yield a temporary folder, renamed to ``target`` on success."""
    check_output(target, overwrite=overwrite, mark=mark)
    with holding(target, overwrite=overwrite) as content, _translated(target):
        content.mkdir()
        yield content
        if os.path.lexists(target):
            # It may have come into being since the first check.
            check_output(target, overwrite=overwrite, mark=mark)
        take_place(content, target)


def write_file(target: Target, write: Callable[[Destination], object]) -> None:
    """Write a file by a function, visible only when complete."""
    if isinstance(target, Url):
        with new_remote_file(target) as destination:
            write(destination)
        return
    with holding(target, overwrite=True) as content, _translated(target):
        write(LocalDestination(content))
        take_place(content, target)


def size_of(target: Target) -> int:
    """Return the bytes of a file that was written."""
    if isinstance(target, Path):
        return target.stat().st_size
    system, path = open_system(target)
    with writing_to(target):
        return int(system.size(path))


@contextmanager
def _translated(target: Target) -> Iterator[None]:
    """Raise the operating system's errors with the output's name.

    Errors that a writer has translated are included: they name a file in the temporary folder.
    """
    try:
        yield
    except OSError as error:
        reason = error.__cause__ if isinstance(error, WriteError) else error
        if not isinstance(reason, OSError) or isinstance(reason, NeardupError):
            raise
        # Arrow puts words of its own around the system's.
        words = os.strerror(reason.errno) if reason.errno else str(reason)
        message = f"cannot write {target}: {words}; nothing was written"
        raise WriteError(message) from None


# The hidden folder of a local output. It holds the unfinished output, ``new``, and the earlier
# folder, ``old``, for the moment between two renames. Where nothing can be locked, each writer has
# a folder of its own.

_NEW, _OLD = "new", "old"

# The outputs that this context holds, and the places of their contents.
_HELD: ContextVar[Mapping[Path, Path]] = ContextVar("held")


@contextmanager
def holding(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """Lock a local output, and yield its temporary path.

    Folders above it are made, and go if they stay empty. Nested blocks for the same output share
    the path. Raises WriteError if another run holds the output.
    """
    missing = [each for each in target.absolute().parents if not os.path.lexists(each)]
    try:
        with _translated(target):
            target.parent.mkdir(parents=True, exist_ok=True)
        with _scratch_beside(target) as content:
            if not overwrite and os.path.lexists(target):
                # Another run may have ended since the first check.
                raise OutputExistsError.at(target)
            yield content
    finally:
        with contextlib.suppress(OSError):
            for folder in missing:
                folder.rmdir()


@contextmanager
def _scratch_beside(target: Path) -> Iterator[Path]:
    """Lock and clear the hidden folder of an output, and yield the place of its content."""
    place, held = Path(os.path.realpath(target.parent), target.name), _HELD.get({})
    if place in held:
        try:
            yield held[place]
        finally:
            _clear(held[place].parent, target)
        return
    scratch = LockedFolder(_scratch_of(place))
    is_ours = False
    try:
        with disk.write_errors(target):
            try:
                scratch.enter()
            except TimeoutError:
                message = (
                    f"{target} is being written by {scratch.holder}; wait until that is done, end "
                    "it, or choose another name"
                )
                raise WriteError(message) from None
            if not scratch.is_locked:
                scratch.remove()
                scratch = LockedFolder(
                    Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
                )
        is_ours, content = True, scratch.path / _NEW
        # A killed writer may have left its content.
        _clear(scratch.path, target)
        _HELD.set({**held, place: content})
        yield content
    finally:
        _HELD.set(held)
        if is_ours or scratch.is_locked:
            try:
                _clear(scratch.path, target)
            finally:
                scratch.remove()


def _scratch_of(target: Path) -> Path:
    target = target if target.name else target.absolute()
    return target.parent / f".{target.name}.neardup-progress"


def take_place(content: Path, target: Path) -> None:
    """Rename the content to ``target``, moving an earlier folder away."""
    if content.is_dir() and target.is_dir():
        target.rename(content.with_name(_OLD))
    content.replace(target)


def recover(target: Path) -> bool:
    """Restore an output after a killed writer.

    Returns True if it was missing and was restored. Files of living writers and files that cannot
    be changed are left alone.
    """
    was_there = os.path.lexists(target)
    scratch = LockedFolder(_scratch_of(target))
    # The lock of a living writer raises TimeoutError, which is an OSError.
    with contextlib.suppress(OSError):
        if scratch.path.is_dir() and not scratch.path.is_symlink():
            scratch.enter(patience=0)
            if scratch.is_locked:
                _clear(scratch.path, target)
                scratch.remove()
    return not was_there and os.path.lexists(target)


def _clear(scratch: Path, target: Path) -> None:
    """Restore a missing earlier output, and remove the scratch output."""
    old = scratch / _OLD
    if os.path.lexists(old) and not os.path.lexists(target):
        with contextlib.suppress(OSError):
            old.rename(target)
    # The only copy of an output is never removed.
    if os.path.lexists(target) or not os.path.lexists(old):
        for path in (scratch / _NEW, old):
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)


@contextmanager
def _undoing(destination: RemoteDestination, undo: Callable[[], str]) -> Iterator[Destination]:
    """Yield a destination; after an error abandon its files and ``undo``."""
    try:
        yield destination
    except BaseException as error:
        for file in destination.files:
            file.abandon()
        fate = undo()
        if isinstance(error, WriteError):
            message = f"{error.in_both}; {fate}"
            raise WriteError(message) from error.__cause__
        raise


@contextmanager
def new_remote_file(url: Url) -> Iterator[Destination]:
    """Yield a file's destination, at the URL after the block."""
    system, path = open_system(url)
    is_moved = has_folders(path)
    destination = RemoteDestination(system, _beside(path) if is_moved else path, url)

    def undo() -> str:
        if is_moved:
            with contextlib.suppress(Exception):
                system.rm_file(destination.path)
        return "nothing was written"

    with _undoing(destination, undo):
        yield destination
        if is_moved:
            with writing_to(url):
                system.mv(destination.path, path)


def _beside(path: str) -> str:
    """Return a free name in the folder of a path."""
    parent, _, name = path.rpartition("/")
    return f"{parent}/.{name}.neardup-{uuid.uuid4().hex[:8]}"


# Folders at URLs. Their marker is written last, and removed first when they are replaced.

_SUCCESS = "_SUCCESS"

# All that a run writes below an output folder, by the first part of its name.
_ENTRIES = frozenset({"kept", "removed", "removed.parquet", "clusters.parquet", SUMMARY})


def is_remote_output(system: Any, folder: str) -> bool:
    """Return whether a folder has the marker of a complete output."""
    try:
        content = json.loads(system.cat_file(f"{folder}/{_SUCCESS}"))
    except (FileNotFoundError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "neardup" in content


def _check_remote(url: Url, *, overwrite: bool) -> tuple[Any, str]:
    """Return the system and path of a usable output folder."""
    system, path = open_system(url)
    with writing_to(url):
        is_file, names = system.isfile(path), _sizes(system, path)
        entries = _ENTRIES | ({_SUCCESS} if is_remote_output(system, path) else set())
    if is_file:
        raise _no_folder(url)
    foreign = [name for name in names if name.partition("/")[0] not in entries]
    if foreign:
        message = (
            f"{url} holds files that are not of an output of neardup, such as {foreign[0]}; choose "
            "another name, or remove them yourself"
        )
        raise OutputExistsError(message)
    if names and not overwrite:
        raise OutputExistsError.at(url)
    return system, path


def _sizes(system: Any, folder: str) -> dict[str, int]:
    """Return the bytes of all files below a folder by name."""
    system.invalidate_cache(folder)
    found = system.find(folder, detail=True)
    sizes = {path[len(folder) :].strip("/"): about["size"] for path, about in found.items()}
    return {name: sizes[name] for name in sorted(sizes) if name}


@contextmanager
def _new_remote_folder(url: Url, *, overwrite: bool) -> Iterator[Destination]:
    """Yield the folder for files, writing its marker on exit."""
    system, path = _check_remote(url, overwrite=overwrite)
    has_earlier = bool(_sizes(system, path))

    def remove() -> None:
        if _SUCCESS in _sizes(system, path):
            system.rm_file(f"{path}/{_SUCCESS}")
        with contextlib.suppress(FileNotFoundError):
            system.rm(path, recursive=True)

    def undo() -> str:
        lost = ", and the earlier output is gone" if has_earlier else ""
        try:
            remove()
        except Exception:
            # The error that led here is reported, not this one.
            return f"unfinished files may remain there, without {_SUCCESS}{lost}"
        return f"nothing was written{lost}"

    with _undoing(RemoteDestination(system, path, url), undo) as destination:
        with writing_to(url):
            remove()
        yield destination
        with writing_to(url):
            files = [{"name": name, "bytes": n} for name, n in _sizes(system, path).items()]
            marker = json.dumps({"neardup": __version__, "files": files}, indent=2) + "\n"
            to_its_end(lambda: system.pipe_file(f"{path}/{_SUCCESS}", marker.encode()))
