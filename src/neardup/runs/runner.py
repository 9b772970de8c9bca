"""The runner of a job: threads, progress, clock and memory."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any, TypeVar

from neardup.options.groups import WorkerOptions
from neardup.runs.progress import Display, Progress, Report, as_job, current_job, job_logger
from neardup.runs.threads import count_workers, map_ordered

T = TypeVar("T")
R = TypeVar("R")

# Share of free memory; the rest is for growth of other programs and the system's cache.
_SHARE = 0.6
# Bytes, if the free memory is unknown.
_MODEST = 10**9
_LEAST = 64 * 10**6


# Files of control groups by version: limits, used memory, and lines of ``memory.stat`` for memory
# that the system reclaims under pressure.
_VERSIONS = {
    "cgroup": (
        ("memory.limit_in_bytes",),
        "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),
    ),
    "cgroup2": (
        ("memory.max", "memory.high"),
        "memory.current",
        ("inactive_file", "active_file", "slab_reclaimable"),
    ),
}


def peak_memory_bytes() -> int | None:
    """Return the largest resident memory of this process; None if it is unknown."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def release_memory() -> None:
    """Return unused memory of Arrow and the C library to the system."""
    # Loading Arrow would take more than it could return.
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    # Only the GNU C library has it, and its arenas grow with every thread.
    with contextlib.suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def default_memory_bytes() -> int:
    """Return the default memory limit of a run: 60 % of the free memory."""
    available = available_memory_bytes()
    return _MODEST if available is None else max(_LEAST, int(_SHARE * available))


def available_memory_bytes(root: Path = Path("/")) -> int | None:
    """Return the free memory of the machine and of this process's control groups.

    Memory for the system's file cache counts as free. If the free memory is unknown, half of the
    machine's memory counts as free; None if that is unknown, too.

    Parameters
    ----------
    root
        Folder with ``proc`` and ``sys``.
    """
    free: int | None = None
    if (kilobytes := _numbers(root / "proc/meminfo").get("MemAvailable:")) is not None:
        free = kilobytes * 1024
    else:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    rooms = [free, *(_room(folder, version) for folder, version in _groups(root))]
    return min((room for room in rooms if room is not None), default=None)


