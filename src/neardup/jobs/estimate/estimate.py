"""``estimate``: similarities of documents from their sketches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.id_table import IdTable
from neardup.files.ids import as_text
from neardup.files.passes import ReadingPass
from neardup.files.rows import RowBlock, Source
from neardup.matching.join import check_limit
from neardup.options.choices import Data
from neardup.options.groups import WorkerOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import argument, no_effect, takes
from neardup.options.sketches import EstimateOptions
from neardup.options.together import RunArgument
from neardup.outputs.summary_file import resolve_tables
from neardup.results import TableResult
from neardup.runs.progress import counted
from neardup.runs.runner import Runner, release_memory
from neardup.sketches.kind import (
    AnyKind,
    Pairs,
    Wanted,
    count_pairs,
    count_pairs_up_to,
    cut_pairs,
    list_pairs,
)
from neardup.sketches.registry import KIND_NAMES, kind_named, kind_of, kinds_with
from neardup.sketches.super_shingles import SuperShingleRule, SuperShingles
from neardup.sketches.table_format import BlockPlaces
from neardup.stages.pair_ids import ID_COLUMNS, READING_PAIRS, check_columns, read_ids
from neardup.stages.sketches import (
    Sketches,
    SketchParts,
    bytes_to_read,
    check_same_scheme,
    check_whole,
    known_digests,
)
from neardup.stages.workspaces import memory_budget
from neardup.tables import Int64s, Rows

if TYPE_CHECKING:
    from neardup.outputs.summary_records import EstimateSummary

# The sketches that are compared: all pairs of one collection or two, or pairs of a table.


@dataclass(frozen=True)
class ListedPairs(Rows):
    """Pairs that a table lists, in its order, by the rows of their sketches on either side."""

    left: Int64s
    right: Int64s

    def numbers_in(self, left: range, right: range) -> Int64s:
        """Return which pairs are of some consecutive rows of either side."""
        is_here = (self.left >= left.start) & (self.left < left.stop)
        is_here &= (self.right >= right.start) & (self.right < right.stop)
        return np.flatnonzero(is_here)


def read_listed_pairs(pairs: Any, ids: tuple[pa.Array, pa.Array], runner: Runner) -> ListedPairs:
    """Read pairs, ids as rows of sketches, in the order of their table.

    Parameters
    ----------
    pairs
        A file or its URL, or what holds rows: ``id_a``, ``id_b``, and columns that do not matter.
    ids
        Those of the sketches that may be on either side.
    runner
        Reads, and reports that as the stage ``pairs``.
    """
    name = str(pairs) if isinstance(pairs, str | Path) else "the table of pairs"
    known = tuple(IdTable(as_text(of_side)) for of_side in ids)

    def read(_: Source, block: RowBlock) -> Pairs:
        table = block.to_table()
        check_columns(table, ID_COLUMNS, name)
        left, right = (
            _find(as_text(read_ids(table, column, name)), table_of_ids, column, name)
            for column, table_of_ids in zip(ID_COLUMNS, known, strict=True)
        )
        return left, right

    sources = resolve_tables(pairs)
    nothing: Int64s = np.empty(0, np.int64)
    parts = [(nothing, nothing)]
    parts += [part for _, part in ReadingPass(READING_PAIRS, sources, runner).map(read, sources)]
    left, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return ListedPairs(left, right)


def _find(ids: pa.Array, known: IdTable, column: str, name: str) -> Int64s:
    places = known.find(ids)
    if (places < 0).any():
        missing = ids.filter(pa.array(places < 0)).unique()
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        message = (
            f"{name}: there is no sketch of {column} {missing[0].as_py()!r}{more}; id_a is of the "
            "first sketches, and id_b of the second ones if there are two collections"
        )
        raise InvalidInputError(message)
    return places


# Where nothing is asked of pairs all are estimated; more than these are hardly wanted.
MOST_PAIRS = 20_000_000


def check_number(n_pairs: int, limit: int | None) -> None:
    """Raise if pairs of which nothing is asked are too many.

    Raises
    ------
    ResultLimitError, InvalidParameterError
        At more than ``limit``, or than anybody may have.
    """
    check_limit(limit, n_pairs)
    if n_pairs > MOST_PAIRS:
        message = f"{n_pairs:,} pairs; give a threshold, {MOST_PAIRS:,} can be had without"
        raise InvalidParameterError(message, "threshold")


@dataclass(frozen=True)
class AskedPairs:
    """Pairs of rows to be estimated, some at a time: ``n_all``, or no more than that.

    ``count_up_to`` counts the pairs whose first row is not behind a row, those included that are
    not estimated; None where all are.
    """

    parts: Iterator[Pairs]
    n_all: int
    count_up_to: Callable[[int], int] | None = None


@dataclass(frozen=True)
class Collection:
    """All sketches in one table; the first ``n_left`` are one side, None where there is one."""

    kind: AnyKind
    left_ids: pa.Array
    right_ids: pa.Array
    # Of the type that the kind says; only the kind looks into it.
    rows: Any
    digests: pa.Array
    n_left: int | None
    left_blocks: BlockPlaces | None
    right_blocks: BlockPlaces | None
    # Whether both sides are of one collection, so that blocks of one document may meet.
    is_one: bool

    @classmethod
    def of(cls, own: Sketches, others: Sketches | None, *, is_one: bool) -> Collection:
        """Put two collections, or two parts of one, into one, if there are two."""
        kind = kind_of(own.scheme)
        if others is None:
            digests = known_digests(own)
            ids, blocks = own.ids, own.blocks
            return cls(kind, ids, ids, own.rows, digests, None, blocks, blocks, is_one)
        rows = kind.join_rows([own.rows, others.rows])
        digests = pa.concat_arrays([known_digests(own), known_digests(others)])
        sides = own.ids, others.ids
        blocks_of_sides = own.blocks, others.blocks
        return cls(kind, *sides, rows, digests, len(own), *blocks_of_sides, is_one)

    def is_directed(self, wanted: Wanted) -> bool:
        """Whether one row with another is another pair than the other way round."""
        return self.n_left is None and wanted.measure in self.kind.directed_measures

    def pairs(
        self, wanted: Wanted, alike: SuperShingles | None, limit: int | None, runner: Runner
    ) -> AskedPairs:
        """Return all pairs that may be wanted, in ascending order."""
        n, n_left, is_directed = len(self.rows), self.n_left, self.is_directed(wanted)
        if alike is not None:
            parts = cut_pairs(*alike.join(n_left, runner))
        elif wanted.is_restricted:
            parts = self.kind.candidates(
                self.rows, wanted, n_left=n_left, limit=limit, runner=runner
            )
        else:
            parts = list_pairs(n, n_left)
        return AskedPairs(
            self._of_different_documents(parts),
            count_pairs(n, n_left, is_directed=is_directed),
            lambda row: count_pairs_up_to(row, n, n_left, is_directed=is_directed),
        )

    def _of_different_documents(self, parts: Iterator[Pairs]) -> Iterator[Pairs]:
        """Leave out pairs of blocks of one document."""
        if not self.is_one or self.left_blocks is None:
            yield from parts
            return
        sides = [self.left_ids] if self.n_left is None else [self.left_ids, self.right_ids]
        owners = pa.concat_arrays(sides).dictionary_encode().indices.to_numpy()
        for left, right in parts:
            differ = owners[left] != owners[right]
            yield left[differ], right[differ]

    def starts(self, rows: Int64s) -> Int64s:
        """Return where the blocks of some rows begin in their documents, 0 for whole ones."""
        starts: Int64s = np.zeros(len(rows), np.int64)
        n_left = len(self.left_ids)
        if self.left_blocks is not None:
            is_left = rows < n_left
            starts[is_left] = self.left_blocks.starts[rows[is_left]]
        if self.right_blocks is not None and self.n_left is not None:
            is_right = rows >= n_left
            starts[is_right] = self.right_blocks.starts[rows[is_right] - n_left]
        return starts

    def exact_copies(self, left: Int64s, right: Int64s) -> pa.Array:
        """Return which pairs are exact copies, null if not known; an empty document is none."""
        of_left, of_right = (self.digests.take(pa.array(rows)) for rows in (left, right))
        is_filled = pa.array(self.kind.count_elements(self.rows)[left] != 0)
        return pc.and_(pc.equal(of_left, of_right), is_filled)

    def name_pairs(self, table: pa.Table) -> pa.Table:
        """Return a table with the ids of the pairs in place of their rows."""
        first_right = pa.scalar(self.n_left or 0, pa.int64())
        left = table["left"].combine_chunks()
        right = pc.subtract(table["right"], first_right).combine_chunks()
        columns = {"id_a": self.left_ids.take(left), "id_b": self.right_ids.take(right)}
        sides = (("a", self.left_blocks, left), ("b", self.right_blocks, right))
        for side, blocks, rows in sides:
            if blocks is not None:
                places = blocks.take(rows.to_numpy())
                columns[f"start_{side}"] = pa.array(places.starts)
                columns[f"end_{side}"] = pa.array(places.ends)
        estimates = table.drop_columns(["left", "right"])
        return pa.table(columns | dict(zip(estimates.column_names, estimates.columns, strict=True)))


@dataclass(frozen=True)
class FoundPairs:
    """Estimates of pairs that are wanted, by rows ``left`` and ``right``, and counts of all.

    ``last`` is the first row of the last pair that was estimated, -1 for none.
    """

    table: pa.Table
    n_pairs: int
    n_unusable: int
    last: int


def estimate_pairs(
    collection: Collection,
    asked: AskedPairs,
    wanted: Wanted,
    alike: SuperShingles | None,
    runner: Runner,
    passed: Callable[[int, int], None],
) -> FoundPairs:
    """Estimate pairs, and keep those that are wanted, and ``alike`` by super-shingles if asked.

    ``passed`` is called with how many were passed and found so far.
    """

    def work(pairs: Pairs) -> FoundPairs:
        left, right = pairs
        found = collection.kind.estimate(collection.rows, left, right)
        columns = {"left": pa.array(left), "right": pa.array(right), **found.columns}
        columns["exact_copy"] = collection.exact_copies(left, right)
        meets = found.meeting(wanted)
        if alike is not None:
            agreements = alike.count(left, right)
            columns["super_shingles"] = pa.array(agreements)
            meets &= agreements >= alike.rule.least
        table = pa.table(columns).filter(pa.array(meets))
        n_unusable = int((~found.of(wanted.measure).is_usable).sum())
        return FoundPairs(table, len(found), n_unusable, int(left[-1]) if len(left) else -1)

    nothing: Int64s = np.empty(0, np.int64)
    tables = [work((nothing, nothing)).table]
    n_found = n_unusable = n_pairs = 0
    for part in runner.map(work, asked.parts):
        tables.append(part.table)
        n_found += len(part.table)
        n_unusable += part.n_unusable
        n_pairs += part.n_pairs
        passed(n_pairs if asked.count_up_to is None else asked.count_up_to(part.last), n_found)
    passed(asked.n_all, n_found)
    return FoundPairs(pa.concat_tables(tables), n_pairs, n_unusable, -1)


def add_places(table: pa.Table, collection: Collection) -> pa.Table:
    """Add to pairs of rows where the shorter text may lie; null where there is no estimate."""
    is_known = table["similarity"].is_valid().to_numpy()
    left, right = (np.array(table[name].to_numpy(), np.int64) for name in ("left", "right"))
    left, right = left[is_known], right[is_known]
    found = collection.kind.places(collection.rows, left, right)
    is_left = np.array(found["inner"].to_pylist(), np.object_) == "a"
    starts = pa.array(collection.starts(np.where(is_left, right, left)))
    for name in ("place_start", "place_end"):
        found[name] = pc.add(found[name], starts)
    numbers = pa.array(np.cumsum(is_known) - 1, mask=~is_known)
    for name, column in found.items():
        table = table.append_column(name, column.take(numbers))
    return table


# Parts of files, of which two are in memory at a time.

# Bytes that are taken for each byte of sketches that are held as a whole, and for each byte of a
# part of a file: two of them, joined, and one that is being read.
_HELD_OF_ALL, _HELD_OF_PART = 4, 6


@dataclass(frozen=True)
class Couple:
    """One part, or one of either side, and the rows of each side that these are.

    ``n_short`` counts the short sketches in parts that no earlier couple has.
    """

    collection: Collection
    left: range
    right: range
    n_short: int

    def listed(self, pairs: ListedPairs) -> tuple[AskedPairs, Int64s]:
        """Return those of listed pairs that it has, in their order, and their numbers."""
        numbers = pairs.numbers_in(self.left, self.right)
        left, right = pairs.left[numbers] - self.left.start, pairs.right[numbers] - self.right.start
        parts = cut_pairs(left, right + (self.collection.n_left or 0))
        return AskedPairs(parts, len(numbers)), numbers


def couple_parts(
    sides: Sequence[SketchParts],
    *,
    both_ways: bool,
    is_wanted: Callable[[range, range], bool] = lambda *_: True,
) -> Iterator[Couple]:
    """Yield parts in couples, so that each pair of one collection, or of two, is in one of them.

    Of one collection a pair whose rows are in different parts comes ``both_ways`` round if that is
    asked. Of couples that are not wanted, by their rows, no second part is read but to be counted.
    """
    own, others = sides[0], sides[-1]
    is_one = len(sides) == 1
    for number, rows in enumerate(own.rows):
        left = own.part(number)
        kind = kind_of(left.scheme)
        n_short = kind.count_short(left.rows)
        if is_one:
            yield Couple(Collection.of(left, None, is_one=True), rows, rows, n_short)
            n_short = 0
        for other in range(number + 1 if is_one else 0, len(others.rows)):
            of_other = others.rows[other]
            ways = [(rows, of_other), (of_other, rows)][: 1 + (is_one and both_ways)]
            # Each part is counted once: the other ones beside the first, and one that no pair
            # wants beside the last.
            is_new = not is_one and number == 0
            is_due = n_short > 0 and other == len(others.rows) - 1
            if not is_new and not is_due and not any(is_wanted(*way) for way in ways):
                continue
            right = others.part(other)
            if is_new:
                n_short += kind.count_short(right.rows)
            yield Couple(Collection.of(left, right, is_one=is_one), *ways[0], n_short)
            n_short = 0
            for way in ways[1:]:
                yield Couple(Collection.of(right, left, is_one=True), *way, 0)
            # It would stay beside the next one.
            del right


def make_wanted(
    kind: AnyKind,
    *,
    measure: str | None,
    threshold: str | float | Decimal | Fraction | None,
    min_significance: float | None,
) -> Wanted:
    """Check which pairs are wanted.

    Raises
    ------
    InvalidParameterError
        For a measure or a significance that the kind does not estimate, a measure without a
        threshold, and a threshold that is out of range.
    """
    if measure is not None and measure not in kind.measures:
        kinds = [name for name in KIND_NAMES if measure in kind_named(name).measures]
        message = (
            f"measure {measure} needs sketches of kind {' or '.join(kinds)}, got {kind.name}; "
            f"choose {' or '.join(kind.measures)}, or make such sketches"
        )
        raise InvalidParameterError(message, "measure")
    if measure is not None and threshold is None:
        raise no_effect("measure", "without threshold", "give threshold", "threshold")
    if min_significance is not None:
        check_feature(kind, "has_significance", "min_significance")
    least = None if threshold is None else exact_fraction("threshold", threshold)
    return Wanted(least, measure, min_significance)


def make_rule(
    kind: AnyKind, *, least: int | None, groups: int | None, rows: int | None
) -> SuperShingleRule | None:
    """Check how many super-shingles pairs have in common; None if that is not asked.

    Raises
    ------
    InvalidParameterError
        For kinds without, options without effect, and more min-hashes than sketches have.
    """
    if least is None:
        for name, value in (("bands", groups), ("rows", rows)):
            if value is not None:
                raise no_effect(
                    name, "without super_shingles", "give super_shingles", "super_shingles"
                )
        return None
    check_feature(kind, "has_super_shingles", "super_shingles", "need")
    usual = SuperShingleRule()
    groups, rows = groups or usual.groups, rows or usual.rows
    if least > groups:
        message = f"super_shingles must lie between 1 and the {groups} bands, got {least}"
        raise InvalidParameterError(message, "super_shingles")
    n_values = kind.scheme.num_perm
    if groups * rows > n_values:
        message = (
            f"bands * rows must be at most the {n_values} min-hashes of a sketch, got {groups} * "
            f"{rows}; make sketches with a larger num_perm, or give less bands or rows"
        )
        raise InvalidParameterError(message, "bands", "rows", "num_perm")
    return SuperShingleRule(groups, rows, least)


def check_feature(kind: AnyKind, feature: str, option: str, verb: str = "needs") -> None:
    """Raise unless a kind of sketches has what an option needs.

    Raises
    ------
    InvalidParameterError
        Naming the kinds that have it.
    """
    if not getattr(kind, feature):
        message = (
            f"{option} {verb} sketches of kind {kinds_with(feature)}, got {kind.name}; leave "
            f"out {option}, or make such sketches"
        )
        raise InvalidParameterError(message, option)


@dataclass(frozen=True, repr=False)
class EstimateResult(TableResult):
    """Pairs of documents and what their sketches say of them.

    ``pairs`` has ``id_a``, ``id_b`` and the estimates with standard errors and 95 % intervals, by
    kind; null where the samples are not enough. ``summary`` has the counts.
    """

    _rows_are = "pairs"

    pairs: pa.Table
    summary: EstimateSummary

    @property
    def table(self) -> pa.Table:
        """The pairs."""
        return self.pairs

    def headline(self) -> str:
        """Return kind and number of pairs."""
        return f"{self.summary['kind']}: {counted(len(self.pairs), 'pair')}"

    def _chart(self) -> str:
        from neardup.reports.notebook import similarities_in_notebook

        parts = [self.pairs["similarity"]]
        return similarities_in_notebook(parts, self.summary["threshold"], "pairs")


class _Arguments(EstimateOptions, WorkerOptions, RunArgument, kw_only=False):
    sketches: Sketches | str | Path = argument("From ``sketch``, or the path of a file of them.")
    other: Sketches | str | Path | None = argument(
        "More, made by the same scheme: pairs are of one document of each. None: all pairs "
        "within ``sketches``.",
        default=None,
    )
    pairs: Data | None = argument(
        "Only these, in their order: a table with columns ``id_a`` and ``id_b``, as a path or "
        "in any form that documents may have. ``id_a`` is of ``sketches``, ``id_b`` of "
        "``other`` if that is given.",
        default=None,
    )


@dataclass(frozen=True)
class _Found:
    """Pairs with their ids, and counts."""

    table: pa.Table
    n_pairs: int
    n_unusable: int
    n_short: int


def _find_pairs(
    given: _Arguments,
    sides: Sequence[SketchParts],
    wanted: Wanted,
    rule: SuperShingleRule | None,
    runner: Runner,
) -> _Found:
    """Estimate the pairs of all parts, or those that are listed, and sort them."""
    n_rows, limit = [len(side) for side in sides], given.limit
    n_left = None if len(sides) == 1 else n_rows[0]
    is_directed = n_left is None and wanted.measure in kind_of(sides[0].scheme).directed_measures
    if given.pairs is not None:
        with runner.stage(READING_PAIRS):
            listed = read_listed_pairs(given.pairs, (sides[0].ids(), sides[-1].ids()), runner)
        n_all = len(listed)
        couples = couple_parts(
            sides, both_ways=True, is_wanted=lambda *rows: len(listed.numbers_in(*rows)) > 0
        )
    else:
        if rule is None and not wanted.is_restricted:
            check_number(count_pairs(sum(n_rows), n_left), limit)
        n_all = count_pairs(sum(n_rows), n_left, is_directed=is_directed)
        couples = couple_parts(sides, both_ways=is_directed)
    tables: list[pa.Table] = []
    # By which rows are put in order: their numbers in a list, or those of both documents.
    keys: list[tuple[Int64s, ...]] = []
    n_passed = n_found = n_pairs = n_unusable = n_short = 0
    with runner.stage("estimate") as note:
        for couple in couples:
            # What reading has left behind would stay beside what comes next.
            release_memory()
            collection = couple.collection
            alike = None if rule is None else SuperShingles.of(collection.rows, rule)
            # Pairs are estimated as they are found: all of them would fill the memory.
            if given.pairs is not None:
                asked, numbers = couple.listed(listed)
            else:
                asked, numbers = collection.pairs(wanted, alike, limit, runner), None

            def passed(
                n_more: int, n_more_found: int, n_passed: int = n_passed, n_found: int = n_found
            ) -> None:
                check_limit(limit, n_found + n_more_found)
                runner.report("estimate", n_passed + n_more, n_all)

            found = estimate_pairs(collection, asked, wanted, alike, runner, passed)
            table = add_places(found.table, collection) if given.places else found.table
            left, right = (table[name].to_numpy() for name in ("left", "right"))
            left = left + couple.left.start
            right = right - (collection.n_left or 0) + couple.right.start
            if numbers is None:
                keys.append((right, left))
            else:
                # One that is listed twice is found both times, or never.
                pairs = listed.left[numbers] << 32 | listed.right[numbers]
                keys.append((numbers[np.isin(pairs, left << 32 | right)],))
            tables.append(collection.name_pairs(table))
            n_passed += asked.n_all
            n_found += len(table)
            n_pairs += found.n_pairs
            n_unusable += found.n_unusable
            n_short += couple.n_short
            # All of it would stay beside the parts that are read next.
            del couple, collection, alike, asked, found
        table = pa.concat_tables(tables)
        if len(tables) > 1:
            columns = [np.concatenate(each) for each in zip(*keys, strict=True)]
            table = table.take(np.lexsort(columns))
        note(estimated_pairs=n_pairs, pairs=n_found)
    return _Found(table, n_pairs, n_unusable, n_short)


@takes(_Arguments)
def estimate(given: _Arguments) -> EstimateResult:
    """Estimate how similar documents are, from their sketches alone.

    Returns
    -------
    ``pairs``, an Arrow table in input order, and ``summary``. For ``containment`` a is the document
    that lies in b, so that within one collection a pair may come twice, in both orders. Columns
    besides the ids, by kind:

    - all but ``edit``: ``similarity``, its standard ``error``, and an interval from ``low`` to
      ``high`` that holds the truth in 95 of 100 cases. An error of 0 with low equal to high says
      that nothing was left to chance; ``samples`` are the elements that the estimate rests on.
    - ``modulo`` also: ``containment_a``, how much of a is in b, ``containment_b`` the other way,
      each with its error and interval.
    - ``edit``: ``distance`` in characters with ``low`` and ``high``, ``similarity``, which is 1 -
      distance / characters of the longer text, ``significance``, by how many standard deviations
      the pair is nearer than unrelated texts, and ``spread``, from 0 for differences in one place
      to 1 for differences all over. With ``places`` also ``inner``, a or b, the shorter text,
      ``place_start`` and ``place_end``, characters of the other one, to within a few times the
      compression, and ``place_share``, the part of the inner one's symbols that was found there.

    Of blocks also ``start_a``, ``end_a`` and ``start_b``, ``end_b``, characters of the document;
    blocks of one document make no pair. All have ``exact_copy``: whether both texts have the same
    tokens in the same order, of ``edit`` the same characters; null where one has no digest, as
    unions have none. With ``super_shingles`` there is also that, the number of them that agree.
    Estimates are null where fewer than 20 samples or symbols are there; such pairs reach no
    threshold, and are counted in the summary where they were looked at.

    Raises
    ------
    SketchMismatchError
        If the two were made by unlike schemes.
    ReadError, SketchFormatError, InvalidInputError
        If a file cannot be read, or is not one of sketches; if ``pairs`` has no such columns, or
        names a document that has no sketch.
    ResultLimitError
        At more than ``limit`` pairs.
    InvalidParameterError
        For an option out of range, or that sketches of this kind do not have; for more than
        20,000,000 pairs where nothing is asked of them.

    Notes
    -----
    Given a threshold, every pair whose estimate reaches it is found, through bands (minhash,
    weighted) or prefixes (smallest, modulo, edit); of ``edit`` sketches all pairs of fitting
    lengths are looked at with a threshold below 0.36 or so, which unrelated texts may reach, or
    with less than 65,536 letters. Whether the true similarity reaches the threshold is another
    matter, which the interval answers.

    Examples
    --------
    >>> import neardup
    >>> theirs = neardup.sketch(["a b c d e f", "g h i"], ngram=1)
    >>> ours = neardup.sketch(["b c d e f a"], ngram=1)
    >>> neardup.estimate(ours, theirs, threshold=0.9).pairs["id_b"].to_pylist()
    ['0']
    """
    named = [given.sketches] if given.other is None else [given.sketches, given.other]
    n_bytes, budget = sum(map(bytes_to_read, named)), memory_budget(given.memory)
    is_whole = n_bytes * _HELD_OF_ALL <= budget
    sides = [SketchParts(each, None if is_whole else budget // _HELD_OF_PART) for each in named]
    own, others = sides[0], sides[-1]
    check_same_scheme(own, others)
    kind = kind_of(own.scheme)
    if given.places:
        check_feature(kind, "has_places", "places", "need")
    wanted = make_wanted(
        kind,
        measure=given.measure,
        threshold=given.threshold,
        min_significance=given.min_significance,
    )
    if given.pairs is not None:
        for side in sides:
            check_whole(side.part(0), "pairs")
    rule = make_rule(kind, least=given.super_shingles, groups=given.bands, rows=given.rows)
    with Runner(given.workers, given.progress, "estimate") as runner:
        found = _find_pairs(given, sides, wanted, rule, runner)
    summary: EstimateSummary = {
        "kind": kind.name,
        "documents": [side.n_documents for side in sides],
        "blocks": [None if side.block_size is None else len(side) for side in sides],
        "short_sketches": found.n_short,
        "pairs": len(found.table),
        "estimated_pairs": found.n_pairs,
        "unusable_pairs": found.n_unusable,
        "exact_copies": pc.sum(found.table["exact_copy"]).as_py() or 0,
        "measure": given.measure or kind.measures[0],
        "threshold": None if wanted.threshold is None else float(wanted.threshold),
        "min_significance": wanted.min_significance,
        "super_shingles": None if rule is None else rule.least,
        "bands": None if rule is None else rule.groups,
        "rows": None if rule is None else rule.rows,
        "scheme": own.scheme,
        "workers": runner.workers,
        "seconds": runner.seconds,
    }
    return EstimateResult(found.table, summary)
