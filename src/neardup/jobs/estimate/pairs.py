"""The sketches that are compared: all pairs of one collection or two, or pairs of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.ids import as_text
from neardup.files.passes import ReadingPass
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import RowBlock, Source
from neardup.jobs.sketch.sketches import Sketches
from neardup.jobs.stages.pair_ids import ID_COLUMNS, READING_PAIRS, check_columns, read_ids
from neardup.matching.join import check_limit
from neardup.runtime.runner import Runner
from neardup.sketches.kind import AnyKind, Wanted
from neardup.sketches.pairs import Pairs, count_pairs, count_pairs_up_to, cut_pairs, list_pairs
from neardup.sketches.super_shingles import SuperShingles
from neardup.sketches.table_format import BlockPlaces
from neardup.storage.ids import IdTable
from neardup.tables import Int64s


def read_listed_pairs(
    pairs: Any, ids: tuple[pa.Array, pa.Array], n_left: int | None, runner: Runner
) -> Pairs:
    """Read pairs, ids as rows of sketches, in the order of their table.

    Parameters
    ----------
    pairs
        A file or its URL, or what holds rows: ``id_a``, ``id_b``, and columns that do not matter.
    ids
        Those of the sketches that may be on either side.
    n_left
        How many sketches the first of two collections has, None for one collection.
    runner
        Reads, and reports that as the stage ``pairs``.
    """
    name = str(pairs) if isinstance(pairs, str | Path) else "the table of pairs"
    known = tuple(IdTable(as_text(of_side)) for of_side in ids)
    firsts = (0, n_left or 0)

    def read(_: Source, block: RowBlock) -> Pairs:
        table = block.to_table()
        check_columns(table, ID_COLUMNS, name)
        left, right = (
            first + _find(as_text(read_ids(table, column, name)), table_of_ids, column, name)
            for column, table_of_ids, first in zip(ID_COLUMNS, known, firsts, strict=True)
        )
        return left, right

    sources = resolve_inputs(pairs)
    nothing: Int64s = np.empty(0, np.int64)
    parts = [(nothing, nothing)]
    parts += [part for _, part in ReadingPass(READING_PAIRS, sources, runner).map(read, sources)]
    left, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return left, right


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

    @classmethod
    def of(cls, own: Sketches, others: Sketches | None) -> Collection:
        """Put two collections into one, if there are two."""
        kind = own.kind_object
        if others is None:
            return cls(
                kind, own.ids, own.ids, own.rows, own.known_digests, None, own.blocks, own.blocks
            )
        rows = kind.join_rows([own.rows, others.rows])
        digests = pa.concat_arrays([own.known_digests, others.known_digests])
        n_left = len(own)
        return cls(kind, own.ids, others.ids, rows, digests, n_left, own.blocks, others.blocks)

    def is_directed(self, wanted: Wanted) -> bool:
        """Whether one row with another is another pair than the other way round."""
        return self.n_left is None and wanted.measure in self.kind.directed_measures

    def listed(self, pairs: Any, runner: Runner) -> AskedPairs:
        """Return the pairs that a table lists, in its order; errors as of ``read_listed_pairs``."""
        left, right = read_listed_pairs(pairs, (self.left_ids, self.right_ids), self.n_left, runner)
        return AskedPairs(cut_pairs(left, right), len(left))

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
            parts = self._every_pair(limit)
        return AskedPairs(
            self._of_different_documents(parts),
            count_pairs(n, n_left, is_directed=is_directed),
            lambda row: count_pairs_up_to(row, n, n_left, is_directed=is_directed),
        )

    def _of_different_documents(self, parts: Iterator[Pairs]) -> Iterator[Pairs]:
        """Leave out pairs of blocks of one document."""
        if self.n_left is not None or self.left_blocks is None:
            yield from parts
            return
        owners = self.left_ids.dictionary_encode().indices.to_numpy()
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

    def _every_pair(self, limit: int | None) -> Iterator[Pairs]:
        n_pairs = count_pairs(len(self.rows), self.n_left)
        check_limit(limit, n_pairs)
        if n_pairs > MOST_PAIRS:
            message = f"{n_pairs:,} pairs; give a threshold, {MOST_PAIRS:,} can be had without"
            raise InvalidParameterError(message, "threshold")
        return list_pairs(len(self.rows), self.n_left)

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
    limit: int | None,
    runner: Runner,
) -> FoundPairs:
    """Estimate pairs, and keep those that are wanted, and ``alike`` by super-shingles if asked."""

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
        check_limit(limit, n_found)
        passed = n_pairs if asked.count_up_to is None else asked.count_up_to(part.last)
        runner.report("estimate", passed, asked.n_all)
    runner.report("estimate", asked.n_all, asked.n_all)
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
