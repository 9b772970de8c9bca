"""Crash-safe files under a lock.

A file gets its name after all its bytes. One process at a time writes to a folder.
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
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import NeardupError, WriteError

if TYPE_CHECKING:
    from filelock import BaseFileLock
    from typing_extensions import Buffer

# Checksums of whole files, computed while they are written and again when they are opened. CRC-32
# detects every error of up to 32 neighbouring bits and all but one in 2**32 of the others; it
# protects against damage, not against malice. It is the fastest checksum of the standard library
# (one core of a Xeon of 2023, per second: CRC-32 1.9 GB, Adler-32 1.4, SHA-256 1.0 with and 0.4
# without special instructions, BLAKE2b 0.8), and it runs outside the interpreter lock.

_BLOCK = 1 << 20

# Errors of a full disk.
FULL = {errno.ENOSPC, errno.EDQUOT}

# Phrase in messages if a later run resumes.
GOES_ON = "it goes on where it stopped"


@dataclass(frozen=True)
class FileRecord:
    """Expected ``size`` in bytes and hex ``checksum`` of a file."""

    size: int
    checksum: str


def record_of_file(path: Path) -> FileRecord:
    """Read a file and return its size and checksum.

    It is read and not mapped, so that an unreadable sector raises OSError instead of a signal.
    """
    size, checksum, block = 0, 0, memoryview(bytearray(_BLOCK))
    with path.open("rb", buffering=0) as file:
        while n_bytes := file.readinto(block):
            size, checksum = size + n_bytes, zlib.crc32(block[:n_bytes], checksum)
    return FileRecord(size, f"{checksum:08x}")


# The folder or URL where the same command resumes, for the message of a run that ended early.
UNFINISHED: ContextVar[Path | str | None] = ContextVar("unfinished", default=None)


@contextmanager
def write_errors(path: object) -> Iterator[None]:
    """Turn the operating system's errors into a ``WriteError`` for a file."""
    try:
        yield
    except NeardupError:
        raise
    except OSError as error:
        words = os.strerror(error.errno) if error.errno else str(error)
        message = f"cannot write {path}: {words}"
        raise WriteError(message) from error


# Folders that only this process reads, whose files need not be synced to the disk.
_UNSYNCED: set[Path] = set()


@contextmanager
def unsynced(folder: Path) -> Iterator[None]:
    """Do not sync files of a folder to the disk within the block."""
    _UNSYNCED.add(folder)
    try:
        yield
    finally:
        _UNSYNCED.discard(folder)


def _is_unsynced(path: Path) -> bool:
    return bool(_UNSYNCED) and not _UNSYNCED.isdisjoint((path, *path.parents))


def finish_file(path: Path) -> FileRecord:
    """Sync another library's file, and return its record."""
    with path.open("r+b", buffering=0) as file:
        sync_file(file.fileno(), path)
    return record_of_file(path)


def sync_file(descriptor: int, path: Path) -> None:
    """Sync an open file, unless its folder is temporary."""
    if not _is_unsynced(path):
        os.fsync(descriptor)


def write_all(descriptor: int, data: Buffer) -> None:
    """Write all bytes to an open file."""
    view = memoryview(data)
    if view.nbytes == 0:
        return
    view = view.cast("B")
    # Systems write at most some 2 GB per call, and less if the disk is nearly full.
    while view:
        view = view[os.write(descriptor, view) :]


def part_of(path: Path) -> Path:
    """Return the temporary name in the same folder."""
    return path.with_name(f".{path.name}.part")


def store_file(path: Path, *parts: Buffer) -> None:
    """Write a file atomically and durably."""
    temporary = part_of(path)
    with write_errors(path):
        try:
            with temporary.open("wb", buffering=0) as file:
                for part in parts:
                    write_all(file.fileno(), part)
                sync_file(file.fileno(), temporary)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Create a folder, and sync its name to the disk."""
    if not path.is_dir():
        path.mkdir()
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Sync the names in a folder, if supported."""
    if _is_unsynced(path):
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems write names at once and reject the call.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


LOCK = "write.lock"
HOLDER = "write.lock.holder"
_LONGEST_COMMAND = 200


def store_holder(folder: Path) -> None:
    """Store the description of this process for others, for messages only."""
    command = shlex.join(sys.orig_argv)
    holder = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "command": command[:_LONGEST_COMMAND] + "..." * (len(command) > _LONGEST_COMMAND),
        "since": datetime.now(UTC).isoformat(" ", "seconds"),
    }
    temporary = part_of(folder / HOLDER)
    try:
        temporary.write_text(json.dumps(holder), encoding="utf-8")
        temporary.replace(folder / HOLDER)
    except OSError:
        for leftover in (temporary, folder / HOLDER):
            with contextlib.suppress(OSError):
                leftover.unlink()


