"""Exact joins within a memory budget: records in blocks by extent, of which two are joined at once.

Every two blocks meet once, but for those whose extents, numbers of elements or total weights, are
so far apart that no two of their records are similar. With one block, of all records, it is the
join in memory.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, count
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from neardup.matching.join import (
    BOTH,
    FIRST,
    SECOND,
    Compared,
    Costs,
    FilterCounts,
    Join,
    PartedJoin,
    check_limit,
    salt_sets,
)
from neardup.reading.set_exchange import SetExchange, classes_of
from neardup.runs.arrays import kept_arrays
from neardup.runs.runner import Runner
from neardup.tables import (
    Bytes,
    Floats,
    Int32s,
    Int64s,
    ScoredPairs,
    TokenLists,
    Uint64s,
    offsets_of,
)

if TYPE_CHECKING:
    from neardup.runs.work import Workspace

# The share of the memory that two blocks take that are joined.
_JOIN_SHARE = 0.8


def blocks_for(slots: int) -> int:
    """Return the fewest blocks, at least two, that make so many units to be joined at once."""
    # Of k blocks two and two are joined, one by itself if k is odd, and the others are left.
    return next(k for k in count(2) if k * (k - 1) // 2 + k % 2 >= slots)


class Unit(NamedTuple):
    """What is joined at once: a block or two; of ``are_apart`` blocks only one with the other."""

    blocks: tuple[int, ...]
    are_apart: bool


class RecordSets(NamedTuple):
    """Records whose elements are where the exchange keeps them.

    ``documents`` has the first one of each record, ascending, ``sizes`` and ``extents`` are those
    of the records. With ``keys`` they are only compared with those of equal ones.
    """

    exchange: SetExchange
    documents: Int64s
    sizes: Int64s
    extents: Int64s
    keys: Uint64s | None

    def read(
        self, records: Int64s, runner: Runner, *, are_all: bool
    ) -> tuple[Compared, Uint64s | None]:
        """Return what some records are compared by, sets salted with their keys, and these."""
        documents, sizes, extents = (each[records] for each in self[1:4])
        found = self.exchange.read(documents, sizes, extents, runner, are_all=are_all)
        if self.keys is None:
            return found, None
        keys = self.keys[records]
        return found if isinstance(found, TokenLists) else salt_sets(found, keys), keys


class RecordBlocks:
    """Records in blocks by extent, of which two fit into memory.

    Parameters
    ----------
    sets
        The records.
    order
        Those that have an extent, by its class.
    bounds
        Block k has the records of ``order`` from ``bounds[k]`` to ``bounds[k + 1]``.
    """

    def __init__(self, sets: RecordSets, order: Int32s, bounds: Int64s) -> None:
        self.sets, self._order, self._bounds = sets, order, bounds.tolist()
        self._everything: tuple[Compared, Uint64s | None] | None = None

    @classmethod
    def cut(
        cls,
        sets: RecordSets,
        costs: Costs,
        n_distinct: int,
        workspace: Workspace,
        *,
        least: int = 1,
    ) -> RecordBlocks:
        """Cut records into as few blocks as can be; of all elements so many are different.

        There are about ``least`` blocks, unless there have to be more.
        """
        sizes = sets.sizes
        if sets.keys is not None:
            # What is salted may be another element in every block.
            n_distinct = int(sizes.sum())
        by_class = np.argsort(classes_of(sets.extents).astype(np.int16), kind="stable")
        n_empty = int(np.count_nonzero(sets.extents == 0))
        order: Int32s = by_class[n_empty:].astype(np.int32)

        def cut() -> dict[str, Int64s]:
            return {"bounds": _cut(sizes[order], costs, n_distinct, workspace, least)}

        return cls(sets, order, kept_arrays(workspace, "blocks", cut)["bounds"])

    def units(self, join: PartedJoin) -> list[Unit]:
        """Return what has to be joined for all pairs of a join to be found once."""
        n = len(self._bounds) - 1
        if n == 1:
            return [Unit((0,), False)]
        couples = [tuple(range(k, min(k + 2, n))) for k in range(0, n, 2)]
        ranges = [self._range_of(k) for k in range(n)]
        apart = [
            (i, j)
            for i, j in combinations(range(n), 2)
            if i // 2 != j // 2 and join.may_meet(min(ranges[i][1], ranges[j][0]), ranges[j][0])
        ]
        return [*(Unit(each, False) for each in couples), *(Unit(each, True) for each in apart)]

    def read(
        self, unit: Unit, join: PartedJoin, runner: Runner
    ) -> tuple[Int64s, Bytes, tuple[Compared, Uint64s | None]]:
        """Return the records of a unit, ascending, the part of each, and their sets and keys."""
        records, parts = self.records_of(unit, join)
        if self._everything is not None:
            return records, parts, self._everything
        are_all = len(self._bounds) == 2
        found = self.sets.read(records, runner, are_all=are_all)
        if are_all:
            self._everything = found
        return records, parts, found

    def records_of(self, unit: Unit, join: PartedJoin) -> tuple[Int64s, Bytes]:
        """Return the records of a unit, ascending, and the part of each.

        Of blocks that are apart only those that may have a partner in the other one.
        """
        blocks = [self._block(k) for k in unit.blocks]
        if unit.are_apart:
            (low, most), (least, high) = map(self._range_of, unit.blocks)
            first = low + bisect_left(
                range(low, least), True, key=lambda own: join.may_meet(own, least)
            )
            stop = (most + 1) + bisect_left(
                range(most + 1, high + 1), True, key=lambda own: not join.may_meet(most, own)
            )
            extents = self.sets.extents
            blocks = [
                blocks[0][extents[blocks[0]] >= first],
                blocks[1][extents[blocks[1]] < stop],
            ]
        records = np.concatenate(blocks).astype(np.int64)
        places = np.argsort(records, kind="stable")
        records, is_second = records[places], places >= len(blocks[0])
        return records, np.where(is_second, np.uint8(SECOND), np.uint8(FIRST))

    def _range_of(self, number: int) -> tuple[int, int]:
        """Return the least and the largest extent of a block."""
        extents = self.sets.extents[self._block(number)]
        return int(extents.min()), int(extents.max())

    def _block(self, number: int) -> Int32s:
        return self._order[self._bounds[number] : self._bounds[number + 1]]


def _cut(
    sizes: Int64s, costs: Costs, n_distinct: int, workspace: Workspace, least: int = 1
) -> Int64s:
    """Cut sets, in order, into blocks of which any two fit into memory; into one if all do."""
    n, ends = len(sizes), offsets_of(sizes)
    bounds = [0]

    def cost(stop: int) -> int:
        start = bounds[-1]
        return costs.of(stop - start, int(ends[stop] - ends[start]), n_distinct)

    room = None if workspace.work is None else workspace.share(_JOIN_SHARE)
    if room is not None and least > 1:
        room = min(room, 2 * cost(n) // least)
    if n == 0 or room is None or (least == 1 and cost(n) <= room):
        return np.array([0, n], np.int64)
    while bounds[-1] < n:
        stop = bisect_right(range(bounds[-1] + 1, n + 1), room // 2, key=cost) + bounds[-1]
        bounds.append(max(stop, bounds[-1] + 1))
    return np.array(bounds, np.int64)


def sides_in(unit: Unit, records: Int64s, parts: Bytes, sides: Bytes | None) -> Bytes | None:
    """Return the sides of the records of a unit, which say of blocks that are apart which it is."""
    own = None if sides is None else sides[records]
    if not unit.are_apart:
        return own
    return parts | (np.uint8(BOTH) if own is None else own)


@dataclass(frozen=True)
class BlockedJoin(Join):
    """A join of which two blocks are in memory at once.

    ``whole`` is the join of all records, which has no more of them than their sizes.
    """

    whole: PartedJoin
    blocks: RecordBlocks

    # What a record is, and how similar two are, the whole join says.

    @property
    def score_name(self) -> str | None:  # type: ignore[override]
        """That of the whole join."""
        return self.whole.score_name

    @property
    def is_directed(self) -> bool:
        """Whether the whole join is."""
        return self.whole.is_directed

    @property
    def own_scores(self) -> Int64s:
        """Those of the whole join."""
        return self.whole.own_scores

    @property
    def twins(self) -> Int64s:
        """Those of the whole join."""
        return self.whole.twins

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Return those of the whole join."""
        return self.whole.similarities(pairs)

    def fractions(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s]:
        """Return those of the whole join."""
        return self.whole.fractions(pairs)

    def steps(self) -> Iterator[Self]:
        """Yield blocked joins of the steps of the whole one."""
        for step in self.whole.steps():
            yield replace(self, whole=step)

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, FilterCounts]:
        """Join all units."""
        found, counts = [], [self.counted.none()]
        for number, (pairs, own) in enumerate(self.run_units(0, sides, limit, runner)):
            found.append(pairs)
            counts.append(own)
            check_limit(limit, sum(map(len, found)), (number + 1) / len(self.units))
        pairs = ScoredPairs.joined(found)
        if len(self.units) > 1:
            pairs = pairs.take(pairs.ascending())
        return pairs, FilterCounts.total(counts)

    @property
    def counted(self) -> type[FilterCounts]:
        """What is counted of each unit."""
        return self.whole.counted

    @cached_property
    def units(self) -> list[Unit]:
        """What is joined one after the other."""
        return self.blocks.units(self.whole)

    def run_units(
        self, first: int, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> Iterator[tuple[ScoredPairs, FilterCounts]]:
        """Join the units from this one on; of each pairs are in ascending order."""
        for number in range(first, len(self.units)):
            yield self.run_unit(number, sides, limit, runner)

    def run_unit(
        self,
        number: int,
        sides: Bytes | None,
        limit: int | None,
        runner: Runner,
    ) -> tuple[ScoredPairs, FilterCounts]:
        """Join one of the units; pairs are in ascending order."""
        unit = self.units[number]
        records, parts, (sets, keys) = self.blocks.read(unit, self.whole, runner)
        own_sides = sides_in(unit, records, parts, sides)
        part = runner.of_part(number, len(self.units))
        pairs, counts = self.whole.of(sets, keys).run(own_sides, limit, part)
        return ScoredPairs(records[pairs.left], records[pairs.right], pairs.scores), counts
