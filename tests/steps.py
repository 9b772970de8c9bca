"""Being killed, or interrupted, at any step by which an output comes into being."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tests.faults import in_child

# Python announces what it asks of the system under these names.
_CALLS = ("open", "os.", "fcntl.", "ctypes.")
_INDEXES, _RUNS = (
    ("handle", "segments", "store"),
    ("arrays", "disk", "exchange", "work"),
)
_PLACES = (
    *(f"neardup/index/{name}.py" for name in _INDEXES),
    *(f"neardup/runs/{name}.py" for name in _RUNS),
    "neardup/outputs/",
    "/shutil.py",
)


def killed_at(position: int, work: Callable[[], object]) -> bool:
    """Do something in a forked process that is killed before a call; False if it came to its end.

    This process starts no threads, for it forks.
    """
    count = 0

    def on_event(name: str, _arguments: object) -> None:
        nonlocal count
        if name.startswith(_CALLS):
            # Killing is announced, too.
            count += 1
            if count == position + 1:
                os.kill(os.getpid(), signal.SIGKILL)

    def heard() -> None:
        sys.addaudithook(on_event)
        work()

    return in_child(heard, signal.SIGKILL)


@contextmanager
def at_lines(act: Callable[[int], None]) -> Iterator[list[int]]:
    """Call ``act`` with a running number before each line; give a list of one, their number."""
    count = [0]

    def on_line(_frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            count[0] += 1
            act(count[0] - 1)
        return on_line

    def on_call(frame: FrameType, _event: str, _argument: Any) -> Any:
        path = frame.f_code.co_filename
        return on_line if any(place in path for place in _PLACES) else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield count
    finally:
        sys.settrace(before)
