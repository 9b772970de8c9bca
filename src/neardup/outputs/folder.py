"""Output folders that appear all at once, and rows on standard output instead."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from neardup.errors import NeardupError, OutputExistsError, WriteError
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.streams import Destination, LocalDestination, is_url
from neardup.index import store
from neardup.options.choices import OutputFormat
from neardup.outputs.targets import Target, Url, is_standard_output, output_exists
from neardup.runs.scratch import recover, scratch_beside, take_place
from neardup.runs.threads import map_ordered
from neardup.tables import Bools

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@dataclass(frozen=True)
class FolderKind:
    """A kind of output folder: its name in messages, and the file that identifies it.

    ``start`` is the first bytes of that file.
    """

    name: str
    mark: str
    start: bytes = b""

    def is_kind_of(self, folder: Path) -> bool:
        """Return whether a folder is of this kind."""
        mark = folder / self.mark
        if not mark.is_file():
            return False
        with mark.open("rb") as file:
            return file.read(len(self.start)) == self.start


OUTPUT = FolderKind("output", "summary.json")
INDEX = FolderKind("index", store.FILE, store.MAGIC)


def check_output(target: Target, *, overwrite: bool, kind: FolderKind = OUTPUT) -> None:
    """Make sure, before work starts, that a folder may be written; one of its kind is replaced."""
    if isinstance(target, Url):
        from neardup.outputs.remote import check_remote_folder

        check_remote_folder(target, overwrite=overwrite)
        return
    if is_standard_output(target):
        message = "the output is a folder, which standard output does not take; name a new folder"
        raise WriteError(message)
    check_local(target, kind)
    if Path.cwd().is_relative_to(os.path.realpath(target)):
        message = f"{str(target)!r} is the folder you are in, or above it; name a new folder"
        raise WriteError(message)
    if os.path.lexists(target) or recover(target):
        if not target.is_dir() or target.is_symlink():
            message = f"{target} is not a folder; the output is a folder, choose another name"
            raise WriteError(message)
        if any(target.iterdir()) and not kind.is_kind_of(target):
            message = (
                f"{target} is not empty, and no {kind.name} of neardup; choose another name, or "
                "remove it yourself"
            )
            raise OutputExistsError(message)
        if not overwrite:
            raise output_exists(target)


def check_local(target: Path, kind: FolderKind = OUTPUT) -> None:
    """Make sure that a path is not meant to be a URL."""
    # A path has taken one of the slashes away.
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(target)):
        message = f"{target} is a URL that was made a path; give it as a string"
        if kind is INDEX:
            message = f"{target} is a URL; an index is local, build it and copy it there"
        raise WriteError(message)


def check_apart(target: Target, inputs: Iterable[str | None]) -> None:
    """Make sure that replacing a folder or file does not take an input away."""
    if isinstance(target, Url):
        from neardup.outputs.remote import check_apart_remote

        check_apart_remote(target, filter(None, inputs))
        return
    folder = os.path.realpath(target)
    for path in filter(None, inputs):
        if Path(os.path.realpath(path)) == Path(folder):
            message = f"{target} is an input, and would be replaced; choose another name"
            raise OutputExistsError(message)
        if Path(os.path.realpath(path)).is_relative_to(folder):
            message = f"{target} holds the input {path}, and would be replaced; choose another name"
            raise OutputExistsError(message)


def check_outside(target: Target, folder: str | Path, kind: str = "index") -> None:
    """Make sure that an output is no file of a folder, which would be damaged by one more.

    Parameters
    ----------
    target
        The output.
    folder
        The folder, or the URL of one.
    kind
        Name of the kind of folder, for the message.
    """
    inner, outer = (str(each).removeprefix("file://") for each in (target, folder))
    if is_url(inner) or is_url(outer):
        is_inside = inner.startswith(outer.rstrip("/") + "/")
    else:
        inner, outer = os.path.realpath(inner), os.path.realpath(outer)
        is_inside = Path(inner).is_relative_to(outer)
    if is_inside:
        message = f"{target} is in the {kind} {folder}; write it somewhere else"
        raise WriteError(message)


@contextmanager
def new_output(target: Target, *, overwrite: bool = False) -> Iterator[Destination]:
    """Give a place for the files of an output folder, complete when the block has ended."""
    if isinstance(target, Url):
        from neardup.outputs.remote import new_remote_folder

        with new_remote_folder(target, overwrite=overwrite) as destination:
            yield destination
    else:
        with new_folder(target, overwrite=overwrite) as folder:
            yield LocalDestination(folder)


@contextmanager
def new_folder(
    target: Path, *, overwrite: bool = False, kind: FolderKind = OUTPUT
) -> Iterator[Path]:
    """Yield a temporary folder, renamed to ``target`` on success, else removed."""
    check_output(target, overwrite=overwrite, kind=kind)
    with holding(target, overwrite=overwrite) as content, translated(target):
        content.mkdir()
        yield content
        if os.path.lexists(target):
            # It may have come into being since the first check.
            check_output(target, overwrite=overwrite, kind=kind)
        take_place(content, target)


@contextmanager
def holding(target: Target, *, overwrite: bool) -> Iterator[Path]:
    """Hold an output until the block ends, so that no other run writes it meanwhile.

    Gives the place for its content; folders above it are made, and go if they stay empty. At a URL
    only runs on this machine are noticed.
    """
    missing: list[Path] = []
    if isinstance(target, Url):
        digest = hashlib.sha256(target.encode()).hexdigest()
        place = Path(tempfile.gettempdir(), f"neardup-{digest[:16]}")
    else:
        place = target
        missing = [each for each in target.absolute().parents if not os.path.lexists(each)]
    try:
        with translated(target):
            place.parent.mkdir(parents=True, exist_ok=True)
        with scratch_beside(place, target) as content:
            if not overwrite and os.path.lexists(place):
                # Another run may have ended since the first check.
                raise output_exists(place)
            yield content
    finally:
        _remove_empty(missing)


def _remove_empty(folders: list[Path]) -> None:
    """Remove the folders that were made on the way, the deepest first."""
    with contextlib.suppress(OSError):
        for folder in folders:
            folder.rmdir()


@contextmanager
def translated(target: Target) -> Iterator[None]:
    """Turn the operating system's errors into one that names the output.

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


