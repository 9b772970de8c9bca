"""Progress and log of a job, as bars or lines."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# Called with the name of a stage, the work done so far, and the total if it is known.
Report = Callable[[str, int, int | None], None]

# Argument of public functions: True shows progress, False does not, a function is called.
Progress = Report | bool

# Called between two blocks of work; raises if the work was cancelled.
_CANCELLATION_CHECK: ContextVar[Callable[[], None]] = ContextVar("check", default=lambda: None)

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
    "cut": "cutting (tokens)",
    "add": "adding to the index",
    "write": "writing",
}


@contextmanager
def cancellable(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` before this thread's blocks, to raise its errors."""
    before = _CANCELLATION_CHECK.set(check)
    try:
        yield
    finally:
        _CANCELLATION_CHECK.reset(before)


def raise_if_cancelled() -> None:
    """Raise the error of a cancelled job, in long loops without side effects."""
    _CANCELLATION_CHECK.get()()


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


# Seconds between two lines, so that logs stay short.
_BETWEEN_LINES = 60.0


class Display:
    """Progress on standard error: bars, or a line a minute."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._is_shown = not quiet
        # When each stage began, and its completed work.
        self._stages: dict[str, tuple[float, int]] = {}
        self._bars: Any = None
        self._bar_of: dict[str, Any] = {}
        self._next_line = math.inf

    def __enter__(self) -> Display:
        if not self._is_shown or sys.stderr is None:
            return self
        if not sys.stderr.isatty():
            self._next_line = time.monotonic() + _BETWEEN_LINES
            return self
        # Rich takes 50 ms to load.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        label, said = (TextColumn(f"{{task.{part}}}") for part in ("description", "fields[said]"))
        self._bars = Progress(label, BarColumn(), said, console=Console(stderr=True))
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._next_line = math.inf
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def begin(self, stage: str) -> None:
        """Show that a stage has started."""
        self(stage, self._stages.get(stage, (0.0, 0))[1], None)

    def end(self, stage: str) -> None:
        """Show that a stage has ended."""
        done = self._stages.get(stage, (0.0, 0))[1]
        self(stage, done, done)

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Show the progress of a stage."""
        if self._bars is None and self._next_line == math.inf:
            return
        now = time.monotonic()
        began, before = self._stages.get(stage, (now, 0))
        # A stage may begin anew, such as for the next part of an index.
        began = now if done < before else began
        self._stages[stage] = began, done
        label, said = _LABELS.get(stage, stage), _describe(stage, done, total, now - began)
        if self._bars is not None:
            if stage not in self._bar_of:
                self._bar_of[stage] = self._bars.add_task(label, total=None, said="")
            # A bar of nothing is full.
            completed, of = (1, 1) if done == total else (done, total)
            self._bars.update(self._bar_of[stage], completed=completed, total=of, said=said)
        elif now >= self._next_line and done != total:
            self._next_line = now + _BETWEEN_LINES
            # An unwritable log must not end the job.
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"{label}: {said}\n")
                sys.stderr.flush()


def _describe(stage: str, done: int, total: int | None, seconds: float) -> str:
    """Describe work that took some seconds, and the time that is left."""

    def spell(number: int) -> str:
        return size(number) if stage in _OF_BYTES else f"{number:,}"

    if done == total:
        return ", ".join([spell(done)] * bool(done) + [duration(seconds)])
    if not total or not done:
        amounts = [f"0 % of {spell(total)}"] if total else [spell(done)] * bool(done)
        return ", ".join([*amounts, f"{duration(seconds)} so far"])
    left = duration(seconds * (total - done) / done)
    return f"{100 * done // total} % of {spell(total)}, {left} to go"
