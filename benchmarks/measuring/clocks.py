"""Time and memory inside one process. It runs in the environments of all peers."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

Seconds = dict[str, float]

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"


class Memory:
    """Memory of this process, watched from when it is made: code is loaded, the input is not.

    Linux alone tells; elsewhere the report has None.
    """

    def __init__(self) -> None:
        self._before = _status_bytes("VmHWM")
        self._held = _status_bytes("VmRSS")
        if CLEAR.exists():
            CLEAR.write_text(RESET_PEAK)

    def report(self) -> dict[str, int | None]:
        """Give the ``peak`` of the process, and by how much it was above what was held before."""
        now = _status_bytes("VmHWM")
        if now is None or self._before is None or self._held is None:
            return {"peak": None, "added": None}
        return {"peak": max(now, self._before), "added": now - self._held}


def _status_bytes(name: str) -> int | None:
    """Read one of the kernel's counts of this process's memory."""
    if not STATUS.exists():
        return None
    lines = STATUS.read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


class StageClock:
    """Adds up the seconds of stages that come one after another, again and again."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._last = 0.0

    def start(self) -> None:
        """Begin with the first stage."""
        self._last = time.perf_counter()

    def end(self, stage: str) -> None:
        """Take the time of a stage; the next one begins."""
        self.seconds[stage] += time.perf_counter() - self._last
        self._last = time.perf_counter()


def fastest(function: Callable[[], object], repeats: int) -> float:
    """Return the least time of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
