"""The system's exchange of two names in one step, where it has one."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

# What systems answer whose kernel or file system knows no exchange.
_NOT_KNOWN = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}

_THIS_FOLDER = -100  # AT_FDCWD of Linux: relative paths start at the current folder
_RENAME_EXCHANGE = 2  # of Linux
_RENAME_SWAP = 2  # of macOS


def exchange(one: Path, other: Path) -> bool:
    """Let two folders or files of one file system take each other's names, in one step.

    Returns False where the system has no such step; nothing has changed then.

    Raises
    ------
    OSError
        If it has one, and the step fails.
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
