"""Exact joins in a memory budget, by pairs of blocks.

Blocks of records are made by extent: the number of elements, or their total weight. Every two
blocks are joined once, unless their extents are far apart. A single block is the join in memory.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, count
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.engine.engine import DOCUMENT, Engine, FactsAndRows, Group, Read, TaskRows
from neardup.files.rows import RowBlock
from neardup.jobs.pairs.pair_plan import PairPlan
from neardup.jobs.pairs.pair_rows import Speller, sides_of
from neardup.kernels.text import shingle_kernels as shingles
from neardup.matching.join import (
    BOTH,
    FIRST,
    SECOND,
    Compared,
    Costs,
    FilterCounts,
    Join,
    salt_sets,
)
from neardup.matching.measures import EditThreshold
from neardup.matching.set_join import SetJoin, WeightedJoin
from neardup.reading.sign import ListedBlock, ReadingPlan, SignedBatches, sign_block
from neardup.runs.exchange import load_or_compute
from neardup.runs.runner import Runner
from neardup.stages.decide import NumberedContents, find_firsts
from neardup.tables import (
    Bools,
    Bytes,
    Int32s,
    Int64s,
    ScoredPairs,
    ShingleSets,
    TokenLists,
    Uint64s,
    WeightedSets,
    cut_runs,
    offsets_of,
)
from neardup.text.shingles import ShingleScheme, digest_sets, digest_token_lists, sets_of_tokens
from neardup.text.weighting import WeightedScheme, digest_weighted_sets, weighted_sets

# Share of the memory for two blocks that are joined.
_JOIN_SHARE = 0.8


class Unit(NamedTuple):
    """One or two blocks joined together, with themselves unless ``are_apart``."""

    blocks: tuple[int, ...]
    are_apart: bool


class RecordSizes(NamedTuple):
    """First documents of records, ascending, with sizes and extents.

    Records with different ``keys`` are not compared. About ``n_distinct`` elements are distinct.
    """

    documents: Int64s
    sizes: Int64s
    extents: Int64s
    keys: Uint64s | None
    n_distinct: int


class RecordBlocks:
    """Records in blocks by extent, any two fitting in memory.

    ``order`` has the records of an extent above 0, sorted by its class; block k has those from
    ``bounds[k]`` to ``bounds[k + 1]``.
    """

    def __init__(self, records: RecordSizes, order: Int32s, bounds: Int64s) -> None:
        self._records, self._order, self._bounds = records, order, bounds.tolist()

    @classmethod
    def cut(cls, records: RecordSizes, costs: Costs, engine: Engine) -> RecordBlocks:
        """Cut records into the fewest blocks that occupy all tasks."""
        sizes, n_distinct = records.sizes, records.n_distinct
        if records.keys is not None:
            # Salted elements may differ in every block.
            n_distinct = int(sizes.sum())
        by_class = np.argsort(classes_of(records.extents).astype(np.int16), kind="stable")
        n_empty = int(np.count_nonzero(records.extents == 0))
        order: Int32s = by_class[n_empty:].astype(np.int32)
        room, at_once = engine.limits.group_bytes, engine.limits.groups_at_once
        # The fewest that occupy all tasks: k blocks make a unit per pair, and one more if k is odd.
        enough = (k for k in count(2) if k * (k - 1) // 2 + k % 2 >= at_once)
        least = 1 if at_once == 1 else next(enough)

        def cut() -> dict[str, Int64s]:
            return {"bounds": _cut(sizes[order], costs, n_distinct, room, least)}

        return cls(records, order, load_or_compute(engine.workspace, "blocks", cut)["bounds"])

    def units(self, join: Join) -> list[Unit]:
        """Return units that cover all pairs of a join once."""
        n = len(self._bounds) - 1
        if n == 1:
            return [Unit((0,), False)]
        # Two neighbours are joined with each other and with themselves, other pairs of blocks only
        # with each other.
        neighbours = [tuple(range(k, min(k + 2, n))) for k in range(0, n, 2)]
        ranges = [self._range_of(k) for k in range(n)]
        apart = [
            (i, j)
            for i, j in combinations(range(n), 2)
            if i // 2 != j // 2 and join.may_match(min(ranges[i][1], ranges[j][0]), ranges[j][0])
        ]
        return [*(Unit(each, False) for each in neighbours), *(Unit(each, True) for each in apart)]

    def records_of(self, unit: Unit, join: Join) -> pa.RecordBatch:
        """Return a unit's records, ascending, with sizes, keys and parts.

        Records of separate blocks are omitted if no record of the other block can be similar.
        """
        numbers, parts = self._numbers_of(unit, join)
        records = self._records
        columns: dict[str, Any] = {
            DOCUMENT: records.documents[numbers],
            "record": numbers,
            "size": records.sizes[numbers],
        }
        if records.extents is not records.sizes:
            columns["extent"] = records.extents[numbers]
        if records.keys is not None:
            columns["key"] = records.keys[numbers]
        if unit.are_apart:
            columns["part"] = parts
        return pa.RecordBatch.from_pydict(columns)

    def _numbers_of(self, unit: Unit, join: Join) -> tuple[Int64s, Bytes]:
        blocks = [self._block(k) for k in unit.blocks]
        if unit.are_apart:
            # Extents of the second block are larger. The first block keeps records that may match
            # the smallest of them, and the second records that may match the largest of the first.
            (first, largest), (smallest, last) = map(self._range_of, unit.blocks)
            start = first + bisect_left(
                range(first, smallest), True, key=lambda own: join.may_match(own, smallest)
            )
            stop = (largest + 1) + bisect_left(
                range(largest + 1, last + 1), True, key=lambda own: not join.may_match(largest, own)
            )
            extents = self._records.extents
            blocks = [
                blocks[0][extents[blocks[0]] >= start],
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
    """Cut ordered sets into ``least`` or more blocks that fit in pairs."""
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
    """Reader of a unit's sets or strings, which keeps those of an only unit."""

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
        """Return sets or strings, and their keys as salts."""
        if self._found is not None:
            return self._found
        # Data in memory do not justify starting threads.
        runner = None if self._is_only else unit.runner
        rows, keys = unit.rows(free_rows=self._is_only), None
        found = self._scheme.read(rows, unit.documents, runner)
        if "key" in unit.documents.schema.names:
            keys = unit.documents["key"].to_numpy()
            found = found if isinstance(found, TokenLists) else salt_sets(found, keys)
        if self._is_only:
            self._found = found, keys
        return found, keys


