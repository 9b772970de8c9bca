"""Hidden folders in which outputs are made, next to their final paths.

A folder is called ``.NAME.neardup-progress`` and is a ``LockedFolder``: a run locks it at its
start, so that no other run works for the same output. It holds the unfinished output. On systems
that cannot exchange two names in one step, it also holds the earlier output, ``old``, for a moment.
The system frees the lock of a killed writer. The next run for the same output then restores the
earlier output, if its name is free, and removes the rest.

On file systems without locks, each writer has its own folder, ``.NAME.neardup-XXXXXXXX``.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from neardup.errors import WriteError
from neardup.runs.disk import HOLDER, LOCK, LockedFolder, find_holder, note, part_of, translated

# The system's exchange of two names in one step, if it has one.

# Errors of kernels or file systems without the exchange.
_NOT_KNOWN = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}

_THIS_FOLDER = -100  # AT_FDCWD of Linux: relative paths start at the current folder
_RENAME_EXCHANGE = 2  # of Linux
_RENAME_SWAP = 2  # of macOS


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two folders or files of one file system in one step.

    Returns False, without a change, if the system lacks this step.
    """
    call = _system_call()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_KNOWN:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


def _system_call() -> Callable[[bytes, bytes], int] | None:
    """Return the system's function of two paths, if it has one."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "linux":
            rename = library.renameat2
            return lambda one, other: int(
                rename(_THIS_FOLDER, one, _THIS_FOLDER, other, _RENAME_EXCHANGE)
            )
        if sys.platform == "darwin":
            swap = library.renamex_np
            return lambda one, other: int(swap(one, other, _RENAME_SWAP))
    # Windows has no library without a name; an old one lacks the function.
    except (OSError, TypeError, AttributeError):
        pass
    return None


_NEW = "new"
_OLD = "old"
_NAMES = {LOCK, HOLDER, part_of(Path(HOLDER)).name, _NEW, _OLD}
_RANDOM = re.compile(r"[a-z0-9_]{8}")

# The output paths that this context holds, and their scratch folders.
_HELD: ContextVar[Mapping[Path, Path]] = ContextVar("held")


@contextmanager
def scratch_beside(target: Path, name: object = None) -> Iterator[Path]:
    """Hold an output's path within the block, and yield a scratch path for the output.

    The scratch path is in a hidden folder next to the output; leftovers of killed writers there are
    removed first. Nested blocks for the same output share the folder.

    Parameters
    ----------
    target
        Path of the output.
    name
        Name of the output for users, if it is not that path.

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
        with translated(name or target):
            _lock(scratch, name or target)
            if not scratch.is_locked:
                # Without locks, the writer has its own folder.
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


def take_place(content: Path, target: Path) -> None:
    """Rename the scratch output to ``target``; its earlier content goes with the scratch folder."""
    note(content, target)
    if not (content.is_dir() and target.is_dir()):
        content.replace(target)
    elif not exchange(content, target):
        target.rename(content.with_name(_OLD))
        content.rename(target)


def recover(target: Path) -> bool:
    """Restore an output after killed writers; return True if it was missing and was restored.

    Files of living writers and files that cannot be changed are left alone.
    """
    was_there = os.path.lexists(target)
    for scratch in _scratch_folders(target):
        with contextlib.suppress(OSError):
            # Without waiting: the lock of a living writer raises TimeoutError, which is an OSError.
            scratch.enter(patience=0)
            if scratch.is_locked:
                _clear(scratch.path, target)
                scratch.remove()
    return not was_there and os.path.lexists(target)


def recover_above(path: str) -> bool:
    """Call ``recover`` for the first missing folder on the way to ``path``."""
    missing = None
    for folder in (Path(path), *Path(path).parents):
        if os.path.lexists(folder):
            break
        missing = folder
    return missing is not None and recover(missing)


def _lock(scratch: LockedFolder, name: object) -> None:
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
            f"{name} is being written by {holder}; wait until that is done, end it, or choose "
            "another name"
        )
        raise WriteError(message)


def _scratch_folders(target: Path) -> list[LockedFolder]:
    """Return the scratch folders of an output; folders with foreign files are excluded."""
    prefix = _prefix(target)
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        # As a list, because the folder is about to change.
        return [
            LockedFolder(folder)
            for entry in entries
            if entry.name.startswith(prefix) and _RANDOM.fullmatch(entry.name[len(prefix) :])
            if _is_scratch(folder := target.parent / entry.name)
        ]
    return []


def _is_scratch(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return not folder.is_symlink() and _NAMES.issuperset(p.name for p in folder.iterdir())
    return False


def _clear(scratch: Path, target: Path) -> None:
    """Restore the earlier output if its name is free, and remove the scratch output."""
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
