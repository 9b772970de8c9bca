"""Exact joins within a memory budget: blocks of records by extent, joined in pairs.

Every two blocks are joined once, unless their extents (numbers of elements or total weights) are so
far apart that no two of their records are similar. A single block of all records is the join in
memory.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, count
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from neardup.engine.engine import DOCUMENT, Engine, Given, Group, Read, Rows
from neardup.jobs.pairs.sets import SetScheme, classes_of
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
from neardup.reading.sign import numbers_of
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
    import pyarrow as pa

# Share of the memory for two blocks that are joined.
_JOIN_SHARE = 0.8


def blocks_for(slots: int) -> int:
    """Return the fewest blocks, at least two, that make ``slots`` units of work."""
    # Units of k blocks: pairs, and a single one if k is odd.
    return next(k for k in count(2) if k * (k - 1) // 2 + k % 2 >= slots)


class Unit(NamedTuple):
    """One or two blocks that are joined together.

    Two blocks that ``are_apart`` are joined with each other only, not with themselves.
    """

    blocks: tuple[int, ...]
    are_apart: bool


class RecordSizes(NamedTuple):
    """First document of each record, ascending, with sizes and extents of records.

    Records with different ``keys`` are not compared. About ``n_distinct`` elements are distinct.
    """

    documents: Int64s
    sizes: Int64s
    extents: Int64s
    keys: Uint64s | None
    n_distinct: int


class RecordBlocks:
    """Records in blocks by extent; any two blocks fit into memory.

    Parameters
    ----------
    records
        All records.
    order
        The numbers of the records with an extent, by its class.
    bounds
        Block k has the records of ``order`` from ``bounds[k]`` to ``bounds[k + 1]``.
    """

    def __init__(self, records: RecordSizes, order: Int32s, bounds: Int64s) -> None:
        self._records, self._order, self._bounds = records, order, bounds.tolist()

    @classmethod
    def cut(cls, records: RecordSizes, costs: Costs, engine: Engine) -> RecordBlocks:
        """Cut records into the fewest blocks that fit and occupy all tasks of an engine."""
        sizes, n_distinct = records.sizes, records.n_distinct
        if records.keys is not None:
            # Salted elements may differ in every block.
            n_distinct = int(sizes.sum())
        by_class = np.argsort(classes_of(records.extents).astype(np.int16), kind="stable")
        n_empty = int(np.count_nonzero(records.extents == 0))
        order: Int32s = by_class[n_empty:].astype(np.int32)
        room = engine.group_bytes
        least = 1 if engine.groups_at_once == 1 else blocks_for(engine.groups_at_once)

        def cut() -> dict[str, Int64s]:
            return {"bounds": _cut(sizes[order], costs, n_distinct, room, least)}

        return cls(records, order, kept_arrays(engine.workspace, "blocks", cut)["bounds"])

    def units(self, join: PartedJoin) -> list[Unit]:
        """Return the units that cover all pairs of a join once."""
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

    def records_of(self, unit: Unit, join: PartedJoin) -> pa.RecordBatch:
        """Return the records of a unit in ascending order, with their sizes, keys and parts.

        Records of separate blocks are omitted if no record of the other block can be similar.
        """
        import pyarrow as pa

        numbers, parts = self._numbers_of(unit, join)
        known = self._records
        columns: dict[str, Any] = {
            DOCUMENT: known.documents[numbers],
            "record": numbers,
            "size": known.sizes[numbers],
        }
        if known.extents is not known.sizes:
            columns["extent"] = known.extents[numbers]
        if known.keys is not None:
            columns["key"] = known.keys[numbers]
        if unit.are_apart:
            columns["part"] = parts
        return pa.RecordBatch.from_pydict(columns)

    def _numbers_of(self, unit: Unit, join: PartedJoin) -> tuple[Int64s, Bytes]:
        """Return the numbers of the records of a unit, ascending, and the part of each."""
        blocks = [self._block(k) for k in unit.blocks]
        if unit.are_apart:
            (low, most), (least, high) = map(self._range_of, unit.blocks)
            first = low + bisect_left(
                range(low, least), True, key=lambda own: join.may_meet(own, least)
            )
            stop = (most + 1) + bisect_left(
                range(most + 1, high + 1), True, key=lambda own: not join.may_meet(most, own)
            )
            extents = self._records.extents
            blocks = [
                blocks[0][extents[blocks[0]] >= first],
                blocks[1][extents[blocks[1]] < stop],
            ]
        records = np.concatenate(blocks).astype(np.int64)
        places = np.argsort(records, kind="stable")
        records, is_second = records[places], places >= len(blocks[0])
        return records, np.where(is_second, np.uint8(SECOND), np.uint8(FIRST))

    def _range_of(self, number: int) -> tuple[int, int]:
        extents = self._records.extents[self._block(number)]
        return int(extents.min()), int(extents.max())

    def _block(self, number: int) -> Int32s:
        return self._order[self._bounds[number] : self._bounds[number + 1]]


def _cut(sizes: Int64s, costs: Costs, n_distinct: int, n_bytes: int | None, least: int) -> Int64s:
    """Cut ordered sets into blocks so that any two fit into memory.

    There are at least about ``least`` blocks.
    """
    n, ends = len(sizes), offsets_of(sizes)
    bounds = [0]

    def cost(stop: int) -> int:
        start = bounds[-1]
        return costs.of(stop - start, int(ends[stop] - ends[start]), n_distinct)

    room = None if n_bytes is None else max(1, int(n_bytes * _JOIN_SHARE))
    if room is not None and least > 1:
        room = min(room, 2 * cost(n) // least)
    if n == 0 or room is None or (least == 1 and cost(n) <= room):
        return np.array([0, n], np.int64)
    while bounds[-1] < n:
        stop = bisect_right(range(bounds[-1] + 1, n + 1), room // 2, key=cost) + bounds[-1]
        bounds.append(max(stop, bounds[-1] + 1))
    return np.array(bounds, np.int64)


class UnitSets:
    """Reader of a unit's sets or strings, which caches a single unit."""

    def __init__(self, scheme: SetScheme, *, is_only: bool) -> None:
        self._scheme, self._is_only = scheme, is_only
        self._found: tuple[Compared, Uint64s | None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Omit the sets, which another process reads itself."""
        return {**vars(self), "_found": None}

    @property
    def none(self) -> Compared:
        """No sets, or no strings."""
        return self._scheme.only_sizes(np.empty(0, np.int64), np.empty(0, np.int64))

    def read(self, unit: Group) -> tuple[Compared, Uint64s | None]:
        """Return the sets or strings of the records, and their keys as salts of sets."""
        if self._found is not None:
            return self._found
        # Data in memory do not justify starting threads.
        runner = None if self._is_only else unit.runner
        found, keys = self._scheme.read(unit.rows(let_go=self._is_only), unit.known, runner), None
        if "key" in unit.known.schema.names:
            keys = numbers_of(unit.known, "key")
            found = found if isinstance(found, TokenLists) else salt_sets(found, keys)
        if self._is_only:
            self._found = found, keys
        return found, keys


class UnitJoin(NamedTuple):
    """Join of a unit's records; ``sides`` are the sides of all records, if there are two."""

    sets: UnitSets
    join: PartedJoin
    sides: Bytes | None
    limit: int | None

    def run(self, unit: Group) -> Iterator[Given]:
        """Yield the counts of the filters, and the pairs in ascending order."""
        import pyarrow as pa

        known = unit.known
        records = numbers_of(known, "record")
        sides = None if self.sides is None else self.sides[records]
        if "part" in known.schema.names:
            sides = numbers_of(known, "part") | (np.uint8(BOTH) if sides is None else sides)
        sets, keys = self.sets.read(unit)
        pairs, counts = self.join.of(sets, keys).run(sides, self.limit, unit.runner)
        columns = {
            "left": records[pairs.left],
            "right": records[pairs.right],
            "score": pairs.scores,
        }
        yield list(vars(counts).values()), pa.RecordBatch.from_pydict(columns)


@dataclass(frozen=True)
class BlockedJoin(Join):
    """A join with two blocks in memory at once, in this process or in a task.

    ``whole`` is the join of all records with only their sizes; ``rows`` are grouped by the
    ``n_units`` units. Steps with higher thresholds join the same units, because any two similar
    records are in one.
    """

    engine: Engine
    whole: PartedJoin
    sets: UnitSets
    rows: Rows
    n_units: int

    @classmethod
    def of(
        cls, engine: Engine, read: Read, scheme: SetScheme, whole: PartedJoin, records: RecordSizes
    ) -> BlockedJoin:
        """Cut records into blocks, and group any two that may have similar records."""
        blocks = RecordBlocks.cut(records, whole.costs, engine)
        units = blocks.units(whole)
        rows = engine.group(
            read, len(units), lambda number: blocks.records_of(units[number], whole)
        )
        return cls(engine, whole, UnitSets(scheme, is_only=len(units) == 1), rows, len(units))

    # The whole join defines records and similarities.

    @property
    def score_name(self) -> str | None:  # type: ignore[override]
        """The whole join's name."""
        return self.whole.score_name

    @property
    def is_directed(self) -> bool:
        """Whether the whole join is directed."""
        return self.whole.is_directed

    @property
    def own_scores(self) -> Int64s:
        """The whole join's scores."""
        return self.whole.own_scores

    @property
    def twins(self) -> Int64s:
        """The whole join's twins."""
        return self.whole.twins

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Return the whole join's similarities."""
        return self.whole.similarities(pairs)

    def fractions(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s]:
        """Return the whole join's fractions."""
        return self.whole.fractions(pairs)

    def steps(self) -> Iterator[Self]:
        """Yield blocked joins for the steps of the whole join."""
        for step in self.whole.steps():
            yield replace(self, whole=step)

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, FilterCounts]:
        """Join all units."""
        found, counts = [], [self.counted.none()]
        for number, (pairs, own) in enumerate(self.run_units(0, sides, limit)):
            found.append(pairs)
            counts.append(own)
            check_limit(limit, sum(map(len, found)), (number + 1) / self.n_units)
        pairs = ScoredPairs.joined(found)
        if self.n_units > 1:
            pairs = pairs.take(pairs.ascending())
        return pairs, FilterCounts.total(counts)

    @property
    def counted(self) -> type[FilterCounts]:
        """Type of the counts per unit."""
        return self.whole.counted

    def run_units(
        self, first: int, sides: Bytes | None, limit: int | None
    ) -> Iterator[tuple[ScoredPairs, FilterCounts]]:
        """Join the units from ``first`` on, and yield the pairs of each in ascending order."""
        # Tasks do not need the sizes of all records.
        join = self.whole.of(self.sets.none, None)
        joined = self.engine.work(self.rows, UnitJoin(self.sets, join, sides, limit).run)
        for _, made in self.engine.collect(joined, "join", first):
            for counts, batch in made:
                assert batch is not None
                yield ScoredPairs(*map(_numbers, batch.columns)), self.counted(*counts)


def _numbers(column: pa.Array) -> Int64s:
    numbers: Int64s = column.to_numpy()
    return numbers
