"""Progress and log of a job, as bars or lines."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from threading import Lock

from neardup.errors import in_python

# Called with the name of a stage, the work done so far, and the total if it is known.
Report = Callable[[str, int, int | None], None]

# Argument of public functions: True shows progress, False does not, a function is called.
Progress = Report | bool

# Check for cancellation, called between two blocks of work.
_ASKED: ContextVar[Callable[[], None]] = ContextVar("asked", default=lambda: None)

# Id of the current thread's job.
_JOB: ContextVar[str] = ContextVar("job", default="-")

# Stages that count bytes; others count documents, pairs, bands and the like.
_OF_BYTES = {"read", "count", "sketch", "search", "align", "open", "ignore"}

_LABELS = {
    "read": "reading",
    "count": "counting tokens",
    "ignore": "reading what is ignored",
    "sketch": "sketching",
    "pairs": "reading pairs",
    "choose method": "choosing the method",
    "bucket": "sorting bands",
    "compare": "reading candidates",
    "choose": "comparing",
    "closest": "comparing with all",
    "audit": "auditing",
    "join": "joining",
    "match": "matching one to one",
    "columns": "reading columns",
    "estimate": "estimating",
    "cluster": "clustering",
    "measure": "measuring",
    "windows": "hash functions",
    "open": "checking the index",
    "compact": "compacting",
    "search": "searching",
    "align": "aligning",
    "add": "adding to the index",
    "write": "writing",
}


@contextmanager
def asking(ask: Callable[[], None]) -> Iterator[None]:
    """Call ``ask`` before this thread's blocks, to raise its errors."""
    before = _ASKED.set(ask)
    try:
        yield
    finally:
        _ASKED.reset(before)


def may_go_on() -> None:
    """Raise if the work of this thread was cancelled.

    For long loops over blocks without side effects.
    """
    _ASKED.get()()


@contextmanager
def as_job(identifier: str) -> Iterator[None]:
    """Add a job's id to this thread's log records."""
    # Without a token: a generator may be closed by another thread than its first.
    before = _JOB.get()
    log_as(identifier)
    try:
        yield
    finally:
        log_as(before)


def log_as(identifier: str) -> None:
    """Set the job's id of this thread's log records."""
    _JOB.set(identifier)


def current_job() -> str:
    """Return this thread's job id, ``-`` outside of jobs."""
    return _JOB.get()


def job_logger(name: str) -> logging.Logger:
    """Return a logger that adds the job's id as ``job``.

    Options in a message have their names in Python; ``in_both`` is the message with the names in
    Python and on the command line.
    """
    logger = logging.getLogger(name)
    logger.addFilter(_note_job)
    return logger


def _note_job(record: logging.LogRecord) -> bool:
    record.job, said = current_job(), record.getMessage()
    if in_python(said) != said:
        record.in_both, record.msg, record.args = said, in_python(said), None
    return True


# Kernels do not depend on jobs.
job_logger("neardup.kernels")


def report_part(
    report: Callable[[float], None], start: float, stop: float
) -> Callable[[float], None]:
    """Return a report for the work between two shares."""
    return lambda share: report(start + share * (stop - start))


def plural(number: float, one: str, many: str) -> str:
    """Choose the singular or plural by a number."""
    return one if number == 1 else many


def counted(number: int, one: str, many: str | None = None) -> str:
    """Format a number with its noun."""
    return f"{number:,} {plural(number, one, many or one + 's')}"


