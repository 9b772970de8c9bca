"""Who holds the lock of a folder, for people: one writer at a time, and the text tells which."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path

from neardup.runs.disk import part_of

LOCK = "write.lock"
HOLDER = "write.lock.holder"
_LONGEST_COMMAND = 200


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