# Writing rows: kept, removed and bad ones.

T = TypeVar("T")

SKIPPED = "skipped"
"""The folder of bad rows."""


def write_rows(
    source: Source,
    blocks: Iterator[tuple[T, slice]],
    read: Callable[[T, slice], RowBlock],
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    report: Callable[[int], None],
) -> None:
    """Write one source's rows to folders in ``folder``.

    ``sides`` maps the name of a folder to a mask of the rows that it gets. Rows of ``skipped`` are
    written unchanged in any format, and get a file only if there are some. ``blocks`` yields the
    arguments of ``read`` with the range of their rows; ``report`` is called with the number of rows
    of each block. Idle threads of a map may help; the files are the same without them.
    """
    # Loads all writers, which results that are tables do not need.
    from neardup.files.conversion import Conversion

    documents = ~sides[SKIPPED]
    converted = Conversion(source, output_format, documents)
    with ExitStack() as opened:
        writers: dict[str, RowWriter] = {}
        for side, rows in sides.items():
            if side != SKIPPED or rows.any():
                place = folder / side
                place.make_folder()
                conversion = Conversion(source, "same") if side == SKIPPED else converted
                writers[side] = opened.enter_context(conversion.writer(place))

        def prepare(item: tuple[T, slice]) -> tuple[list[Any], int]:
            found, rows = item
            block = read(found, rows)
            prepared = [
                writer.prepare(block, sides[side][rows]) for side, writer in writers.items()
            ]
            return prepared, len(block)

        for prepared, n_rows in map_ordered(prepare, blocks, 1):
            for writer, parts in zip(writers.values(), prepared, strict=True):
                writer.append(parts)
            report(n_rows)


# Rows without a folder.


class StandardOutput(Destination):
    """Standard output as a destination of files, one after the other, each ending its line."""

    def __truediv__(self, name: str) -> StandardOutput:
        return self

    def __str__(self) -> str:
        return "standard output"

    def make_folder(self) -> None:
        """Do nothing: all goes to one place."""

    def create(self) -> BinaryIO:
        """Begin a file after the earlier ones."""
        return cast("BinaryIO", _Lines())

    def into_folder(self, name: str) -> None:
        """Raise, since written bytes cannot be moved."""
        message = f"{self} is not a folder; name one"
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
