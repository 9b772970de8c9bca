"""Writing files that survive a crash: temporary name, all bytes to the disk, then the real name."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import NeardupError, WriteError
from neardup.storage.checksums import HEAD, FileRecord, RunningChecksum
from neardup.storage.journal import note

if TYPE_CHECKING:
    from typing_extensions import Buffer


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the operating system's errors into one that names what could not be written."""
    try:
        yield
    except NeardupError:
        raise
    except OSError as error:
        words = os.strerror(error.errno) if error.errno else str(error)
        message = f"cannot write {path}: {words}"
        raise WriteError(message) from error


class NewFile:
    """A file under a temporary name that grows at its end.

    It is open only while it is written to, for an index writes hundreds at a time, and systems
    allow a process as few as 256 open files.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checksum = RunningChecksum()
        with path.open("wb"):
            pass

    def append(self, data: Buffer) -> None:
        """Write some bytes at the end."""
        with self.path.open("ab", buffering=0) as file:
            write_all(file.fileno(), data)
        self._checksum.update(data)

    def finish(self, head: bytes | None = None) -> FileRecord:
        """Replace the first bytes if ``head`` is given, and see that all reaches the disk."""
        with self.path.open("r+b", buffering=0) as file:
            if head is not None:
                if len(head) != HEAD:
                    message = f"a head has {HEAD} bytes, got {len(head)}"
                    raise ValueError(message)
                write_all(file.fileno(), head)
                self._checksum.replace_head(head)
            os.fsync(file.fileno())
        return self._checksum.record()


def write_all(descriptor: int, data: Buffer) -> None:
    """Write all of some bytes to an open file."""
    view = memoryview(data)
    if view.nbytes == 0:
        return
    view = view.cast("B")
    # Systems write at most some 2 GB at a time, and less where the disk is nearly full.
    while view:
        view = view[os.write(descriptor, view) :]


def part_of(path: Path) -> Path:
    """Give the temporary name of a file or folder, in the same folder."""
    return path.with_name(f".{path.name}.part")


def store_file(path: Path, *parts: Buffer, output: Path | None = None) -> FileRecord:
    """Write a file that is there as a whole, and on the disk, or not at all.

    ``output`` is what has been written once the file is there, if it is the last of something.
    """
    temporary = part_of(path)
    with translated(path):
        try:
            file = NewFile(temporary)
            for part in parts:
                file.append(part)
            record = file.finish()
            if output is not None:
                note(temporary, path, output)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    return record


def make_folder(path: Path) -> None:
    """Make a folder in one that exists, and see that its name reaches the disk."""
    if not path.is_dir():
        path.mkdir()
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """See that the names in a folder reach the disk, where the system can be asked for that."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems write names at once and refuse the question.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
