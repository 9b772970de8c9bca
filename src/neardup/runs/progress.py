"""How a job says what it is doing, and how far a stage is, in words."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from neardup.errors import in_python

# Called with the name of a stage, the work done so far, and its amount where it is known.
Report = Callable[[str, int, int | None], None]

# What a caller asks for: True shows progress, False does not, a function is called with it.
Progress = Report | bool

# What is asked between two blocks of work whether anybody still waits for it.
_ASKED: ContextVar[Callable[[], None]] = ContextVar("asked", default=lambda: None)

# The job that a thread is at.
_JOB: ContextVar[str] = ContextVar("job", default="-")

# Stages whose work is counted in bytes; in all others it is documents, pairs, bands and the like.
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
    "also": "comparing columns",
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
    """Have the work of this thread ask before each block; what ``ask`` raises ends it there."""
    before = _ASKED.set(ask)
    try:
        yield
    finally:
        _ASKED.reset(before)


def may_go_on() -> None:
    """Ask whether anybody still waits for the work of this thread, and raise if not.

    For loops over blocks that change nothing, and may be long.
    """
    _ASKED.get()()


@contextmanager
def as_job(identifier: str) -> Iterator[None]:
    """Have records that are logged by this thread meanwhile carry the id of a job."""
    # Without a token: a generator may be closed by another thread than the one that began it.
    before = _JOB.get()
    _JOB.set(identifier)
    try:
        yield
    finally:
        _JOB.set(before)


def current_job() -> str:
    """Return the id of the job that this thread is at; ``-`` outside of jobs."""
    return _JOB.get()


def job_logger(name: str) -> logging.Logger:
    """Return a logger whose records have the id of the job that they are of, as ``job``.

    Options in a message have their names in Python; ``in_both`` is it with both names.
    """
    logger = logging.getLogger(name)
    logger.addFilter(_note_job)
    return logger


def _note_job(record: logging.LogRecord) -> bool:
    record.job, said = current_job(), record.getMessage()
    if in_python(said) != said:
        record.in_both, record.msg, record.args = said, in_python(said), None
    return True


# Kernels know of no jobs.
job_logger("neardup.kernels")


def report_part(
    report: Callable[[float], None], start: float, stop: float
) -> Callable[[float], None]:
    """Return a report for a part of some work, which runs from one share of all to another."""
    return lambda share: report(start + share * (stop - start))


def plural(number: float, one: str, many: str) -> str:
    """Choose the form of a word that goes with a number."""
    return one if number == 1 else many


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number with the noun that it counts."""
    return f"{number:,} {plural(number, one, many or one + 's')}"


class StageProgress:
    """How far a stage is; times are seconds of some clock."""

    def __init__(self, name: str, began: float) -> None:
        self.name, self.began = name, began
        self.done = 0
        self.total: int | None = None
        self.ended: float | None = None

    def update(self, done: int, total: int | None, now: float) -> None:
        """Take a report; one of less work than before begins the stage anew."""
        if done < self.done:
            self.began = now
        self.done, self.total = done, total
        self.ended = now if done == total else None

    def end(self, now: float) -> None:
        """Note that the stage is over, whatever it has reported."""
        if self.ended is None:
            self.ended = now

    @property
    def label(self) -> str:
        """What is being done, in words."""
        return _LABELS.get(self.name, self.name)

    @property
    def share(self) -> float | None:
        """The share of the work that is done; None where it is not known."""
        if self.ended is not None:
            return 1.0
        return self.done / self.total if self.total else None

    def amount(self) -> str:
        """How much is done of how much, as far as it is known."""
        if self.share is None or self.ended is not None:
            return self._counted(self.done) if self.done else ""
        return f"{int(100 * self.share)} % of {self._counted(self.total or 0)}"

    def time(self, now: float) -> str:
        """How long the stage will still take, or how long it has taken."""
        if self.ended is not None:
            return duration(self.ended - self.began)
        elapsed = now - self.began
        if not self.share:
            return f"{duration(elapsed)} so far"
        return f"{duration(elapsed * (1 - self.share) / self.share)} to go"

    def line(self, now: float) -> str:
        """Return all of this as a line."""
        parts = [part for part in (self.amount(), self.time(now)) if part]
        return f"{self.label}: {', '.join(parts)}"

    def _counted(self, number: int) -> str:
        return size(number) if self.name in _OF_BYTES else f"{number:,}"


def size(n_bytes: int) -> str:
    """Write a number of bytes with two or three digits that count."""
    value = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        # What would be rounded to 1000 has the next unit.
        if value < 999.5:
            digits = 0 if unit == "bytes" or value >= 99.95 else 1
            return f"{value:.{digits}f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def duration(seconds: float) -> str:
    """Write a time in seconds, minutes, or hours and minutes."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
