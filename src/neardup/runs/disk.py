"""Files that survive a crash, and who writes: all bytes first, then the real name.

One process at a time writes to a folder; a text beside its lock names the process.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shlex
import socket
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import NeardupError, WriteError

if TYPE_CHECKING:
    from filelock import BaseFileLock
    from typing_extensions import Buffer

# Checksums of whole files, taken while they are written and again when they are opened.
#
# CRC-32 finds every error of up to 32 neighbouring bits and all but one in 2**32 of the others. It
# is meant against damage, not against malice. Of the checksums in the standard library it is the
# fastest (one core of a Xeon of 2023, per second: CRC-32 1.9 GB, Adler-32 1.4, SHA-256 1.0 with and
# 0.4 without instructions of its own, BLAKE2b 0.8), and it runs outside the interpreter lock.

# The checksum takes the first bytes of a file last: they are the header of an array, which holds
# the length and is therefore known only when all else is written.
HEAD = 128
_BLOCK = 1 << 20

# Errors of a disk that has no room.
FULL = {errno.ENOSPC, errno.EDQUOT}

# What a message says where a later run goes on.
GOES_ON = "it goes on where it stopped"


@dataclass(frozen=True)
class FileRecord:
    """What a file must be: its ``size`` in bytes and the ``checksum`` of all of them, in hex."""

    size: int
    checksum: str


class RunningChecksum:
    """The checksum of a file of which one part after another goes by."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._rest = 0
        self._size = 0

    def update(self, data: Buffer) -> None:
        """Take the next bytes."""
        view = memoryview(data)
        if view.nbytes == 0:
            return
        view = view.cast("B")
        self._size += len(view)
        if len(self._head) < HEAD:
            missing = HEAD - len(self._head)
            self._head += view[:missing]
            view = view[missing:]
        self._rest = zlib.crc32(view, self._rest)

    def replace_head(self, head: bytes) -> None:
        """Let the file begin with other bytes than those that went by."""
        self._head[:] = head

    def record(self) -> FileRecord:
        """Give size and checksum of all that went by."""
        return FileRecord(self._size, f"{zlib.crc32(self._head, self._rest):08x}")


def record_of_file(path: Path) -> FileRecord:
    """Read a file and give its size and checksum.

    It is read and not mapped: a sector that cannot be read is then an OSError and no signal.
    """
    checksum, block = RunningChecksum(), memoryview(bytearray(_BLOCK))
    with path.open("rb", buffering=0) as file:
        while n_bytes := file.readinto(block):
            checksum.update(block[:n_bytes])
    return checksum.record()


# What a run has written, for whoever has to say so when it ends early.
#
# An interrupt may come between the call that gives an output its name and the next line. So an
# output is noted before that call, and whether it took place is looked up when somebody asks.


@dataclass(frozen=True)
class Note:
    """Something that is to be found at a path, told by its numbers on the disk."""

    name: str
    path: Path
    device: int
    number: int

    def is_there(self) -> bool:
        """Return whether it is found there."""
        try:
            found = self.path.stat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (self.device, self.number)


@dataclass
class Journal:
    """The outputs of a run: what takes a name, what was streamed, and what is being streamed.

    ``unfinished`` is a folder, or its URL, by which the same command goes on.
    """

    notes: list[Note] = field(default_factory=list)
    streamed: list[str] = field(default_factory=list)
    partial: str = ""
    unfinished: Path | str | None = None

    def written(self) -> list[str]:
        """Return the names of the outputs that are at their places."""
        names = [note.name for note in self.notes if note.is_there()]
        return list(dict.fromkeys([*names, *self.streamed]))


_CURRENT: ContextVar[Journal | None] = ContextVar("journal", default=None)


@contextmanager
def keep_journal() -> Iterator[Journal]:
    """Give a journal of what is written in the block."""
    journal = Journal()
    token = _CURRENT.set(journal)
    try:
        yield journal
    finally:
        _CURRENT.reset(token)


def note(content: Path, target: Path, name: Path | None = None) -> None:
    """Note that ``content`` is about to be moved to ``target``; ``name`` is what users call it."""
    journal = _CURRENT.get()
    if journal is not None:
        # Relative paths still mean the same when somebody asks: nothing here changes the folder.
        found = content.stat()
        journal.notes.append(Note(str(name or target), target, found.st_dev, found.st_ino))


def note_written(name: str) -> None:
    """Note an output that was written, and that nobody need look up."""
    journal = _CURRENT.get()
    if journal is not None:
        journal.streamed.append(name)


def note_unfinished(folder: Path | str) -> None:
    """Note that the run has ended early, and what it has done is kept in a folder, or at a URL."""
    journal = _CURRENT.get()
    if journal is not None:
        journal.unfinished = folder


@contextmanager
def note_stream(name: str) -> Iterator[None]:
    """Note that the block writes to a stream, which has a part of it until the block has ended."""
    journal = _CURRENT.get() or Journal()
    journal.partial = name
    yield
    journal.streamed.append(name)
    journal.partial = ""


@contextmanager
def translated(path: object) -> Iterator[None]:
    """Turn the operating system's errors into one that names what could not be written."""
    try:
        yield
    except NeardupError:
        raise
    except OSError as error:
        words = os.strerror(error.errno) if error.errno else str(error)
        message = f"cannot write {path}: {words}"
        raise WriteError(message) from error