def _join_unit(
    sets: UnitSets, join: Join, of_all: Bytes | None, limit: int | None, unit: Group
) -> Iterator[FactsAndRows]:
    """Yield a unit's filter counts and ascending pairs."""
    documents = unit.documents
    records = documents["record"].to_numpy()
    sides = None if of_all is None else of_all[records]
    if "part" in documents.schema.names:
        sides = documents["part"].to_numpy() | (np.uint8(BOTH) if sides is None else sides)
    pairs, counts = join.of(*sets.read(unit)).run(sides, limit, unit.runner)
    columns = {
        "left": records[pairs.left],
        "right": records[pairs.right],
        "score": pairs.scores,
    }
    yield list(vars(counts).values()), pa.RecordBatch.from_pydict(columns)


@dataclass(frozen=True)
class BlockedJoin:
    """A join with two blocks in memory at once.

    ``whole`` is the join of all records with only their sizes, which defines similarities; ``rows``
    are grouped by the ``n_units`` units. ``sides`` of all records as of ``Join.run``.
    """

    whole: Join
    sets: UnitSets
    rows: TaskRows
    n_units: int
    sides: Bytes | None

    @classmethod
    def of(
        cls,
        engine: Engine,
        read: Read,
        scheme: SetScheme,
        whole: Join,
        records: RecordSizes,
        sides: Bytes | None,
    ) -> BlockedJoin:
        """Cut records into blocks, and group possibly similar records."""
        blocks = RecordBlocks.cut(records, whole.costs, engine)
        units = blocks.units(whole)
        rows = read.rows.group(len(units), lambda number: blocks.records_of(units[number], whole))
        sets = UnitSets(scheme, is_only=len(units) == 1)
        return cls(whole, sets, rows, len(units), sides)

    def run_units(
        self, first: int, limit: int | None
    ) -> Iterator[tuple[ScoredPairs, FilterCounts]]:
        """Yield the ascending pairs of each unit from ``first`` on."""
        # Tasks do not need the sizes of all records.
        join = self.whole.of(self.sets.none, None)
        joined = self.rows.work(partial(_join_unit, self.sets, join, self.sides, limit))
        for _, made in joined.collect("join", first):
            for counts, batch in made:
                assert batch is not None
                columns = (column.to_numpy() for column in batch.columns)
                yield ScoredPairs(*columns), self.whole.counted(*counts)


