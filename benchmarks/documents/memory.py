"""Memory that is a process's own: what it maps of files the system may take back at any time."""

from __future__ import annotations

import os
import threading
from types import TracebackType

from benchmarks.measuring.processes import PROC, descendants

_LOOK_SECONDS = 0.05


class AnonymousMemory:
    """Looks at the largest process that this one has started, until it is left.

    ``peak`` counts what is neither a file's nor shared; where there is no /proc it is 0.
    """

    def __init__(self) -> None:
        self.peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> AnonymousMemory:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while PROC.exists() and not self._ended.wait(_LOOK_SECONDS):
            for pid in descendants(os.getpid())[1:]:
                self.peak = max(self.peak, _anonymous_bytes(pid))


def _anonymous_bytes(pid: int) -> int:
    """Return a process's own memory; 0 if it has ended."""
    try:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))
