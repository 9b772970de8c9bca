"""Outputs in folders, at URLs and on standard output.

A local output is made in a hidden folder beside its place, ``.NAME.neardup-progress``, and renamed
when it is complete. The folder is locked by its writer; the system frees the lock of a killed one,
and the next run for the same output restores an earlier output, if its name is free, and removes
the rest.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from neardup.errors import InvalidParameterError, NeardupError, OutputExistsError, WriteError
from neardup.files.remote import (
    Url,
    check_remote_file,
    check_remote_folder,
    is_remote_path_in,
    new_remote_file,
    new_remote_folder,
    remote_size,
)
from neardup.files.streams import Destination, LocalDestination, is_url
from neardup.runs import disk
from neardup.runs.disk import HOLDER, LOCK, LockedFolder, find_holder, part_of
from neardup.runs.work import work_folders_of

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# Targets: the path, URL or standard output that a user has named.


Target = Path | Url


def target_of(output: str | os.PathLike[str]) -> Target:
    """Return the path or URL that a user has named."""
    text = os.fspath(output).removeprefix("file://")
    protocol, separator, rest = text.partition("://")
    return Url(protocol + separator + rest.rstrip("/")) if separator else Path(text)


def is_standard_output(target: Target) -> bool:
    """Return whether a target is standard output."""
    return target in (Path("-"), Path("/dev/stdout"))


class StandardOutput(Destination):
    """Standard output for files in sequence, each ending in newline."""

    def __truediv__(self, name: str) -> StandardOutput:
        return self

    def __str__(self) -> str:
        return "standard output"

    def make_folder(self) -> None:
        """Do nothing, as all files share one stream."""

    def create(self) -> BinaryIO:
        """Begin a file after all earlier files."""
        return cast("BinaryIO", _Lines())


class _Lines(io.RawIOBase):
    """Lines for standard output, which stays open."""

    def __init__(self) -> None:
        self._ends_line = True

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        view = memoryview(data)
        n_written = 0
        # Where Python does not buffer it, a pipe may take less than all.
        while n_written < len(view):
            n_written += sys.stdout.buffer.write(view[n_written:])
        if n_written:
            self._ends_line = view[-1] == ord("\n")
        return n_written

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        if not self._ends_line:
            sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()


# Checks before work starts.


class FolderKind(NamedTuple):
    """A kind of output folder: name and required file."""

    name: str
    mark: str


_OUTPUT = FolderKind("output", "summary.json")


def check_output(target: Target, *, overwrite: bool, kind: FolderKind = _OUTPUT) -> None:
    """Check that a folder is new or may be replaced."""
    if isinstance(target, Url):
        check_remote_folder(target, overwrite=overwrite)
        return
    if is_standard_output(target):
        message = "the output is a folder, which standard output does not take; name a new folder"
        raise WriteError(message)
    _check_local(target, kind)
    if Path.cwd().is_relative_to(os.path.realpath(target)):
        message = f"{str(target)!r} is the folder you are in, or above it; name a new folder"
        raise WriteError(message)
    if os.path.lexists(target) or recover(target):
        if not target.is_dir() or target.is_symlink():
            message = f"{target} is not a folder; the output is a folder, choose another name"
            raise WriteError(message)
        if any(target.iterdir()) and not (target / kind.mark).is_file():
            message = (
                f"{target} is not empty, and no {kind.name} of neardup; choose another name, or "
                "remove it yourself"
            )
            raise OutputExistsError(message)
        if not overwrite:
            raise _output_exists(target)


def check_file(target: Target, suffixes: tuple[str, ...], *, overwrite: bool) -> None:
    """Make sure that a single file may be written."""
    if target.suffix not in suffixes:
        message = f"the output file must end in {', '.join(suffixes)}, got {str(target)!r}"
        raise InvalidParameterError(message)
    if isinstance(target, Url):
        check_remote_file(target, overwrite=overwrite)
        return
    _check_local(target)
    if target.is_dir():
        message = f"{target} is a folder; name a file"
        raise WriteError(message)
    if os.path.lexists(target) and not overwrite:
        raise _output_exists(target)
    with _translated(target), tempfile.TemporaryFile(dir=target.parent):
        pass


def _check_local(target: Path, kind: FolderKind = _OUTPUT) -> None:
    # A path has taken one of the slashes away.
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(target)):
        message = f"{target} is a URL that was made a path; give it as a string"
        if kind is not _OUTPUT:
            message = f"{target} is a URL; an {kind.name} is local, build it and copy it there"
        raise WriteError(message)


def _output_exists(target: Path) -> OutputExistsError:
    """Return the error for an existing output, naming work folders."""
    error = OutputExistsError.at(target)
    left = work_folders_of(target)
    if not left:
        return error
    message = f"{error.in_both}; {left[0]} is left of a run that was stopped, and goes with that"
    return OutputExistsError(message)


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
    """Return whether a path or URL is a folder, or is inside it."""
    if isinstance(folder, Url):
        return is_remote_path_in(folder, place)
    return not is_url(place) and Path(os.path.realpath(place)).is_relative_to(
        os.path.realpath(folder)
    )


# Folders and files that appear when they are complete.


@contextmanager
def new_output(target: Target, *, overwrite: bool = False) -> Iterator[Destination]:
    """Yield the destination of an output folder, completed on exit."""
    if isinstance(target, Url):
        with new_remote_folder(target, overwrite=overwrite) as destination:
            yield destination
    else:
        with new_folder(target, overwrite=overwrite) as folder:
            yield LocalDestination(folder)


@contextmanager
def new_folder(
    target: Path, *, overwrite: bool = False, kind: FolderKind = _OUTPUT
) -> Iterator[Path]:
    """Yield a temporary folder, renamed to ``target`` on success."""
    check_output(target, overwrite=overwrite, kind=kind)
    with holding(target, overwrite=overwrite) as content, _translated(target):
        content.mkdir()
        yield content
        if os.path.lexists(target):
            # It may have come into being since the first check.
            check_output(target, overwrite=overwrite, kind=kind)
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
    return remote_size(target) if isinstance(target, Url) else target.stat().st_size


@contextmanager
def holding(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """Lock a local output against other runs until the block ends.

    Gives the place for its content; folders above it are made, and go if they stay empty.
    """
    missing = [each for each in target.absolute().parents if not os.path.lexists(each)]
    try:
        with _translated(target):
            target.parent.mkdir(parents=True, exist_ok=True)
        with scratch_beside(target) as content:
            if not overwrite and os.path.lexists(target):
                # Another run may have ended since the first check.
                raise _output_exists(target)
            yield content
    finally:
        with contextlib.suppress(OSError):
            for folder in missing:
                folder.rmdir()


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


# The hidden folder of a local output. It holds the unfinished output, ``new``, and, on systems that
# cannot exchange two names in one step, the earlier one, ``old``, for a moment. Where nothing can
# be locked, each writer has a folder of its own, ``.NAME.neardup-XXXXXXXX``.

_NEW, _OLD = "new", "old"
_NAMES = {LOCK, HOLDER, part_of(Path(HOLDER)).name, _NEW, _OLD}
_RANDOM = re.compile(r"[a-z0-9_]{8}")

# The outputs that this context holds, and the places of their contents.
_HELD: ContextVar[Mapping[Path, Path]] = ContextVar("held")


@contextmanager
def scratch_beside(target: Path) -> Iterator[Path]:
    """Lock an output's path, and yield its content's temporary path.

    Nested blocks for the same output share it.

    Raises
    ------
    WriteError
        If another run holds the path.
    """
    place, held = Path(os.path.realpath(target.parent), target.name), _HELD.get({})
    if place in held.values():
        yield place
        return
    if place in held:
        try:
            yield held[place]
        finally:
            _clear(held[place].parent, target)
        return
    recover(target)
    scratch = LockedFolder(place.with_name(_prefix(place) + "progress"))
    is_ours = False
    try:
        with disk.translated(target):
            _lock(scratch, target)
            if not scratch.is_locked:
                scratch.remove()
                own = tempfile.mkdtemp(prefix=_prefix(place), dir=place.parent)
                scratch = LockedFolder(Path(own))
        is_ours, content = True, scratch.path / _NEW
        _HELD.set({**held, place: content})
        yield content
    finally:
        _HELD.set(held)
        if is_ours or scratch.is_locked:
            try:
                _clear(scratch.path, target)
            finally:
                scratch.remove()


def _lock(scratch: LockedFolder, target: Path) -> None:
    """Lock the scratch folder, if the file system has locks."""
    try:
        scratch.enter()
        return
    except TimeoutError:
        holder: str | None = scratch.holder
    except PermissionError:
        # A folder of another user, who may have been killed.
        if not scratch.path.exists():
            raise
        holder = find_holder(scratch.path)
    if holder is not None:
        message = (
            f"{target} is being written by {holder}; wait until that is done, end it, or choose "
            "another name"
        )
        raise WriteError(message)


def take_place(content: Path, target: Path) -> None:
    """Rename the content to ``target``, moving its earlier content away."""
    if not (content.is_dir() and target.is_dir()):
        content.replace(target)
    elif not exchange(content, target):
        target.rename(content.with_name(_OLD))
        content.rename(target)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two paths atomically, or return False if unsupported."""
    try:
        # AT_FDCWD, a current folder for each path, and RENAME_EXCHANGE.
        status = ctypes.CDLL(None, use_errno=True).renameat2(
            -100, os.fsencode(one), -100, os.fsencode(other), 2
        )
    except (OSError, TypeError, AttributeError):
        # Only Linux has the function, and Windows no library without a name.
        return False
    number = ctypes.get_errno() if status else 0
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP):
        return False
    if number:
        raise OSError(number, os.strerror(number), str(one), None, str(other))
    return True