def size(n_bytes: int) -> str:
    """Format bytes with two or three significant digits."""
    value = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        # A value that would round to 1000 takes the next unit.
        if value < 999.5:
            digits = 0 if unit == "bytes" or value >= 99.95 else 1
            return f"{value:.{digits}f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def duration(seconds: float) -> str:
    """Format a time in seconds, minutes, or hours and minutes."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class StageProgress:
    """Progress of a stage, with times in seconds."""

    def __init__(self, name: str, began: float) -> None:
        self.name, self.began = name, began
        self.label = _LABELS.get(name, name)
        self.done = 0
        self.total: int | None = None
        self.ended: float | None = None

    def update(self, done: int, total: int | None, now: float) -> None:
        """Record a report, or restart if less work is done."""
        if done < self.done:
            self.began = now
        self.done, self.total = done, total
        self.ended = now if done == total else None

    def end(self, now: float) -> None:
        """Record the end of the stage."""
        if self.ended is None:
            self.ended = now

    @property
    def share(self) -> float | None:
        """Completed share of the work, None if unknown."""
        if self.ended is not None:
            return 1.0
        return self.done / self.total if self.total else None

    def amount(self) -> str:
        """Completed and total work, as far as they are known."""
        if self.share is None or self.ended is not None:
            return self._counted(self.done) if self.done else ""
        return f"{int(100 * self.share)} % of {self._counted(self.total or 0)}"

    def time(self, now: float) -> str:
        """Remaining time, or total time after the end."""
        if self.ended is not None:
            return duration(self.ended - self.began)
        elapsed = now - self.began
        if not self.share:
            return f"{duration(elapsed)} so far"
        return f"{duration(elapsed * (1 - self.share) / self.share)} to go"

    def line(self, now: float) -> str:
        """Return the progress as a line."""
        parts = [part for part in (self.amount(), self.time(now)) if part]
        return f"{self.label}: {', '.join(parts)}"

    def __format__(self, part: str) -> str:
        """Format the label, amount or time for a bar."""
        if part == "label":
            return f"{self.label:<18}"
        return f"{self.amount():>14}" if part == "amount" else self.time(time.monotonic())

    def _counted(self, number: int) -> str:
        return size(number) if self.name in _OF_BYTES else f"{number:,}"


# Seconds between two lines: logs should stay short, a notebook has a waiting reader.
_BETWEEN_LINES, _IN_A_NOTEBOOK = 60.0, 10.0


class Display:
    """Progress of a job on standard error."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._view: Bars | Lines | None = None
        self._stages: dict[str, StageProgress] = {}

    def __enter__(self) -> Display:
        self._view = None if self._quiet else _choose_view()
        if self._view is not None:
            self._view.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._view is not None:
            self._view.stop()
            self._view = None

    def begin(self, stage: str) -> None:
        """Show that a stage has started."""
        self._show(stage, lambda *_: None)

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Show the progress of a stage."""
        self._show(stage, lambda shown, now: shown.update(done, total, now))

    def end(self, stage: str) -> None:
        """Show that a stage has ended."""
        self._show(stage, StageProgress.end)

    def _show(self, name: str, change: Callable[[StageProgress, float], None]) -> None:
        if self._view is not None:
            now = time.monotonic()
            stage = self._stages.setdefault(name, StageProgress(name, now))
            change(stage, now)
            self._view.update(stage)


def _choose_view() -> Bars | Lines | None:
    ipython = sys.modules.get("IPython")
    if ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
        # Without widgets the output of a cell cannot be changed.
        return Bars(in_notebook=True) if find_spec("ipywidgets") else Lines(_IN_A_NOTEBOOK)
    if sys.stderr is None:
        return None
    return Bars(in_notebook=False) if sys.stderr.isatty() else Lines(_BETWEEN_LINES)


class Bars:
    """A progress bar per stage, on terminals and in notebooks."""

    _STEPS = 1000

    def __init__(self, *, in_notebook: bool) -> None:
        # Rich takes 50 ms to load.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskID, TextColumn

        console = Console(force_jupyter=True) if in_notebook else Console(stderr=True)
        label, amount, left = (
            TextColumn(f"{{task.fields[stage]:{part}}}", style="none", markup=False)
            for part in ("label", "amount", "time")
        )
        self._progress = Progress(label, BarColumn(), amount, left, console=console)
        self._tasks: dict[str, TaskID] = {}

    def start(self) -> None:
        """Start drawing the bars."""
        self._progress.start()

    def update(self, stage: StageProgress) -> None:
        """Draw the progress of a stage."""
        total = None if stage.share is None else self._STEPS
        completed = int((stage.share or 0) * self._STEPS)
        if stage.name not in self._tasks:
            self._tasks[stage.name] = self._progress.add_task(stage.label, stage=stage)
        self._progress.update(self._tasks[stage.name], completed=completed, total=total)

    def stop(self) -> None:
        """Stop drawing, and leave the bars on the screen."""
        self._progress.stop()


class Lines:
    """Write a line about the current stage at fixed intervals."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._latest: StageProgress | None = None
        # A queue in C survives interrupts, as for worker threads.
        self._end: SimpleQueue[None] = SimpleQueue()
        self._writing = Lock()

    def start(self) -> None:
        """Start the interval between lines."""
        self._writing.acquire()
        start_new_thread(self._write, ())

    def update(self, stage: StageProgress) -> None:
        """Set the stage of the next line."""
        self._latest = stage

    def stop(self) -> None:
        """Write no more lines."""
        self._end.put(None)
        with self._writing:
            pass

    def _write(self) -> None:
        try:
            while not self._is_over():
                latest = self._latest
                if latest is not None and latest.ended is None:
                    # An unwritable log must not end the job.
                    with contextlib.suppress(OSError, ValueError):
                        sys.stderr.write(latest.line(time.monotonic()) + "\n")
                        sys.stderr.flush()
        finally:
            self._writing.release()

    def _is_over(self) -> bool:
        """Wait for the next line, or for the end."""
        try:
            self._end.get(timeout=self._seconds)
        except Empty:
            return False
        return True
