"""Hidden folders in which outputs are made, beside the place that they take at the end.

One is called ``.NAME.neardup-progress`` and is a ``LockedFolder``: a run locks it at its start, so
that no other run works for the same output. It holds the output as it comes into being; and for
moments, where the system cannot exchange two names in one step, the earlier output, ``old``. The
system frees the lock of a killed writer. Whoever then comes to the place puts the earlier output
back, if nothing has taken its name, and removes the rest.

Where nothing can be locked, each writer has a folder of its own, ``.NAME.neardup-XXXXXXXX``.
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

# The system's exchange of two names in one step, where it has one.

# What systems answer whose kernel or file system knows no exchange.
_NOT_KNOWN = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}

_THIS_FOLDER = -100  # AT_FDCWD of Linux: relative paths start at the current folder
_RENAME_EXCHANGE = 2  # of Linux
_RENAME_SWAP = 2  # of macOS


def exchange(one: Path, other: Path) -> bool:
    """Let two folders or files of one file system take each other's names, in one step.

    Returns False where the system has no such step; nothing has changed then.
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
    """Return the call of this system that takes two paths, if it has one."""
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

# The places that this context holds, and what is being made for each.
_HELD: ContextVar[Mapping[Path, Path]] = ContextVar("held")


@contextmanager
def scratch_beside(target: Path, name: object = None) -> Iterator[Path]:
    """Hold a place until the block ends, and give a path for what is to take its name.

    The path is in a hidden folder beside the place. What killed writers have left there is cleared
    first. In a block that holds the place, or in which it is made, that block's folder is used.

    Parameters
    ----------
    target
        The place.
    name
        What users call it, if not by that path.

    Raises
    ------
    WriteError
        If another run holds the place.
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
                # Nothing can be locked here: the writer has a folder of its own.
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
    """Let what was made in a scratch folder take its name; what had it goes with that folder."""
    note(content, target)
    if not (content.is_dir() and target.is_dir()):
        content.replace(target)
    elif not exchange(content, target):
        target.rename(content.with_name(_OLD))
        content.rename(target)


def recover(target: Path) -> bool:
    """Put right what killed writers have left at a place; True if it was empty and now is not.

    What a living writer has there is left alone, and so is what cannot be changed.
    """
    was_there = os.path.lexists(target)
    for scratch in _scratch_folders(target):
        with contextlib.suppress(OSError):
            # At once: the lock of a living writer raises TimeoutError, which is an OSError.
            scratch.enter(patience=0)
            if scratch.is_locked:
                _clear(scratch.path, target)
                scratch.remove()
    return not was_there and os.path.lexists(target)


def recover_above(path: str) -> bool:
    """Do as ``recover`` for the first folder on the way to ``path`` that is not there."""
    missing = None
    for folder in (Path(path), *Path(path).parents):
        if os.path.lexists(folder):
            break
        missing = folder
    return missing is not None and recover(missing)


def _lock(scratch: LockedFolder, name: object) -> None:
    """Lock the folder of a place, if anything can be locked there."""
    try:
        scratch.enter()
        return
    except TimeoutError:
        holder: str | None = scratch.holder
    except PermissionError:
        # That of another user, who may have been killed.
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
    """Return the scratch folders of a place; one with foreign files in it is none."""
    prefix = _prefix(target)
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        # All of them at once, for the folder is about to change.
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
    """Put the earlier output back if nothing has its name, and remove what was made."""
    old = scratch / _OLD
    if os.path.lexists(old) and not os.path.lexists(target):
        with contextlib.suppress(OSError):
            old.rename(target)
    # The only copy of an output stays, wherever it is.
    if os.path.lexists(target) or not os.path.lexists(old):
        for path in (scratch / _NEW, old):
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    return f".{target.name}.neardup-"