# Lower bounds of extent classes: eight per doubling of the extent.
_CLASSES = np.unique((2 ** (np.arange(8 * 62) / 8)).astype(np.int64))

# The class of a weighted set of one shingle: weights are in units of 2^-20.
_FIRST_OF_WEIGHTS = int(np.searchsorted(_CLASSES, 1 << 20))

# Elements that are digested at a time.
_AT_ONCE = 1 << 16

# Elements are hashes; hashes below this, one in so many, are counted.
_ONE_IN = 1 << 12
_COUNTED_BELOW = np.uint64(2**64 // _ONE_IN)


@dataclass(frozen=True)
class SetScheme:
    """Scheme that makes sets, or strings, of the tokens of documents."""

    shingles: ShingleScheme | None
    weighted: WeightedScheme | None = None

    def list_sets(self, block: RowBlock, plan: ReadingPlan) -> ListedBlock:
        """Sign documents of a block, with rows for non-empty sets."""
        parts: list[Compared] = []

        def digest(tokens: TokenLists) -> Uint64s:
            parts.append(self._make(tokens))
            return digest_compared(parts[-1])

        signed = sign_block(block, plan, digest)
        rows, sizes, extents = self._rows_of(parts)
        columns = {"size": sizes}
        if self.weighted is not None:
            columns["extent"] = extents
        values = rows.column("values").values.to_numpy()
        facts = {"sample": values[values < _COUNTED_BELOW].tolist()}
        return signed.adding(columns, facts, rows)

    def sizes(self, signed: SignedBatches, documents: Int64s, n_documents: int) -> RecordSizes:
        """Return the sizes and extents of some of the listed documents."""
        sizes: Int64s = np.empty(n_documents, np.int64)
        extents = sizes if self.weighted is None else np.empty(n_documents, np.int64)
        for start, batch in signed:
            own = slice(start, start + len(batch))
            sizes[own], extents[own] = sizes_of(batch), extents_of(batch)
        sample = {value for facts in signed.facts() for value in facts["sample"]}
        keys = signed.blocking_keys()
        own_sizes = sizes[documents]
        return RecordSizes(
            documents,
            own_sizes,
            own_sizes if extents is sizes else extents[documents],
            None if keys is None else keys[documents],
            _ONE_IN * len(sample),
        )

    def only_sizes(self, sizes: Int64s, extents: Int64s) -> Compared:
        """Return sets or strings without elements, of the given sizes."""
        nothing = np.empty(0, np.uint64)
        starts = np.broadcast_to(np.int64(0), len(sizes))
        if self.shingles is None:
            return TokenLists(nothing, offsets_of(sizes))
        if self.weighted is None:
            return ShingleSets(nothing, starts, sizes)
        return WeightedSets(nothing, nothing.view(np.int64), starts, sizes, extents)

    def read(
        self, rows: Iterable[pa.RecordBatch], unit: pa.RecordBatch, runner: Runner | None
    ) -> Compared:
        """Return the sets or strings of a unit's documents, ignoring other rows."""
        documents = unit[DOCUMENT].to_numpy()
        sizes, extents = sizes_of(unit), extents_of(unit)
        if not len(documents):
            return self.only_sizes(sizes, extents)
        offsets = offsets_of(sizes)
        columns = {"values": np.empty(int(offsets[-1]), np.uint64)}
        if self.weighted is not None:
            columns["weights"] = np.empty(int(offsets[-1]), np.uint64)

        def add(batch: pa.RecordBatch) -> None:
            found = batch[DOCUMENT].to_numpy()
            places = np.minimum(np.searchsorted(documents, found), len(documents) - 1)
            wanted = np.flatnonzero(documents[places] == found)
            places = places[wanted]
            for name, target in columns.items():
                column = batch.column(name)
                starts, values = column.offsets.to_numpy(), column.values.to_numpy()
                shingles.copy_sets(values, starts[wanted], sizes[places], target, offsets[places])

        for _ in map(add, rows) if runner is None else runner.map(add, rows):
            pass
        values = columns["values"]
        if self.shingles is None:
            return TokenLists(values, offsets)
        if self.weighted is None:
            return ShingleSets(values, offsets[:-1], sizes)
        weights = columns["weights"].view(np.int64)
        return WeightedSets(values, weights, offsets[:-1], sizes, extents)

    def _make(self, tokens: TokenLists) -> Compared:
        if self.shingles is None:
            return tokens
        if self.weighted is None:
            return sets_of_tokens(tokens, self.shingles)
        return weighted_sets(tokens, self.shingles, self.weighted)

    def _rows_of(self, parts: Sequence[Compared]) -> tuple[pa.RecordBatch, Int64s, Int64s]:
        """Return rows by class of extent, and sizes and extents."""
        none = np.empty(0, np.int64)
        extents = np.concatenate([none, *(part.totals for part in parts)])
        sizes = np.concatenate([none, *(part.sizes for part in parts)])
        # An empty set is similar to nothing.
        documents = np.flatnonzero(extents > 0)
        classes = classes_of(extents[documents]).astype(np.uint16)
        documents = documents[np.argsort(classes, kind="stable")]
        offsets = offsets_of(sizes[documents])
        starts: Int64s = np.zeros(len(extents), np.int64)
        starts[documents] = offsets[:-1]
        sizes = np.where(extents > 0, sizes, 0)
        columns = {DOCUMENT: documents}
        if self.weighted is not None:
            columns["extent"] = extents[documents]
        for name, column in self._columns(parts):
            values: Uint64s = np.empty(int(offsets[-1]), np.uint64)
            stop = 0
            for part, own in zip(parts, column, strict=True):
                start, stop = stop, stop + len(part)
                where = slice(start, stop)
                shingles.copy_sets(own, part.starts, sizes[where], values, starts[where])
            columns[name] = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))
        return pa.RecordBatch.from_pydict(columns), sizes, extents

    def _columns(self, parts: Sequence[Compared]) -> Iterator[tuple[str, list[Uint64s]]]:
        yield "values", [part.values for part in parts]
        if self.weighted is not None:
            weights = (part.weights for part in parts if isinstance(part, WeightedSets))
            yield "weights", [own.view(np.uint64) for own in weights]


