"""Targets of outputs: a path, a URL, or standard output."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from neardup.errors import OutputExistsError, WriteError
from neardup.runs.progress import size
from neardup.runs.work import work_folders_of

# How the URL of a local file begins.
_LOCAL = "file://"


class Url(str):
    """The URL of an output, which fsspec writes."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The last part."""
        return PurePosixPath(self).name

    @property
    def suffix(self) -> str:
        """The ending of the name."""
        return PurePosixPath(self).suffix


Target = Path | Url


def target_of(output: str | os.PathLike[str]) -> Target:
    """Return the path or URL that a user has named."""
    text = os.fspath(output)
    if text.startswith(_LOCAL):
        return Path(text.removeprefix(_LOCAL))
    protocol, separator, rest = text.partition("://")
    return Url(protocol + separator + rest.rstrip("/")) if separator else Path(text)


def output_exists(target: Path) -> OutputExistsError:
    """Return the error of an existing output, which names work folders left beside it."""
    error = OutputExistsError.at(target)
    left = work_folders_of(target)
    if not left:
        return error
    message = f"{error.in_both}; {left[0]} is left of a run that was stopped, and goes with that"
    return OutputExistsError(message)


# As commands call it, and as the system does.
_NAMES_OF_STANDARD_OUTPUT = (Path("-"), Path("/dev/stdout"))


def is_standard_output(target: Target) -> bool:
    """Return whether a target is standard output."""
    return target in _NAMES_OF_STANDARD_OUTPUT


# Check for room on the disk before the work is done.


def check_room(target: Target, sizes: Iterable[int | None]) -> None:
    """Raise if a disk has no room for an output of all rows of its inputs.

    Parameters
    ----------
    target
        The output; free room at a URL is unknown.
    sizes
        Bytes of the inputs; if one is None, nothing is checked.
    """
    known = list(sizes)
    needed = sum(n_bytes or 0 for n_bytes in known)
    if not isinstance(target, Path) or None in known or not needed:
        return
    around = next(folder for folder in target.absolute().parents if os.path.lexists(folder))
    free = shutil.disk_usage(around).free
    if needed > free:
        message = (
            f"{target} will take about {size(needed)}, as its inputs do, and {around} has "
            f"{size(free)} free; free some disk, or write to a larger one"
        )
        raise WriteError(message)