def _groups(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the folders of the control groups that limit this process, and their version."""
    mounts = []
    for line in _lines(root / "proc/self/mountinfo"):
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind == "cgroup2" or (kind == "cgroup" and "memory" in options.split(",")):
            mounted, place = before.split(" ")[3:5]
            mounts.append((kind, mounted, root / place.lstrip("/")))
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, group = line.split(":", 2)
        version = "cgroup" if "memory" in controllers.split(",") else "cgroup2"
        for kind, mounted, top in mounts:
            if kind != version or (controllers and version == "cgroup2"):
                continue
            # In a container, the group may have its outer name while only its own folder is
            # visible.
            inner = PurePosixPath(group)
            folder = top / inner.relative_to(mounted) if inner.is_relative_to(mounted) else top
            for level in (folder, *folder.parents):
                yield level, version
                if level == top:
                    break


def _room(folder: Path, version: str) -> int | None:
    """Return the remaining memory of a control group; None if it is unlimited."""
    names, used_name, reclaimable_names = _VERSIONS[version]
    limits = [limit for name in names if (limit := _number(folder / name)) is not None]
    used = _number(folder / used_name)
    if not limits or used is None:
        return None
    statistics = _numbers(folder / "memory.stat")
    reclaimable = sum(statistics.get(name, 0) for name in reclaimable_names)
    return max(0, min(limits) - max(0, used - reclaimable))


def _number(path: Path) -> int | None:
    """Return the number in a file; None for a word such as ``max``."""
    text = "".join(_lines(path))
    return int(text) if text.isdecimal() else None


def _numbers(path: Path) -> dict[str, int]:
    """Parse a file with a name and a number per line, perhaps with a unit."""
    rows = [line.split() for line in _lines(path)]
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


# Seconds; a shorter stage leaves too little memory behind to release.
_BRIEF = 0.005

_log = job_logger(__name__)
# Without a handler, programs without logging would print messages on standard error.
logging.getLogger("neardup").addHandler(logging.NullHandler())


class Runner:
    """Run the stages of one job.

    Stages define functions of blocks; the runner schedules them. Results come in the order of the
    blocks, independent of the number of threads.

    Parameters
    ----------
    workers
        Threads, at least 1; None is one per core that this process may use.
    progress
        True shows progress within the runner's ``with`` block; a function is called with a stage's
        name, the work done so far, and the total if it is known. A display is used as it is; its
        owner starts it.
    job
        Kind of the job, by the name of its command: its id in the log begins with it.
    """

    def __init__(
        self,
        workers: int | None = None,
        progress: Display | Progress | None = None,
        job: str = "job",
    ) -> None:
        self.workers = count_workers(workers)
        # A part of a job logs under the job's id.
        is_part = current_job() != "-"
        self.job = current_job() if is_part else f"{job}-{os.urandom(4).hex()}"
        # Memory budget in bytes, if there is one, and notes for the summary by kind.
        self.memory: int | None = None
        self.notes: dict[str, str] = {}
        self._seconds: dict[str, float] = {}
        given = WorkerOptions.known["progress"].checked(progress)
        self._own_display = Display() if given is True else None
        self._display = given if isinstance(given, Display) else self._own_display
        self._logging = ExitStack()
        self._report: Report | None = self._display or given or None

    def __enter__(self) -> Runner:
        if self._own_display is not None:
            self._own_display.__enter__()
        self._logging.enter_context(as_job(self.job))
        return self

    def __exit__(self, *raised: Any) -> None:
        self._logging.close()
        if self._own_display is not None:
            self._own_display.__exit__(*raised)

    @contextmanager
    def _shown(self, name: str) -> Iterator[None]:
        """Show the start of a stage, and its end unless it failed."""
        if self._display is not None:
            self._display.begin(name)
        yield
        if self._display is not None:
            self._display.end(name)

    @contextmanager
    def stage(self, name: str) -> Iterator[Callable[..., None]]:
        """Time a stage within the ``with`` block, and log its start and end.

        Yields a function that takes counts by keyword, for the log.
        """
        with as_job(self.job), self._timed(name) as note:
            yield note

    @contextmanager
    def _timed(self, name: str) -> Iterator[Callable[..., None]]:
        counts: dict[str, object] = {}
        _log.info("%s: begins", name)
        start = time.perf_counter()
        with self._shown(name):
            try:
                yield counts.update
            finally:
                elapsed = time.perf_counter() - start
                if elapsed > _BRIEF:
                    release_memory()
                    elapsed = time.perf_counter() - start
                self._seconds[name] = self._seconds.get(name, 0.0) + elapsed
        if _log.isEnabledFor(logging.INFO):
            listed = "".join(f", {count.replace('_', ' ')} {n}" for count, n in counts.items())
            _log.info("%s: ends after %.3f s%s", name, elapsed, listed)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage so far, to the millisecond."""
        return {name: round(seconds, 3) for name, seconds in self._seconds.items()}

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Apply a function to blocks and yield the results in order.

        At most two blocks per worker are running or waiting, which bounds memory.
        """

        def logged(item: T) -> R:
            with as_job(self.job):
                return function(item)

        return map_ordered(logged, items, self.workers)

    def report(self, stage: str, done: int, total: int | None = None) -> None:
        """Report the completed work of a stage."""
        if self._report is not None:
            self._report(stage, done, total)

    def of_part(self, number: int, n_parts: int) -> Runner:
        """Return a runner for one part of a stage, which reports its share of the total."""
        if (report := self._report) is None or n_parts == 1:
            return self

        def report_part(stage: str, done: int, total: int | None) -> None:
            if total:
                report(stage, number * total + done, n_parts * total)

        return Runner(self.workers, report_part)

    def counter(self, stage: str, total: int | None = None) -> Callable[[int], None]:
        """Return a thread-safe function that adds to a stage's work and reports it."""
        lock = Lock()
        done = 0

        def add(count: int) -> None:
            nonlocal done
            with lock:
                done += count
                self.report(stage, done, total)

        return add