# Folders that nobody reads after this process; what is in them need not reach the disk.
_PASSING: set[Path] = set()


@contextmanager
def passing(folder: Path) -> Iterator[None]:
    """Let no file in a folder wait for the disk, for as long as the block lasts."""
    _PASSING.add(folder)
    try:
        yield
    finally:
        _PASSING.discard(folder)


def _is_passing(path: Path) -> bool:
    return bool(_PASSING) and not _PASSING.isdisjoint((path, *path.parents))


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
            if not _is_passing(self.path):
                os.fsync(file.fileno())
        return self._checksum.record()


def finish_file(path: Path) -> FileRecord:
    """Bring a file that another library has written to the disk, and return its record."""
    if not _is_passing(path):
        with path.open("r+b", buffering=0) as file:
            os.fsync(file.fileno())
    return record_of_file(path)


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
            checksum = RunningChecksum()
            with temporary.open("wb", buffering=0) as file:
                for part in parts:
                    write_all(file.fileno(), part)
                    checksum.update(part)
                if not _is_passing(temporary):
                    os.fsync(file.fileno())
            record = checksum.record()
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
    if os.name == "nt" or _is_passing(path):
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


LOCK = "write.lock"
HOLDER = "write.lock.holder"
_LONGEST_COMMAND = 200


def this_holder() -> dict[str, Any]:
    """Return what others are told of this process."""
    command = shlex.join(sys.orig_argv)
    return {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "command": command[:_LONGEST_COMMAND] + "..." * (len(command) > _LONGEST_COMMAND),
        "since": datetime.now(UTC).isoformat(" ", "seconds"),
    }


def store_holder(folder: Path) -> None:
    """Tell others who writes. It helps people and decides nothing: without it, all works."""
    temporary = part_of(folder / HOLDER)
    try:
        temporary.write_text(json.dumps(this_holder()), encoding="utf-8")
        temporary.replace(folder / HOLDER)
    except OSError:
        for leftover in (temporary, folder / HOLDER):
            with contextlib.suppress(OSError):
                leftover.unlink()


def find_holder(folder: Path) -> str | None:
    """Say who holds the lock.

    None if that is not known: the holder may not have written its text yet, and the text found may
    be that of a process that was killed.
    """
    try:
        content = json.loads((folder / HOLDER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return say_holder(content)


def say_holder(content: Any) -> str | None:
    """Say who is meant by what ``this_holder`` has returned there; None for one that has died."""
    try:
        process, host, command, since = (
            content[key] for key in ("process", "host", "command", "since")
        )
    except (KeyError, TypeError):
        return None
    if host == socket.gethostname():
        if process == os.getpid():
            return f"this process, since {since}"
        if not _is_alive(process):
            return None
    return f"process {process} on {host} ({command}), since {since}"


def _is_alive(process: object) -> bool:
    """Tell whether there is a process of that number; True if that cannot be found out."""
    if os.name == "nt" or not isinstance(process, int) or process <= 0:
        # Windows has no signal 0: there, this call would end the process.
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


# Errors of file systems without locks, where no process finds out whether another one lives.
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP}
# Others may remove a folder before it is locked.
_TRIES = 10
# Seconds. Others lock a folder for a moment, to see whether its process has been killed.
PATIENCE = 0.3


class LockedFolder:
    """A folder in which one process at a time works; the system frees the lock of a killed one.

    Parameters
    ----------
    path
        Of the folder, which ``enter`` makes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: BaseFileLock | None = None

    @property
    def is_locked(self) -> bool:
        """Whether this object holds the lock; some file systems have no locks."""
        return self._lock is not None and self._lock.is_locked

    @property
    def holder(self) -> str:
        """The process that holds the lock, in words."""
        return find_holder(self.path) or "another process"

    def enter(self, patience: float = PATIENCE) -> None:
        """Make the folder if it is not there, and lock it within some seconds.

        Raises
        ------
        TimeoutError
            If another process, or another thread, holds the lock.
        """
        from filelock import FileLock

        # One thread may take it and another free it.
        self._lock = FileLock(self.path / LOCK, thread_local=False)
        for _ in range(_TRIES):
            self._make()
            try:
                self._lock.acquire(timeout=patience, poll_interval=PATIENCE / 10)
            except (FileNotFoundError, FileExistsError):
                # Others, who take it for a leftover, remove it at any moment.
                continue
            except NotImplementedError:
                break
            except OSError as error:
                if error.errno in _NO_LOCKS:
                    break
                with contextlib.suppress(OSError):
                    self.path.rmdir()
                raise
            # Whoever had it may have removed it just before.
            if (self.path / LOCK).exists():
                break
            self._lock.release()
        else:
            message = "others remove each new folder"
            raise OSError(errno.EAGAIN, message)
        store_holder(self.path)

    def leave(self) -> None:
        """Free the lock; the folder stays."""
        try:
            with contextlib.suppress(OSError):
                (self.path / HOLDER).unlink()
        finally:
            if self._lock is not None:
                self._lock.release()

    def remove(self) -> None:
        """Remove the lock, then the folder if it is empty."""
        # Windows and network file systems keep a file that is open.
        self.leave()
        with contextlib.suppress(OSError):
            (self.path / LOCK).unlink(missing_ok=True)
            self.path.rmdir()

    def _make(self) -> None:
        if self.path.is_symlink():
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        with contextlib.suppress(FileExistsError):
            self.path.mkdir()
