"""Records probed in pieces, on several cores, into output whose size is not known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from neardup.errors import ResultLimitError
from neardup.runtime.runner import Runner
from neardup.tables import Int64s

S = TypeVar("S")
Columns = tuple[npt.NDArray[Any], ...]

# Records in one piece of work: enough pieces that no core waits long for the last one.
_PIECE = 2048
_FIRST_ROOM = 1 << 16


class Tally:
    """Counts of what filters did, added up over pieces."""

    def __init__(self, n_counts: int) -> None:
        self.counts: Int64s = np.zeros(n_counts, np.int64)
        self._lock = Lock()

    def add(self, counts: Int64s) -> None:
        """Add the counts of a piece; threads may."""
        with self._lock:
            self.counts += counts


def probe_pieces(
    n_records: int,
    n_columns: int,
    make_scratch: Callable[[], S],
    probe: Callable[[int, int, S, Columns], tuple[int, int]],
    runner: Runner,
    score_type: type[np.signedinteger] = np.int32,
) -> Iterator[tuple[int, Columns]]:
    """Probe all records piece by piece; yield for each piece where it stops and what it found.

    Parameters
    ----------
    n_records
        Their number.
    n_columns
        Of the output, each an int32 array but for the last one.
    make_scratch
        Makes what one thread needs for itself; ``probe`` leaves it as it was.
    probe
        Takes start, stop, scratch and output columns; returns the first record not probed, which is
        below stop where the next one's output might not fit, and the number of rows written.
    runner
        A piece is a block of its work.
    score_type
        Of the last column.
    """
    types = (*(np.int32,) * (n_columns - 1), score_type)
    idle: SimpleQueue[S] = SimpleQueue()

    def work(start: int) -> tuple[int, Columns]:
        try:
            scratch = idle.get_nowait()
        except Empty:
            scratch = make_scratch()
        stop = min(start + _PIECE, n_records)
        parts: list[Columns] = []
        room = _FIRST_ROOM
        while start < stop:
            columns = tuple(np.empty(room, dtype) for dtype in types)
            reached, n_rows = probe(start, stop, scratch, columns)
            parts.append(tuple(column[:n_rows].copy() for column in columns))
            # A single record may find more than fits: then make more room.
            room = room * 2 if reached == start else room
            start = int(reached)
        idle.put(scratch)
        return stop, tuple(np.concatenate(column) for column in zip(*parts, strict=True))

    return runner.map(work, range(0, n_records, _PIECE))


def collect_pieces(
    pieces: Iterable[tuple[int, Columns]],
    n_records: int,
    n_columns: int,
    limit: int | None,
    report: Callable[[int], None],
) -> Columns:
    """Put together what was found in all pieces.

    ``report`` is called with the number of records probed so far.

    Raises
    ------
    ResultLimitError
        As soon as there are more than ``limit`` results.
    """
    found: list[Columns] = []
    n_results = 0
    for stop, columns in pieces:
        found.append(columns)
        n_results += len(columns[0])
        check_limit(limit, n_results, stop / n_records)
        report(stop)
    return join_columns(found, n_columns)


def check_limit(limit: int | None, n_results: int, share: float | None = None) -> None:
    """Raise ``ResultLimitError`` at more results than wanted; after a ``share`` of the work."""
    if limit is not None and n_results > limit:
        raise ResultLimitError(limit, n_results, share)


def join_columns(found: list[Columns], n_columns: int) -> Columns:
    """Put the pieces of a result together."""
    nothing: Columns = (np.empty(0, np.int32),) * n_columns
    return tuple(np.concatenate(columns) for columns in zip(nothing, *found, strict=True))