def recover(target: Path) -> bool:
    """Restore an output after killed writers.

    Returns True if it was missing and was restored. Files of living writers and files that cannot
    be changed are left alone.
    """
    was_there = os.path.lexists(target)
    prefix = _prefix(target)
    entries: list[str] = []
    with contextlib.suppress(OSError):
        entries = os.listdir(target.parent)
    for entry in entries:
        folder = target.parent / entry
        with contextlib.suppress(OSError):
            if (
                entry.startswith(prefix)
                and _RANDOM.fullmatch(entry[len(prefix) :])
                and not folder.is_symlink()
                and _NAMES.issuperset(os.listdir(folder))
            ):
                scratch = LockedFolder(folder)
                # The lock of a living writer raises TimeoutError, which is an OSError.
                scratch.enter(patience=0)
                if scratch.is_locked:
                    _clear(folder, target)
                    scratch.remove()
    return not was_there and os.path.lexists(target)


def recover_above(path: str) -> bool:
    """Call ``recover`` for the first missing folder of ``path``."""
    missing = None
    for folder in (Path(path), *Path(path).parents):
        if os.path.lexists(folder):
            break
        missing = folder
    return missing is not None and recover(missing)


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


def _prefix(target: Path) -> str:
    return f".{target.name}.neardup-"
