"""Time and memory inside one process, in the environment of any peer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

# Id of a document, and its similarity.
Match = tuple[str, float]

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"


class Memory:
    """Peak memory of this process since this object was made; None except on Linux."""

    def __init__(self) -> None:
        self._before = _status_bytes("VmHWM")
        self._held = _status_bytes("VmRSS")
        if CLEAR.exists():
            CLEAR.write_text(RESET_PEAK)

    def report(self) -> dict[str, int | None]:
        """Return the ``peak`` of the process, and the memory ``added`` since the beginning."""
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


def time_queries(
    look_up: Callable[[str], Iterable[Match]], rows: list[dict[str, str]]
) -> tuple[dict[str, Any], list[list[Any]]]:
    """Look up all texts twice; return milliseconds of both rounds, and the matches.

    Milliseconds of ``first`` and ``again`` are of the clock, ``first_cpu`` and ``again_cpu`` of
    this thread. A match has the ids of query and document and their similarity.
    """
    report: dict[str, Any] = {"queries": len(rows)}
    matches: list[list[Any]] = []
    for name in ("first", "again"):
        wall, cpu = [], []
        matches.clear()
        for row in rows:
            start, start_cpu = time.perf_counter(), time.thread_time()
            answer = look_up(row["text"])
            cpu.append((time.thread_time() - start_cpu) * 1e3)
            wall.append((time.perf_counter() - start) * 1e3)
            matches += ([row["id"], *each] for each in answer)
        report[name], report[f"{name}_cpu"] = _latencies(wall), _latencies(cpu)
    return {**report, "found": len(matches)}, matches


def _latencies(milliseconds: list[float]) -> dict[str, float]:
    hundredths = statistics.quantiles(milliseconds, n=100, method="inclusive")
    median = statistics.median(milliseconds)
    return {"median_ms": round(median, 4), "slow_ms": round(hundredths[98], 4)}


def fastest(function: Callable[[], object], repeats: int) -> float:
    """Return the least time of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
