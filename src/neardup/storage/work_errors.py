"""Errors of a work folder, each with what to do: a run that can go on says so."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import NeardupError, WriteError
from neardup.runtime.progress import size

# What a message says where a later run goes on.
GOES_ON = "it goes on where it stopped"

_FULL = {errno.ENOSPC, errno.EDQUOT}
# What the system may say of a write without naming the file.
_UNNAMED = _FULL | {errno.EFBIG, errno.EIO, errno.EROFS}


@contextmanager
def work_errors(folder: Path, *, is_lasting: bool, is_foreign: bool = False) -> Iterator[None]:
    """Turn the operating system's errors into one that says what to do.

    Parameters
    ----------
    folder
        The work folder.
    is_lasting
        A later run goes on with it.
    is_foreign
        The block does other things, too, whose errors are left as they are.
    """
    try:
        yield
    except OSError as error:
        cause = error.__cause__ if isinstance(error, WriteError) else error
        if not isinstance(cause, OSError) or isinstance(cause, NeardupError):
            raise
        if is_foreign and (cause is not error or not _is_of(folder, cause)):
            raise
        words = os.strerror(cause.errno) if cause.errno else str(cause)
        message = f"cannot write {folder}: {words}; {_advice(cause, is_lasting)}"
        raise WriteError(message) from cause


def no_disk(folder: Path, missing: int, free: int) -> str:
    """Say that a disk has not the room that a run needs."""
    return (
        f"{folder} has {size(free)} free, and temporary files need {size(missing)}; free some "
        "disk, or name a folder on a larger one with work (--work)"
    )


def _is_of(folder: Path, error: OSError) -> bool:
    if isinstance(error.filename, str | bytes | os.PathLike):
        return folder in Path(os.fsdecode(error.filename)).parents
    return error.errno in _UNNAMED


def _advice(error: OSError, is_lasting: bool) -> str:
    if error.errno == errno.ENOENT:
        return "something has removed files there; run the same command again"
    if error.errno not in _FULL:
        return "name another folder for temporary files with work (--work)"
    if is_lasting:
        return f"free some disk, then run the same command again: {GOES_ON}"
    return "free some disk, or name a folder on a larger one with work (--work)"
