"""One writer at a time, across processes and threads; the system frees the lock of a killed one."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from neardup.errors import IndexLockedError
from neardup.storage.files import part_of, translated
from neardup.storage.manifest import no_index

LOCK = "write.lock"
HOLDER = "write.lock.holder"
_LONGEST_COMMAND = 200
# Shorter than a commit takes, so that two who insert in turn hardly wait for anything else.
_POLL_SECONDS = 0.01


@contextmanager
def write_lock(folder: Path, timeout: float = 0.0) -> Iterator[None]:
    """Hold the right to change an index; readers need none.

    ``timeout`` says for how many seconds to wait for it.
    """
    if not folder.is_dir():
        raise no_index(folder)
    # Whoever ends the block may be another thread than that which began it.
    lock = FileLock(folder / LOCK, thread_local=False)
    try:
        with translated(folder):
            _acquire(lock, folder, timeout)
        store_holder(folder)
        yield
    finally:
        if lock.is_locked:
            # Before the release: after it, the text may be the next writer's.
            with contextlib.suppress(OSError):
                (folder / HOLDER).unlink()
            lock.release()


def _acquire(lock: FileLock, folder: Path, timeout: float) -> None:
    try:
        lock.acquire(timeout=timeout, poll_interval=_POLL_SECONDS)
    except Timeout:
        raise IndexLockedError(str(folder), find_holder(folder), timeout) from None


def store_holder(folder: Path) -> None:
    """Tell others who writes. It helps people and decides nothing: without it, all works."""
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
    """Say who holds the lock.

    None if that is not known: the holder may not have written its text yet, and the text found may
    be that of a process that was killed.
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
