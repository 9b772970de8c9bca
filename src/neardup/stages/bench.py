"""Look-ups for trial: some texts in an index of as many as may be, so that these tell all.

What one text takes does not depend on the others that are looked up. So a plan takes groups of
them, for as long as it may, and all take as much more as they have bytes.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.rows import Source
from neardup.passages.documents import PassageReading
from neardup.reading.drawn import DrawnTexts, some_rows
from neardup.stages.forecasts import Between
from neardup.tables import Bools, Int64s

F = TypeVar("F")

# Bytes of text that are indexed, at most, and looked up so that all kernels are loaded.
_INDEXED_BYTES, _LOADING_BYTES = 32_000_000, 50_000
# Into so many groups texts are parted, and they are looked up until that has taken so long on one
# core, or such a share of all seconds, which many may be.
N_GROUPS, _TRIAL_SECONDS, _TRIAL_SHARE, _MOST_TRIAL_SECONDS = 64, 3.0, 0.05, 20.0
# Runs of documents that are taken, unless these had too few each: those that many others are like
# may stand together.
_RUNS, _LEAST_RUN = 128, 8


class TrialRows:
    """Rows of one collection that are taken for trial: runs of them from all over it."""

    def __init__(
        self,
        drawn: DrawnTexts,
        read: PassageReading,
        share: float,
        of_block: int,
        *,
        with_ids: bool = False,
    ) -> None:
        self.sources, self.lengths = drawn.rows.runs(share, of_block)
        n = drawn.rows.n_documents
        self.share = min(1.0, int(self.lengths.sum()) / n) if n else 1.0
        columns, texts = read.columns, [pa.array([], pa.large_binary())]
        if not with_ids:
            columns = columns.only_text()
        for source in self.sources:
            for block in source.blocks():
                parsed = block.parse(columns, skip_bad=read.skip_bad)
                texts.append(parsed.text.cast(pa.large_binary()))
        sizes = pc.binary_length(pa.concat_arrays(texts))
        # Bad rows are no documents.
        self.are_documents: Bools = sizes.is_valid().to_numpy(zero_copy_only=False)
        self.sizes: Int64s = sizes.fill_null(0).to_numpy()

    def only_firsts(self, lengths: Int64s, groups: Int64s) -> Int64s:
        """Return the groups of all rows, those of the first ones of each run being given.

        There are so many of each; the others are in none, which is -1.
        """
        bounds = np.stack([lengths, self.lengths - lengths], axis=1).ravel()
        are_first = np.repeat(np.arange(len(bounds)) % 2 == 0, bounds)
        of_all = np.full(len(are_first), -1, np.int64)
        of_all[are_first] = groups
        return of_all


def shares_of_trials(drawn: Sequence[DrawnTexts]) -> tuple[float, float]:
    """Return the share of texts that were drawn that is taken for trial, and to load kernels."""
    largest = max(1, *(each.text_bytes for each in drawn))
    return min(1.0, _INDEXED_BYTES / largest), min(1.0, _LOADING_BYTES / largest)


def runs_of_block(drawn: DrawnTexts, share: float) -> int:
    """Return in how many runs of a block documents are taken: many in all, of some each.

    They are to be evenly spread, so that there is one of a block if there are gaps between blocks.
    """
    n_blocks, n_drawn = len(drawn.rows.drawn), sum(len(block) for _, block in drawn.rows.drawn)
    if not n_blocks or n_drawn < drawn.rows.n_documents:
        return 1
    return max(1, min(-(-_RUNS // n_blocks), int(n_drawn * share / (n_blocks * _LEAST_RUN))))


def count_by_runs(
    firsts: Int64s, seconds: Int64s, lengths: Int64s, other_lengths: Int64s
) -> Int64s:
    """Count pairs, given the numbers of their documents, by runs of either collection.

    Of one collection, whose runs are the same ones, an earlier run has those with a later one.
    """
    # Runs of no document are none.
    ends = [np.cumsum(each[each > 0]) for each in (lengths, other_lengths)]
    runs = [
        np.searchsorted(of_side, numbers, side="right")
        for of_side, numbers in zip(ends, (firsts, seconds), strict=True)
    ]
    if lengths is other_lengths:
        runs = [np.minimum(*runs), np.maximum(*runs)]
    counts = np.zeros([len(each) for each in ends], np.int64)
    np.add.at(counts, tuple(runs), 1)
    return counts


def group(sizes: Int64s, n_groups: int) -> Int64s:
    """Put texts into groups, each of which has short ones and long ones, and about as many bytes.

    Which group is which is chance, so that the first ones stand for all.
    """
    groups, n_bytes = np.empty_like(sizes), np.zeros(n_groups, np.int64)
    order = np.argsort(-sizes, kind="stable")
    for first in range(0, len(order), n_groups):
        # Of as many as are about as long as each other the longest goes to who has least so far.
        rows = order[first : first + n_groups]
        chosen = np.argsort(n_bytes, kind="stable")[: len(rows)]
        groups[rows] = chosen
        n_bytes[chosen] += sizes[rows]
    return np.random.default_rng(len(sizes)).permutation(n_groups)[groups]


def expect_sum(values: Sequence[float], shares: Sequence[float]) -> Between:
    """Tell a sum from what some shares of all have, and two standard errors of the ratio."""
    share, seen, n = sum(shares), sum(values), len(values)
    of_all = seen / share if share else 0.0
    if share >= 1 or not of_all:
        return Between(of_all, of_all, of_all)
    if n < 2:
        return Between(of_all, of_all / 2, 2 * of_all)
    parts = np.array(shares)
    off = float(((np.array(values) - parts * of_all) ** 2 / np.maximum(parts, 1e-9)).sum())
    error = 2 * float(np.sqrt((1 - share) * off / (share * (n - 1))))
    return Between(of_all, max(seen, of_all - error), of_all + error)


class Bench(ABC, Generic[F]):
    """Texts that are looked up in an index, some groups of them at a time.

    The first look-up makes the index, which is kept. ``groups`` are those of the rows of each side,
    below 0 where one is not looked up.
    """

    def __init__(self, sides: Sequence[TrialRows], groups: Sequence[Int64s]) -> None:
        self._sides, self._groups = sides, groups

    @abstractmethod
    def look_up(self, groups: range, *, anew: bool = False) -> tuple[float, F]:
        """Look some groups up; returns the seconds of one core, and what was found.

        With ``anew`` all that has been made of the index to look others up is forgotten before.
        """

    def share(self, groups: range) -> float:
        """Return which part of all groups some are, by their bytes."""
        n_bytes, of_all = (
            sum(int(side.sizes[rows].sum()) for side, rows in zip(self._sides, chosen, strict=True))
            for chosen in (self._choose(groups), [each >= 0 for each in self._groups])
        )
        return n_bytes / of_all if of_all else 1.0

    def _choose(self, groups: range) -> list[Bools]:
        return [(each >= groups.start) & (each < groups.stop) for each in self._groups]


class Timed(Generic[F]):
    """What an index takes, and groups of queries that are looked up in it, in seconds of one core.

    It is made in ``making``, made ready once in ``ready`` and again in ``ready_again``; all texts
    are read as queries in ``reading``.
    """

    def __init__(self, bench: Bench[F], *, is_kept: bool) -> None:
        nothing, one = range(0), range(1)
        self._bench, self._seconds, self._shares = bench, list[float](), list[float]()
        self.n_groups, self.found = 0, list[F]()
        making, _ = bench.look_up(nothing)
        self.reading, _ = bench.look_up(nothing)
        self.making = max(0.0, making - self.reading)
        first, _ = bench.look_up(one)
        self.look_up(one)
        known = self.reading + self._seconds[0]
        self.ready = max(0.0, first - known)
        self.ready_again = 0.0 if is_kept else max(0.0, bench.look_up(one, anew=True)[0] - known)

    def look_up(self, groups: range) -> None:
        """Look up some more groups."""
        seconds, found = self._bench.look_up(groups)
        self._seconds.append(max(0.0, seconds - self.reading))
        self._shares.append(self._bench.share(groups))
        self.n_groups = groups.stop
        self.found.append(found)

    @property
    def share(self) -> float:
        """Which part has been looked up."""
        return sum(self._shares)

    @property
    def seconds(self) -> float:
        """What that took, behind the reading."""
        return sum(self._seconds)

    def of_all(self, values: Sequence[float] | None = None) -> Between:
        """Return the seconds of all groups, or another sum over them, given what each had."""
        return expect_sum(self._seconds if values is None else values, self._shares)

    def more(self, n_groups: int, seconds: float) -> range:
        """Return the groups of ``n_groups`` that are to be looked up now, if any.

        They are twice as many as the last ones, and take no longer than is left of some seconds.
        """
        left = n_groups - self.n_groups
        of_one = self.seconds / self.n_groups
        if of_one * left > seconds - self.seconds:
            left = max(0, int((seconds - self.seconds) / of_one))
        return range(self.n_groups, self.n_groups + min(left, self.n_groups))


def seconds_for(expected: float) -> float:
    """Return how long a trial may be: short, or next to nothing beside all of the work."""
    return max(_TRIAL_SECONDS, min(_MOST_TRIAL_SECONDS, _TRIAL_SHARE * expected))


# Queries looked up in an index that is there.

# Texts by which an index is made ready for all others.
_OF_ALL_SIZES = 64

# Yields how much each document of some sources has, those of one block after the other.
Count = Callable[[Sequence[Source]], Iterator[Int64s]]


@dataclass(frozen=True)
class Tried:
    """What look-ups of a ``share`` of some queries tell of all: seconds of one core, results.

    The index is made ready once in ``ready``, and each further time in ``ready_again``.
    """

    share: float
    seconds: Between
    results: Between
    ready: float
    ready_again: float


def try_queries(
    drawn: DrawnTexts,
    read: PassageReading,
    count: Count,
    *,
    are_alone: bool = True,
    is_kept: bool = True,
) -> Tried:
    """Look some of the documents up that were drawn.

    Parameters
    ----------
    drawn, read
        The documents, and how they are read.
    count
        Looks documents up.
    are_alone
        Whether what one takes does not depend on those beside it. Else neighbours are looked up
        together, as they are in a run.
    is_kept
        Whether what is made of the index to look documents up is there for the next ones.
    """
    of_block = runs_of_block(drawn, 1.0) if are_alone else 1
    side = TrialRows(drawn, read, 1.0, of_block, with_ids=True)
    n_groups = max(1, min(N_GROUPS, len(side.sizes)))
    groups = group(side.sizes, n_groups) if are_alone else _neighbours(side.sizes, n_groups)
    n_groups = int(groups.max(initial=0)) + 1
    runs = np.repeat(np.arange(len(side.lengths)), side.lengths) if are_alone else groups
    bench = _InIndex(side, groups, count, makes_ready=not is_kept)
    # What is made ready depends on how long texts are: short ones and long ones want all of it.
    of_all_sizes: Bools = np.zeros(len(groups), np.bool_)
    if len(groups):
        few = np.linspace(0, len(groups) - 1, min(len(groups), _OF_ALL_SIZES)).astype(np.int64)
        of_all_sizes[np.argsort(side.sizes)[few]] = True
    ready, again = (bench.seconds_of(of_all_sizes)[0] for _ in range(2))
    timed = Timed(bench, is_kept=True)
    while more := timed.more(n_groups, seconds_for(timed.of_all().number / side.share)):
        timed.look_up(more)
    asked = np.concatenate([each for each, _ in timed.found])
    counts = np.concatenate([each for _, each in timed.found])
    reading = bench.seconds_of(np.zeros(len(groups), np.bool_))[0]
    n_queries = round(drawn.rows.n_documents * side.are_documents.sum() / max(1, len(groups)))
    return Tried(
        len(asked) / max(1, n_queries),
        timed.of_all().plus(reading).times(1 / side.share),
        _of_all_queries(counts, runs[asked], n_queries),
        max(0.0, ready - again) + max(0.0, timed.reading - reading),
        max(0.0, timed.reading - reading),
    )


def _of_all_queries(counts: Int64s, runs: Int64s, n_queries: int) -> Between:
    """Tell the sum of a count over all queries from that of some, and the run that each is of."""
    n_asked = np.bincount(runs)
    share = n_asked[n_asked > 0] / max(1, n_queries)
    of_runs = np.bincount(runs, counts)[n_asked > 0]
    found = expect_sum(of_runs.tolist(), share.tolist())
    if not found.number and len(counts) < n_queries:
        # With three times as many as that one would have been seen, most likely.
        return Between(0.0, 0.0, 3 * n_queries / max(1, len(counts)))
    return found


def _neighbours(sizes: Int64s, n_groups: int) -> Int64s:
    """Put texts into groups of neighbours, of about as many bytes; which is which is chance."""
    ends = np.cumsum(sizes)
    _, groups = np.unique((ends - 1) * n_groups // max(1, int(sizes.sum())), return_inverse=True)
    order = np.random.default_rng(len(sizes)).permutation(int(groups.max(initial=-1)) + 1)
    return order[groups]


class _InIndex(Bench[tuple[Int64s, Int64s]]):
    """Queries of one collection; what is found are those documents, and what each of them has.

    Where each look-up ``makes_ready`` the index, no group is one document, so that this is not
    taken for what documents take.
    """

    def __init__(self, side: TrialRows, groups: Int64s, count: Count, *, makes_ready: bool) -> None:
        super().__init__([side], [groups])
        self._count, self._makes_ready = count, makes_ready

    def look_up(self, groups: range, *, anew: bool = False) -> tuple[float, tuple[Int64s, Int64s]]:
        """Look some groups up; nothing is forgotten."""
        (chosen,) = self._choose(groups)
        if self._makes_ready and not groups:
            sizes = self._sides[0].sizes
            chosen[np.argsort(sizes)[len(sizes) // 2 : len(sizes) // 2 + 1]] = True
        return self.seconds_of(chosen)

    def seconds_of(self, chosen: Bools) -> tuple[float, tuple[Int64s, Int64s]]:
        """Look some documents up."""
        (side,) = self._sides
        sources = some_rows(side.sources, chosen)
        start = time.process_time()
        counts = [np.empty(0, np.int64), *self._count(sources)]
        seconds = time.process_time() - start
        return seconds, (np.flatnonzero(chosen & side.are_documents), np.concatenate(counts))
