"""The sketches that are compared: one collection of them, or two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.jobs.sketch.listed_pairs import read_listed_pairs
from neardup.jobs.sketch.sketches import Sketches
from neardup.matching.pieces import check_limit
from neardup.runtime.runner import Runner
from neardup.sketches.blocks import BlockPlaces
from neardup.sketches.kind import AnyKind, Wanted
from neardup.sketches.pairs import Pairs, count_pairs, count_pairs_up_to, cut_pairs, list_pairs
from neardup.sketches.super_shingles import SuperShingles
from neardup.tables import Int64s

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
