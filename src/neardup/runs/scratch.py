"""Hidden folders in which outputs are made, beside the place that they take at the end.

One is called ``.NAME.neardup-XXXXXXXX`` and holds a file ``lock``, which its writer has locked for
as long as it lives; the output as it comes into being; and for moments, where the system cannot
exchange two names in one step, the earlier output, ``old``. The system frees the lock of a killed
writer. Whoever then comes to the place puts the earlier output back, if nothing has taken its
name, and removes the rest.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.runs.disk import note

if TYPE_CHECKING:
    from filelock import BaseFileLock

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


_LOCK = "lock"
_NEW = "new"
_OLD = "old"
_NAMES = {_LOCK, _NEW, _OLD}
_RANDOM = re.compile(r"[a-z0-9_]{8}")

# What file systems answer that have no locks. There nobody finds out whether a writer lives, and
# what killed ones leave stays.
NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP}

# Folders that others may take for abandoned before they are locked.
_TRIES = 10


@contextmanager
def scratch_beside(target: Path) -> Iterator[Path]:
    """Give a place in a hidden folder beside ``target``, for what is to take its name.

    The folder goes when the block ends. What killed writers have left there is cleared first.
    """
    recover(target)
    scratch, lock = _make(target)
    try:
        yield scratch / _NEW
    finally:
        _finish(scratch, target, lock)


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
        with contextlib.suppress(OSError, NotImplementedError):
            lock = _lock_of(scratch)
            # At once: the lock of a living writer raises TimeoutError, which is an OSError.
            lock.acquire(timeout=0)
            _finish(scratch, target, lock)
    return not was_there and os.path.lexists(target)


def recover_above(path: str) -> bool:
    """Do as ``recover`` for the first folder on the way to ``path`` that is not there."""
    missing = None
    for folder in (Path(path), *Path(path).parents):
        if os.path.lexists(folder):
            break
        missing = folder
    return missing is not None and recover(missing)


def _make(target: Path) -> tuple[Path, BaseFileLock | None]:
    """Make a scratch folder and lock it; without a lock where the system has none."""
    for _ in range(_TRIES):
        scratch = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
        lock = _lock_of(scratch)
        try:
            lock.acquire(timeout=0)
        except NotImplementedError:
            return scratch, None
        except (TimeoutError, FileNotFoundError):
            continue
        except OSError as error:
            if error.errno in NO_LOCKS:
                return scratch, None
            _remove(scratch, None)
            raise
        # Somebody may have taken it for abandoned just before.
        if (scratch / _LOCK).exists():
            return scratch, lock
        lock.release()
    message = "others remove each new folder"
    raise OSError(errno.EAGAIN, message)


def _scratch_folders(target: Path) -> list[Path]:
    """Return the scratch folders of a place; one with foreign files in it is none."""
    prefix = _prefix(target)
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        # All of them at once, for the folder is about to change.
        return [
            folder
            for entry in entries
            if entry.name.startswith(prefix) and _RANDOM.fullmatch(entry.name[len(prefix) :])
            if _is_scratch(folder := target.parent / entry.name)
        ]
    return []


def _is_scratch(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return not folder.is_symlink() and _NAMES.issuperset(p.name for p in folder.iterdir())
    return False


def _finish(scratch: Path, target: Path, lock: BaseFileLock | None) -> None:
    """Put the earlier output back if nothing has its name, and remove the folder."""
    old = scratch / _OLD
    if os.path.lexists(old) and not os.path.lexists(target):
        with contextlib.suppress(OSError):
            old.rename(target)
    # The only copy of an output stays, wherever it is.
    if os.path.lexists(target) or not os.path.lexists(old):
        _remove(scratch, lock)
    elif lock is not None:
        lock.release()


def _remove(scratch: Path, lock: BaseFileLock | None) -> None:
    """Remove all but the lock, then the lock, then the folder."""
    with contextlib.suppress(OSError):
        for path in scratch.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != _LOCK:
                path.unlink()
    # Windows and network file systems keep a file that is open.
    if lock is not None:
        lock.release()
    with contextlib.suppress(OSError):
        (scratch / _LOCK).unlink(missing_ok=True)
        scratch.rmdir()


def _lock_of(scratch: Path) -> BaseFileLock:
    from filelock import FileLock

    return FileLock(scratch / _LOCK)


def _prefix(target: Path) -> str:
    return f".{target.name}.neardup-"
