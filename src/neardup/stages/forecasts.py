"""What a job would take, told stage by stage from a sample of its input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from neardup.files.rows import Source

# Resident bytes of the interpreter, libraries, kernels and character tables, measured on Linux.
_PROCESS = 110_000_000

# Seconds of one core for a byte of a temporary file, which is written and read.
_SPILL = 2e-9


@dataclass(frozen=True)
class StageForecast:
    """One stage: resident bytes of the whole process, of files at its end, seconds, and why."""

    stage: str
    memory_bytes: int
    temporary_bytes: int
    seconds: float
    content: str


@dataclass(frozen=True)
class StagesForecast:
    """What a job would find and take; sizes are of all documents, scaled up from some of them.

    ``counts`` are expected numbers of what the job counts, by their names.
    """

    documents: int
    documents_counted: bool
    sample_documents: int
    text_bytes: int
    memory_limit_bytes: int
    disk_bytes: int
    counts: dict[str, int]
    stages: Sequence[StageForecast]
    passed_over: dict[str, int] = field(default_factory=dict)

    @property
    def memory_bytes(self) -> int:
        """The most that the process takes."""
        return max(each.memory_bytes for each in self.stages)

    @property
    def temporary_bytes(self) -> int:
        """The most that files take."""
        return max(each.temporary_bytes for each in self.stages)

    @property
    def seconds(self) -> float:
        """The time of all stages."""
        return sum(each.seconds for each in self.stages)

    def describe(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        sums = ("memory_bytes", "temporary_bytes", "seconds")
        return asdict(self) | {name: getattr(self, name) for name in sums}


@dataclass(frozen=True)
class Planned:
    """What a job has for its work: memory beyond the process, and threads."""

    memory: int
    workers: int

    def process_bytes(self, of_thread: int) -> int:
        """Return what the process takes with any input, a thread with the blocks that it reads."""
        return _PROCESS + self.workers * of_thread

    def within(self, n_bytes: float, share: float) -> int:
        """Return how many of some bytes are in memory that may take a share of it."""
        return int(min(n_bytes, share * self.memory))

    def spill_seconds(self, n_bytes: float) -> float:
        """Return the time that so many bytes of temporary files take."""
        return _SPILL * n_bytes

    def spilled(self, n_bytes: float, share: float) -> int:
        """Return how many bytes are in files of what may take a share of the memory."""
        return 0 if n_bytes <= share * self.memory else int(n_bytes)


@dataclass(frozen=True)
class Growth:
    """How a number grows with that of the documents: by so much for each, and for each two of them.

    The first part is of documents that stand near each other, the second of all others.
    """

    of_each: float
    of_two: float

    @classmethod
    def of(cls, smaller: tuple[float, float], larger: tuple[float, float]) -> Growth:
        """Tell from what some documents have, and more of them, drawn in the same way."""
        (n, count), (n_more, more) = smaller, larger
        if n_more <= n or not n:
            return cls(more / n_more if n_more else 0.0, 0.0)
        of_two = max(0.0, (more / n_more - count / n) / (n_more - n))
        of_each = more / n_more - of_two * n_more
        if of_each < 0:
            of_each, of_two = 0.0, more / n_more**2
        return cls(of_each, of_two)

    def at(self, n: float) -> float:
        """Return the number of so many documents."""
        return self.of_each * n + self.of_two * n * n


@dataclass(frozen=True)
class PowerLaw:
    """How time grows where it grows with the documents, and with each two of them in part."""

    of_one: float
    exponent: float

    @classmethod
    def of(cls, points: Sequence[tuple[float, float]]) -> PowerLaw:
        """Tell from the seconds of some documents, of more, and more, drawn in the same way.

        The exponent is from 1 to 2; the time is right for the most documents.
        """
        (*_, (n, seconds)) = points
        exponent = 1.0
        known = [(np.log(size), np.log(time)) for size, time in points if size > 0 and time > 0]
        if len({size for size, _ in known}) > 1:
            sizes, times = np.array(known).T
            exponent = float(np.clip(np.polyfit(sizes, times, 1)[0], 1.0, 2.0))
        return cls(seconds / n**exponent if n else 0.0, exponent)

    def at(self, n: float) -> float:
        """Return the seconds of so many documents."""
        return self.of_one * float(n**self.exponent)


def source_bytes(sources: Sequence[Source], text_bytes: int) -> int:
    """Return the bytes of the files, or of the text where that is not known."""
    sizes = [source.size for source in sources]
    return text_bytes if None in sizes else sum(size or 0 for size in sizes)


def expect_distinct(parts: Sequence[np.ndarray[Any, Any]], growth: float) -> float:
    """Return how many different values so many times as many parts have.

    Parameters
    ----------
    parts
        The different values of each of some parts, drawn at random from all.
    growth
        How many times as many parts there are.

    Notes
    -----
    The extrapolation of Chao2 by Colwell et al. (2012): values that are in one part, and in two,
    tell how many have not been seen. Exact in the mean where values are all as frequent; of few
    parts, or far beyond what was seen, where frequencies differ much, it is too low.
    """
    n = len(parts)
    if not n:
        return 0.0
    _, counts = np.unique(np.concatenate(parts), return_counts=True)
    seen, once, twice = len(counts), int((counts == 1).sum()), int((counts == 2).sum())
    if growth <= 1 or n < 2 or not once:
        return seen * max(growth, 1.0) if n < 2 else float(seen)
    unseen = (n - 1) / n * once * (once - 1) / (2 * (twice + 1))
    if twice:
        unseen = (n - 1) / n * once**2 / (2 * twice)
    if not unseen:
        return float(seen)
    more = n * (growth - 1)
    return float(seen + unseen * -np.expm1(more * np.log1p(-once / (once + n * unseen))))