def route_by_extent(rows: pa.RecordBatch, n_partitions: int) -> Int64s:
    """Return the partitions of documents, in order of their extents."""
    classes = classes_of(extents_of(rows))
    if "extent" in rows.schema.names:
        classes -= _FIRST_OF_WEIGHTS
    partitions: Int64s = np.clip(classes, 0, n_partitions - 1)
    return partitions


def classes_of(extents: Int64s) -> Int64s:
    """Return the class of each extent, or -1 for 0."""
    classes: Int64s = np.searchsorted(_CLASSES, extents, side="right") - 1
    return classes


def sizes_of(rows: pa.RecordBatch) -> Int64s:
    """Return the number of elements of each document."""
    sizes: Int64s
    if "size" in rows.schema.names:
        sizes = rows["size"].to_numpy()
    else:
        sizes = np.diff(rows.column("values").offsets.to_numpy())
    return sizes


def extents_of(rows: pa.RecordBatch) -> Int64s:
    """Return the extent of documents: number of elements, or weight."""
    if "extent" not in rows.schema.names:
        return sizes_of(rows)
    extents: Int64s = rows["extent"].to_numpy()
    return extents


def digest_compared(compared: Compared) -> Uint64s:
    """Digest sets or strings to 128 bits each, shape (n, 2)."""
    if isinstance(compared, TokenLists):
        return digest_token_lists(compared)
    digests: Uint64s = np.empty((len(compared), 2), np.uint64)
    for start, stop in cut_runs(compared.sizes, _AT_ONCE):
        own = compared.take(np.arange(start, stop))
        if isinstance(own, ShingleSets):
            digests[start:stop] = digest_sets(own)
        else:
            digests[start:stop] = digest_weighted_sets(own)
    return digests


