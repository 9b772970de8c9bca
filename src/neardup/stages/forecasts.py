"""What a job would take, told stage by stage from a sample of its input.

Forecasts are made for threads of one process. What of a stage executors share is said beside it,
and ``Executors`` alone makes of that a forecast for a Spark session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from neardup.files.inputs import passed_over
from neardup.files.rows import Source
from neardup.reading.drawn import DrawnTexts
from neardup.tables import Int64s

PROCESS = 118_000_000
"""Resident bytes of the interpreter, libraries, kernels and character tables, on Linux."""

# Seconds of one core for a byte of a temporary file, which is written and read.
_SPILL = 2e-9


@dataclass(frozen=True)
class Spread:
    """What a stage is on executors, all of them together; seconds are those of one core.

    Parameters
    ----------
    reading
        Seconds in which files are read; ``whole`` says that each is a task's from end to end.
    work
        Seconds of all else that tasks do.
    alone
        Seconds in which the driver works, and tasks wait.
    sent
        Bytes that are shuffled, as Spark packs them.
    rows
        Bytes that wait in tasks until they are sent, before that; of 0 as many as are sent.
    stored
        Bytes that executors keep on their disks beside these.
    met, parts
        Bytes that so many partitions take in memory while tasks work on them; of 0 there are two
        for each task that runs at the same time.
    held, files
        Bytes that the driver holds, and that it has in files.
    jobs
        How often tasks are begun anew.
    """

    reading: float = 0.0
    work: float = 0.0
    alone: float = 0.0
    sent: float = 0.0
    rows: float = 0.0
    stored: float = 0.0
    met: float = 0.0
    parts: float = 0.0
    held: float = 0.0
    files: float = 0.0
    whole: bool = False
    jobs: int = 1

    @classmethod
    def total(cls, spreads: Sequence[Spread]) -> Spread:
        """Return stages that follow each other as one, with the most that one of them holds."""
        names = ("reading", "work", "alone", "sent", "rows", "stored", "jobs")
        sums: dict[str, Any] = {
            name: sum(getattr(each, name) for each in spreads) for name in names
        }
        most: dict[str, Any] = {
            name: max((getattr(each, name) for each in spreads), default=0.0)
            for name in ("met", "parts", "held", "files")
        }
        return cls(**sums, **most)


@dataclass(frozen=True)
class StageForecast:
    """One stage: resident bytes of the whole process, of files at its end, seconds, and why.

    Of executors the process is the driver; ``task_bytes`` are those of a task, ``exchanged_bytes``
    what executors have on their disks at its end.
    """

    stage: str
    memory_bytes: int
    temporary_bytes: int
    seconds: float
    content: str
    spread: Spread = Spread()
    task_bytes: int | None = None
    exchanged_bytes: int | None = None

    def describe(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        facts = {name: value for name, value in vars(self).items() if value is not None}
        del facts["spread"]
        return facts


@dataclass(frozen=True)
class StagesForecast:
    """What a job would find and take; sizes are of all documents, scaled up from some of them.

    ``counts`` are expected numbers of what the job counts, by their names; ``between`` those among
    them, and ``seconds``, that a sample this small does not tell well, with what each most likely
    lies between; ``executors`` those that do it, if any.
    """

    documents: int
    documents_counted: bool
    sample_documents: int
    text_bytes: int
    memory_limit_bytes: int
    disk_bytes: int
    counts: dict[str, int]
    stages: Sequence[StageForecast]
    between: dict[str, tuple[float, float]] = field(default_factory=dict)
    passed_over: dict[str, int] = field(default_factory=dict)
    executors: Executors | None = None

    @classmethod
    def of(
        cls,
        drawn: Sequence[DrawnTexts],
        planned: Planned,
        stages: Sequence[StageForecast],
        counts: dict[str, int],
        disk_bytes: float,
        *collections: Sequence[Source],
        between: Mapping[str, Between] = MappingProxyType({}),
    ) -> StagesForecast:
        """Tell of ``collections``, of which some documents were drawn, what stages take.

        They are those of threads, and become what they are on executors where these are planned.
        Of what is told to lie ``between`` two numbers only wide ones are kept.
        """
        executors = planned.executors
        return cls(
            documents=sum(each.rows.n_documents for each in drawn),
            documents_counted=all(each.rows.is_counted for each in drawn),
            sample_documents=sum(len(block) for each in drawn for _, block in each.rows.drawn),
            text_bytes=round(sum(each.bytes for each in drawn)),
            memory_limit_bytes=planned.memory,
            disk_bytes=round(disk_bytes),
            counts=counts,
            stages=stages if executors is None else executors.spread(stages),
            between={
                name: (round(each.low), round(each.high))
                for name, each in between.items()
                if each.is_wide
            },
            passed_over=passed_over(*collections),
            executors=executors,
        )

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

    @property
    def task_bytes(self) -> int | None:
        """The most that a task takes with its process, on executors."""
        return max((each.task_bytes or 0 for each in self.stages), default=0) or None

    @property
    def exchanged_bytes(self) -> int | None:
        """The most that executors have on their disks."""
        return max((each.exchanged_bytes or 0 for each in self.stages), default=0) or None

    def describe(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        facts = vars(self) | {"stages": [each.describe() for each in self.stages]}
        sums = ["memory_bytes", "temporary_bytes", "seconds"]
        if self.executors is None:
            del facts["executors"]
        else:
            facts["executors"] = {
                "slots": self.executors.slots,
                "task_memory_limit_bytes": self.executors.task_bytes,
            }
            sums += ["task_bytes", "exchanged_bytes"]
        return facts | {name: getattr(self, name) for name in sums}


# Resident bytes of a driver, and of a task, of the libraries and kernels that they have loaded.
_DRIVER, _TASK = 120_000_000, 230_000_000
# Bytes of rows that wait in a task, how many copies are made of these, and partitions for each task
# that runs at the same time.
_WAITING, _COPIES, _PARTITIONS_A_SLOT = 48_000_000, 3.5, 2
# Seconds that pass until a session has begun, in which executors begin and load libraries, and
# until tasks have begun anew.
_BEGIN, _BEGIN_TASKS = 20.0, 1.0
# Seconds of one core for a byte that is shuffled, written and read once, and for one that is kept:
# Python, Java, which packs it, and the disk.
_SEND, _KEEP = 30e-9, 15e-9


@dataclass(frozen=True)
class Executors:
    """Executors that do a job: ``slots`` tasks at a time, each with so much memory of its own.

    Files are read by so many ``tasks``, which read ``rereading`` times as much as there is, for
    each reads a file from its start. Of all bytes the largest file is a share of ``largest``.
    """

    slots: int
    task_bytes: int
    tasks: int
    rereading: float = 1.0
    largest: float = 0.0

    def parts(self, number: float, a_slot: int, least: float, most: float) -> float:
        """Return in how many parts something is cut, so many a slot unless they are too small.

        None has less than ``least`` of it unless it is all, or more than ``most``.
        """
        # Texts are not cut, so that the last part has what the others have no room for.
        size = min(max(number / (a_slot * self.slots), least), most)
        return number // size + 1

    def spread(self, stages: Sequence[StageForecast]) -> list[StageForecast]:
        """Make of the stages of threads those of executors, behind the start of a session."""
        content = "Spark, and Python on executors"
        told = [StageForecast("start", _DRIVER, 0, _BEGIN, content, Spread(), _TASK, 0)]
        exchanged = 0
        for each in stages:
            spread = each.spread
            exchanged += int(spread.sent + spread.stored)
            told.append(
                replace(
                    each,
                    memory_bytes=_DRIVER + int(spread.held),
                    temporary_bytes=int(spread.files),
                    seconds=self.seconds_of(spread),
                    task_bytes=self.memory_of_task(spread),
                    exchanged_bytes=exchanged,
                )
            )
        return told

    def memory_of_task(self, spread: Spread) -> int:
        """Return the bytes of a task and its process: what waits to be sent, or its partition."""
        waiting = min((spread.rows or spread.sent) / self.tasks, _WAITING)
        met = spread.met / (spread.parts or _PARTITIONS_A_SLOT * self.slots)
        return _TASK + int(max(_COPIES * waiting, min(met, self.task_bytes)))

    def seconds_of(self, spread: Spread) -> float:
        """Return the time of a stage: whoever has the largest file may be the last one to end."""
        exchanging = spread.sent * _SEND + spread.stored * _KEEP
        if spread.whole:
            shared = spread.reading + spread.work
            seconds = max(shared / self.slots, shared * self.largest)
        else:
            evenly = (spread.reading * self.rereading + spread.work) / self.slots
            seconds = max(evenly, spread.reading * self.largest + spread.work / self.slots)
        return spread.jobs * _BEGIN_TASKS + spread.alone + seconds + exchanging / self.slots


@dataclass(frozen=True)
class Planned:
    """What a job has for its work: memory beyond the process, and threads, or executors.

    With executors the memory is the driver's.
    """

    memory: int
    workers: int
    executors: Executors | None = None

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
class Between:
    """A number that is told from a sample, and what it most likely lies between."""

    number: float
    low: float
    high: float

    @property
    def is_wide(self) -> bool:
        """Whether it may well be a quarter more or less."""
        return self.high > 1.25 * self.number or self.low < 0.75 * self.number

    def times(self, factor: float) -> Between:
        """Return the number for so many times as much."""
        return Between(factor * self.number, factor * self.low, factor * self.high)

    def by(self, other: Between) -> Between:
        """Return the product with another number, whose errors have nothing to do with these."""
        number = self.number * other.number
        if not number:
            return Between(0.0, 0.0, self.high * other.high)
        off = [
            [abs(np.log(max(1e-9, bound / each.number))) for each, bound in bounds]
            for bounds in (
                ((self, self.low), (other, other.low)),
                ((self, self.high), (other, other.high)),
            )
        ]
        low, high = (float(np.exp(np.hypot(*each))) for each in off)
        return Between(number, number / low, number * high)

    def at_least(self, known: Between) -> Between:
        """Return the number where it is known to be no less than another."""
        return Between(*map(max, vars(self).values(), vars(known).values()))

    def inverse(self) -> Between:
        """Return one through the number, 1 for one that is 0."""
        if not self.number:
            return Between(1.0, 1.0, 1.0)
        return Between(1 / self.number, 1 / self.high, 1 / max(self.low, 1e-9 * self.number))

    def plus(self, known: float) -> Between:
        """Return the number with something beside it that is known."""
        return Between(self.number + known, self.low + known, self.high + known)


def expect_pairs(found: Int64s, shares: tuple[float, float], *, is_one: bool) -> Between:
    """Tell how many pairs two collections have from those of some runs of their documents.

    Parameters
    ----------
    found
        The number of pairs between each run of the first collection, a row, and each of the second,
        a column; all runs of either are evenly spread and about as long. Of one collection it is
        the upper triangle.
    shares
        The share of the documents that is in the runs of either collection.
    is_one
        Whether both are the same one.

    Notes
    -----
    Of two documents that stand anywhere both are in the runs as often as the product of the shares
    says; of two that stand near each other, or at the same place of two collections, as often as
    one is. The first are told from pairs of runs at different places, the second from what runs at
    the same place have beyond those that are next to each other. The interval is of two standard
    errors, of the logarithm, which the jackknife tells (Efron and Stein 1981: no less than the true
    ones in the mean), and one pair more, which may not have been seen.
    """
    if not found.size:
        return Between(0.0, 0.0, 0.0)
    # How many runs two stand from each other, by their places in either collection.
    fewest = min(found.shape)
    places = [np.arange(n) * fewest // n for n in found.shape]
    apart = np.abs(places[0][:, None] - places[1])
    n_near, n_far = int((apart == 0).sum()), int((apart > 0).sum())
    share = shares[0] * shares[1]
    # Of one collection each pair comes from either side.
    pairs, times = (found + found.T, 2) if is_one else (found, 1)

    def of_all(rows: Int64s, columns: Int64s) -> float:
        here = np.ix_(rows, columns)
        at = apart[here]
        near, beside, far = (_mean(pairs[here][each]) for each in (at == 0, at == 1, at > 0))
        anywhere = (far * n_far + beside * n_near) / share
        return (anywhere + (near - beside) * n_near / min(shares)) / times

    rows, columns = map(np.arange, found.shape)
    if is_one:
        without = [[of_all(np.delete(rows, i), np.delete(rows, i)) for i in rows]]
    else:
        without = [[of_all(np.delete(rows, i), columns) for i in rows]]
        without.append([of_all(rows, np.delete(columns, i)) for i in columns])
    variance = sum((len(each) - 1) * float(np.var(each)) for each in without)
    seen = float(found.sum())
    total = max(seen, of_all(rows, columns))
    error = float(np.sqrt((1 - share) * (variance + share**-2)))
    if not total:
        return Between(total, total, 2 * error)
    # It may be half or twice as much, and is never negative.
    factor = float(np.exp(2 * error / total))
    return Between(total, max(seen, total / factor), total * factor)


def _mean(counts: Int64s) -> float:
    return float(counts.mean()) if len(counts) else 0.0


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


# Bytes of a row of the table of what goes, mostly ids and places near those of the row before.
_ROW_OF_GONE = 12


def bytes_without(
    sources: Sequence[Source], own: DrawnTexts, gone_bytes: float, n_gone: float
) -> float:
    """Return the bytes of the files, or of the text where that is not known, without what goes.

    There is a table of what goes instead. Of compressed files goes as large a part as of the text.
    """
    sizes = [source.size for source in sources]
    n_bytes = own.bytes if None in sizes else sum(size or 0 for size in sizes)
    packed = min(1.0, n_bytes / own.bytes) if own.bytes else 1.0
    return max(0.0, n_bytes - packed * gone_bytes) + n_gone * _ROW_OF_GONE


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
