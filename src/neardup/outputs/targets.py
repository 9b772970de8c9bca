"""What users name as an output: a path, a URL, or standard output."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, cast

from neardup.errors import OutputExistsError, WriteError
from neardup.files.streams import Destination
from neardup.runs.progress import size
from neardup.runs.tasks import work_folders_of

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

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
    """Return the error of an output that is there, which names what runs have left beside it."""
    error = OutputExistsError.at(target)
    left = work_folders_of(target)
    if not left:
        return error
    message = f"{error}; {left[0]} is left of a run that was stopped, and goes with that"
    return OutputExistsError(message)


# As commands call it, and as the system does.
_NAMES_OF_STANDARD_OUTPUT = (Path("-"), Path("/dev/stdout"))


def is_standard_output(target: Target) -> bool:
    """Return whether a target is standard output, to which nothing else may be written."""
    return target in _NAMES_OF_STANDARD_OUTPUT


class StandardOutput(Destination):
    """Standard output as the place of files, one behind the other, of which each ends its line."""

    def __truediv__(self, name: str) -> StandardOutput:
        return self

    def __str__(self) -> str:
        return "standard output"

    def make_folder(self) -> None:
        """Do nothing: all goes to one place."""

    def create(self) -> BinaryIO:
        """Begin a file behind what was written."""
        return cast("BinaryIO", _Lines())

    def into_folder(self, name: str) -> None:
        """Raise: what was written stays."""
        message = f"{self} is no folder; name one"
        raise WriteError(message)


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


# Whether a disk has room for an output, before the work is done that it is the result of.


def check_room(target: Target, sizes: Iterable[int | None]) -> None:
    """Make sure that a disk has room for an output of all rows of its inputs.

    Parameters
    ----------
    target
        The output; of a URL nobody knows what is free there.
    sizes
        Of the inputs in bytes; where one is None nothing is known, and nothing checked.
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