@dataclass(frozen=True)
class PairContents(NumberedContents):
    """Documents of one collection, or two, the left one first."""

    @property
    def n_left(self) -> int | None:
        """Number of left documents, None for a self-join."""
        return None if len(self.catalogues) == 1 else len(self.catalogues[0])

    @property
    def are_shared(self) -> Bools:
        """Documents of contents that other documents have, too."""
        shared: Bools = self.is_content & (
            np.bincount(self.firsts[self.firsts >= 0], minlength=len(self.firsts)) > 1
        )
        return shared


def find_pair_contents(read: Read) -> PairContents:
    """Find the first document of each content."""
    return PairContents(read.catalogues, find_firsts(read, None))


class Records(NamedTuple):
    """Join of records, with the record of each document, or -1."""

    join: BlockedJoin
    speller: Speller
    of_documents: Int64s


def scheme_of(plan: PairPlan) -> SetScheme:
    """Return the scheme that turns documents' tokens into compared sets."""
    # Weighing may wait for the document frequencies.
    if plan.of_sets is None:
        return SetScheme(None)
    return SetScheme(plan.reading.shingles, plan.reading.weighted)


def make_records(engine: Engine, read: Read, plan: PairPlan) -> Records:
    """Make the records of all documents, sets or strings."""
    scheme = scheme_of(plan)
    contents = find_pair_contents(read)
    documents = np.flatnonzero(contents.is_content)
    of_documents = contents.places_of(documents)[contents.firsts]
    of_documents[contents.firsts < 0] = -1
    records = scheme.sizes(read.signed, documents, len(of_documents))
    whole = _join_of(scheme.only_sizes(records.sizes, records.extents), plan)
    speller = Speller.of(whole, of_documents, contents.n_left)
    sides = sides_of(of_documents, contents.n_left, len(documents))
    join = BlockedJoin.of(engine, read, scheme, whole, records, sides)
    return Records(join, speller, of_documents)


def _join_of(sets: Compared, plan: PairPlan) -> Join:
    measure, algorithm = plan.measure, plan.algorithm
    if isinstance(measure, EditThreshold):
        # RapidFuzz is loaded for edit distances alone.
        from neardup.matching.edit_join import EditJoin

        assert isinstance(sets, TokenLists)
        return EditJoin(sets, measure, plan.options.ngram, algorithm)
    if isinstance(sets, WeightedSets):
        return WeightedJoin(sets, measure)
    assert isinstance(sets, ShingleSets)
    return SetJoin(sets, measure, algorithm)