def find_holder(folder: Path) -> str | None:
    """Describe the process with the lock, None if unknown.

    The holder may not have written its text yet, or the text may be from a killed process.
    """
    try:
        content = json.loads((folder / HOLDER).read_text(encoding="utf-8"))
        process, host, command, since = (
            content[key] for key in ("process", "host", "command", "since")
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if host == socket.gethostname():
        if process == os.getpid():
            return f"this process, since {since}"
        if not _is_alive(process):
            return None
    return f"process {process} on {host} ({command}), since {since}"


def _is_alive(process: object) -> bool:
    """Return whether a process exists, True if unknown."""
    if not isinstance(process, int) or process <= 0:
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        # It belongs to another user.
        pass
    return True


# Errors of file systems without locks; processes cannot detect each other there.
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP}
# Attempts, because other processes may remove a folder before it is locked.
_TRIES = 10
# Seconds. Other processes lock a folder for a moment, to check whether its process was killed.
PATIENCE = 0.3


class LockedFolder:
    """A folder for one process, unlocked when the process ends."""

    _mode = 0o777

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: BaseFileLock | None = None

    @property
    def is_locked(self) -> bool:
        """Whether this object holds the lock, if locks are supported."""
        return self._lock is not None and self._lock.is_locked

    @property
    def holder(self) -> str:
        """Description of the process that holds the lock."""
        return find_holder(self.path) or "another process"

    def enter(self, patience: float = PATIENCE) -> None:
        """Create and lock the folder within seconds, or raise ``TimeoutError``."""
        from filelock import FileLock

        # One thread may take the lock and another free it.
        self._lock = FileLock(self.path / LOCK, thread_local=False)
        for _ in range(_TRIES):
            self._make()
            try:
                self._lock.acquire(timeout=patience, poll_interval=PATIENCE / 10)
            except (FileNotFoundError, FileExistsError):
                # Other processes that take the folder for a leftover may remove it at any moment.
                continue
            except NotImplementedError:
                break
            except OSError as error:
                if error.errno in _NO_LOCKS:
                    break
                with contextlib.suppress(OSError):
                    self.path.rmdir()
                raise
            # The previous holder may have removed the folder just before.
            if (self.path / LOCK).exists():
                break
            self._lock.release()
        else:
            message = "others remove each new folder"
            raise OSError(errno.EAGAIN, message)
        store_holder(self.path)

    def leave(self) -> None:
        """Free the lock, and keep the folder."""
        try:
            with contextlib.suppress(OSError):
                (self.path / HOLDER).unlink()
        finally:
            if self._lock is not None:
                self._lock.release()

    def remove(self) -> None:
        """Remove the lock, then the folder if it is empty."""
        # Network file systems keep a file that is open.
        self.leave()
        with contextlib.suppress(OSError):
            (self.path / LOCK).unlink(missing_ok=True)
            self.path.rmdir()

    def _make(self) -> None:
        if self.path.is_symlink():
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        with contextlib.suppress(FileExistsError):
            self.path.mkdir(self._mode)


# Errors of writes that may come without a file name.
_UNNAMED = FULL | {errno.EFBIG, errno.EIO, errno.EROFS}


@contextmanager
def work_errors(folder: Path, *, is_lasting: bool, is_foreign: bool = False) -> Iterator[None]:
    """Turn the operating system's errors into one with a remedy.

    A later run resumes from a folder that ``is_lasting``. In a block that ``is_foreign``, errors of
    other work are left unchanged.
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
        # The folder itself or one of its parents was missing.
        if cause.errno == errno.ENOENT and _is_of(folder, cause):
            advice = "something has removed files there; run the same command again"
        elif cause.errno not in FULL:
            advice = "name another folder for temporary files with work (--work)"
        elif is_lasting:
            advice = f"free some disk, then run the same command again: {GOES_ON}"
        else:
            advice = "free some disk, or work on a larger one"
        raise WriteError(f"cannot write {folder}: {words}; {advice}") from cause


def _is_of(folder: Path, error: OSError) -> bool:
    if isinstance(error.filename, str | bytes | os.PathLike):
        return folder in Path(os.fsdecode(error.filename)).parents
    return error.errno in _UNNAMED
