"""Output folders that appear all at once."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import OutputExistsError, WriteError


def check_output(target: Path, *, overwrite: bool) -> None:
    """Make sure, before work starts, that a folder may be written.

    Raises
    ------
    OutputExistsError
        If it exists and is not to be replaced.
    WriteError
        If it exists and is no folder, or the folder around it cannot be written.
    """
    if os.path.lexists(target):
        if not target.is_dir() or target.is_symlink():
            message = f"{target} is not a folder; the output is a folder, choose another name"
            raise WriteError(message)
        if not overwrite:
            message = f"{target} exists; choose another name, or replace it with --overwrite"
            raise OutputExistsError(message)
    with _translated(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target.parent):
            pass


@contextmanager
def new_folder(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside ``target``; on success it takes that name, else it goes.

    Raises
    ------
    OutputExistsError, WriteError
        As ``check_output``, and when writing fails, for example on a full disk.
    """
    check_output(target, overwrite=overwrite)
    with _translated(target):
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        with _translated(target):
            content = scratch / "new"
            content.mkdir()
            yield content
            if os.path.lexists(target):
                target.rename(scratch / "old")
            content.rename(target)
    finally:
        _restore(target, scratch / "old")
        shutil.rmtree(scratch, ignore_errors=True)


def _restore(target: Path, old: Path) -> None:
    """Put the old output back if the new one did not take its place."""
    if old.exists() and not os.path.lexists(target):
        with contextlib.suppress(OSError):
            old.rename(target)


@contextmanager
def _translated(target: Path) -> Iterator[None]:
    """Turn the operating system's errors into one that names the output."""
    try:
        yield
    except OSError as error:
        if isinstance(error, (OutputExistsError, WriteError)) or hasattr(error, "row"):
            raise
        message = f"cannot write {target}: {error.strerror or error}; nothing was written"
        raise WriteError(message) from None
