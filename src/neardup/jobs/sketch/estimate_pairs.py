"""Estimates of pairs, some at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.jobs.sketch.collection import AskedPairs, Collection
from neardup.matching.pieces import check_limit
from neardup.runtime.runner import Runner
from neardup.sketches.kind import Wanted
from neardup.sketches.pairs import Pairs
from neardup.sketches.super_shingles import SuperShingles
from neardup.tables import Int64s


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
    """Estimate pairs, and keep those that are wanted, and ``alike`` by super-shingles if asked.

    Raises
    ------
    ResultLimitError
        At more than ``limit`` pairs.
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
