"""Failing, or being killed, at any call by which a file comes into being."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from unittest.mock import patch

CALLS = ("write", "fsync", "replace", "rename", "mkdir", "open")


@contextmanager
def at_calls(act: Callable[[int], None]) -> Iterator[list[str]]:
    """Call ``act`` with a running number before each call; give the list of the calls.

    Nothing is really forced to the disk.
    """
    calls: list[str] = []
    # Files are forced to the disk in threads.
    lock = Lock()

    def note(name: str) -> None:
        with lock:
            calls.append(name)
            number = len(calls) - 1
        act(number)

    def wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **options: Any) -> Any:
            # Folders are opened to be emptied, too, which a full disk allows.
            if name != "open" or arguments[1] & (os.O_CREAT | os.O_RDWR):
                note(name)
            return None if name == "fsync" else function(*arguments, **options)

        return wrapper

    open_path = Path.open

    def opened(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if mode not in ("r", "rb"):
            note("open")
        return open_path(path, mode, *arguments, **options)

    patches = [patch(f"os.{name}", wrapped(name, getattr(os, name))) for name in CALLS]
    patches.append(patch.object(Path, "open", opened))
    for each in patches:
        each.start()
    try:
        yield calls
    finally:
        for each in patches:
            each.stop()


def kill_at(position: int | None) -> Callable[[int], None]:
    """Kill this process before the call at a position."""

    def act(number: int) -> None:
        if number == position:
            os.kill(os.getpid(), signal.SIGKILL)

    return act


def in_child(work: Callable[[], Any], expected_signal: int | None = None) -> bool:
    """Do something in a forked process; tell whether it was killed as expected."""
    process = os.fork()
    if not process:
        try:
            work()
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(process, 0)
    if expected_signal is not None and os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == expected_signal
        return True
    assert os.WIFEXITED(status), status
    assert os.WEXITSTATUS(status) == 0, status
    return False
