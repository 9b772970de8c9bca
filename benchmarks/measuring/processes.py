"""Time and peak memory of whole processes."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

PROC = Path("/proc")
SAMPLE_SECONDS = 0.05


@dataclass(frozen=True)
class Run:
    """Time and memory of one run of a command.

    ``wall`` runs from start to exit; ``cpu`` is user and system time of the command and all its
    descendants. ``peak_process`` is the largest memory of any one process, as the system counted
    it; ``peak_tree`` the largest sum over all its processes seen at one time, pages that they
    share counted once. It is sampled, so never taken below ``peak_process``. Bytes and seconds.

    On Linux a process starts with the peak of the one that started it. So measure from a process
    that has never held much, and do heavy preparation in one of its own.
    """

    wall: float
    cpu: float
    peak_process: int
    peak_tree: int
    output: str


@dataclass(frozen=True)
class Measurement:
    """Medians over several runs of one command, and every run's wall time and output."""

    wall: float
    cpu: float
    peak_process: int
    peak_tree: int
    walls: list[float]
    outputs: list[str]

    def as_dict(self) -> dict[str, object]:
        """Return the measurement for a JSON file, without the command's own outputs."""
        record = asdict(self)
        del record["outputs"]
        return {**record, "wall": round(self.wall, 4), "cpu": round(self.cpu, 4)}


class CommandFailedError(RuntimeError):
    """A measured command did not end with exit code 0; its time would mean nothing."""


class TimeLimitError(RuntimeError):
    """A measured command was ended because it took too long."""


def run(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    limit: float | None = None,
) -> Run:
    """Run a command once and measure it."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    written = _Reader(process)
    sampler = _TreeSampler(process.pid)
    timer = threading.Timer(limit or 0, os.kill, (process.pid, signal.SIGKILL))
    if limit is not None:
        timer.start()
    # wait4 alone gives the resources of this one child and the descendants that it waited for.
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    peak_tree = sampler.stop()
    output, errors = written.finish()
    if process.returncode == -signal.SIGKILL and limit is not None and wall >= limit:
        message = f"{command} was ended after {limit:g} s"
        raise TimeLimitError(message)
    if process.returncode != 0:
        message = f"{command} ended with exit code {process.returncode}: {errors[-1000:].strip()}"
        raise CommandFailedError(message)
    # Kilobytes on Linux, bytes on macOS.
    peak_process = usage.ru_maxrss * (1 if platform.system() == "Darwin" else 1024)
    return Run(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        peak_process=peak_process,
        peak_tree=max(peak_tree, peak_process),
        output=output,
    )


def measure(
    command: Sequence[str],
    *,
    repeats: int = 3,
    warm_up: bool = False,
    environment: Mapping[str, str] | None = None,
    before: Callable[[], object] | None = None,
) -> Measurement:
    """Run a command several times and take medians."""
    runs = []
    for _ in range(repeats + warm_up):
        if before is not None:
            before()
        runs.append(run(command, environment=environment))
    return combine(runs[warm_up:])


def combine(runs: Sequence[Run]) -> Measurement:
    """Take the medians of several runs of one command."""
    return Measurement(
        wall=statistics.median(r.wall for r in runs),
        cpu=statistics.median(r.cpu for r in runs),
        peak_process=int(statistics.median(r.peak_process for r in runs)),
        peak_tree=int(statistics.median(r.peak_tree for r in runs)),
        walls=[round(r.wall, 4) for r in runs],
        outputs=[r.output for r in runs],
    )


class _Reader:
    """Empties a process's two pipes while something else waits for it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._texts = ["", ""]
        self._threads = [
            threading.Thread(target=self._read, args=(number, pipe), daemon=True)
            for number, pipe in enumerate((process.stdout, process.stderr))
            if pipe is not None
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, number: int, pipe: IO[str]) -> None:
        with pipe:
            self._texts[number] = pipe.read()

    def finish(self) -> tuple[str, str]:
        """Return all that was written to standard output and standard error."""
        for thread in self._threads:
            thread.join()
        return self._texts[0], self._texts[1]


class _TreeSampler:
    """Watches the memory of a process and its descendants; needs /proc, else reports 0."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        if (PROC / "self").exists():
            self._thread.start()

    def stop(self) -> int:
        """End the watch and return the largest sum seen, in bytes."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()
        return self._peak

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            tree = descendants(self._pid)
            # A lone process needs no sample: the system counts its peak exactly, and reading
            # smaps_rollup would hold it up for a moment each time.
            if len(tree) > 1:
                self._peak = max(self._peak, sum(_proportional_bytes(pid) for pid in tree))


def descendants(pid: int) -> list[int]:
    """List a process and everything it started that still runs."""
    found = [pid]
    for known in found:
        # Processes and their threads come and go while they are looked at.
        with contextlib.suppress(OSError):
            for task in PROC.glob(f"{known}/task/*/children"):
                with contextlib.suppress(OSError):
                    found.extend(map(int, task.read_text().split()))
    return found


def _proportional_bytes(pid: int) -> int:
    """Return a process's memory with each shared page divided by its number of sharers."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
