"""Records of several fields within a memory budget: in blocks, of which two are compared at once.

Every two blocks meet once, and each with itself. Of two blocks that have more pairs of values near
in one field than fit, parts are compared. With one block it is the comparison in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.jobs.pairs.by_fields import (
    FieldCounts,
    FieldPairs,
    Records,
    TooManyNearError,
    best_of,
    join_fields,
)
from neardup.jobs.pairs.fields import field_values, weigh_by_rarity
from neardup.jobs.pairs.rows import FoundPart, collect_runs
from neardup.reading.column_values import text_of
from neardup.reading.values import Values, read_values
from neardup.runs.arrays import kept_arrays
from neardup.tables import Bools, Int64s, Uint64s

if TYPE_CHECKING:
    from neardup.jobs.pairs.mean import Field, WeightedMean
    from neardup.options.documents import PairOptions
    from neardup.reading.catalogue import Catalogue
    from neardup.runs.exchange import SpilledBatches
    from neardup.runs.runner import Runner
    from neardup.runs.work import Workspace
    from neardup.text.weighting import WeightedScheme

# Shares of the memory: of two blocks, and of pairs of values that are near in a field.
_BLOCKS_SHARE, _NEAR_SHARE = 0.6, 0.2
# Bytes that a record takes for each field and one more, a byte of a value by the kind of its field,
# and a pair of values that is spelled out, measured.
_RECORD, _PAIR = 80, 120
_OF_BYTE = {"text": 12, "rare": 20, "edit": 50, "exact": 6, "number": 6}
# So many pairs of records are compared whatever is near; and all of so many at once where the most
# similar are looked for, for a step costs more.
_FEW_PAIRS, _FEW_IN_ALL = 1 << 12, 1 << 17

# Records of one set that are compared, or each of one with each of another; all are numbered one
# collection behind the other.
_Unit = tuple[Int64s, Int64s | None]


class Surveyed(NamedTuple):
    """What is counted of all records; ``by_field`` are those without a value, and unreadable."""

    n_different: int
    n_empty: int
    by_field: list[tuple[int, int]]

    def describe(
        self, mean: WeightedMean, runs: Iterable[pa.RecordBatch], *, has_other: bool
    ) -> list[dict[str, Any]]:
        """Return for a summary each field, and how often it had no say for lack of a value."""
        lacking: Int64s = np.zeros(len(mean.fields), np.int64)
        for run in runs:
            lacking += [run.column(field.name).null_count for field in mean.fields]
        return [
            {
                "column": field.column,
                **({"against_column": field.other} if has_other else {}),
                "kind": field.kind,
                "weight": float(field.weight),
                "documents_without": without,
                "unreadable": unreadable,
                "pairs_without": n_pairs,
            }
            for field, (without, unreadable), n_pairs in zip(
                mean.fields, self.by_field, lacking.tolist(), strict=True
            )
        ]


@dataclass
class FieldColumns:
    """The columns of the fields of all documents, in memory or in files.

    Records of different ``keys`` are no pair, nor is one that has none (``NO_KEY``). Of ``rare``
    fields ``weights`` has, by the name of the column, what tokens weigh over all records.
    """

    catalogues: Sequence[Catalogue]
    values: Sequence[Values]
    keys: Uint64s | None
    weights: dict[str, WeightedScheme]
    options: PairOptions
    workspace: Workspace

    @classmethod
    def read(
        cls,
        catalogues: Sequence[Catalogue],
        keys: Uint64s | None,
        mean: WeightedMean,
        options: PairOptions,
        workspace: Workspace,
        runner: Runner,
    ) -> FieldColumns:
        """Read them; what does not fit goes to files."""
        values = [
            read_values(each, each.is_document, names, f"fields-{number}", workspace, runner)
            for number, (each, names) in enumerate(zip(catalogues, mean.columns, strict=False))
        ]

        def parts(field: Field) -> Iterator[pa.Array]:
            for own, name in zip(values, (field.column, field.other), strict=False):
                for part in own.parts(name):
                    yield text_of(part, name, "fields")

        weights = {
            each.column: weigh_by_rarity(parts(each), options)
            for each in mean.fields
            if each.kind == "rare"
        }
        return cls(catalogues, values, keys, weights, options, workspace)

    def __len__(self) -> int:
        return sum(map(len, self.catalogues))

    @property
    def n_left(self) -> int | None:
        """Records of the first of two collections."""
        return len(self.catalogues[0]) if len(self.catalogues) > 1 else None

    def records(self, mean: WeightedMean, numbers: Int64s, n_left: int | None) -> Records:
        """Return some records, whose numbers ascend; the first ``n_left`` are the left ones."""
        texts: list[list[pa.Array]] = [[] for _ in mean.fields]
        first = 0
        for catalogue, values, names in zip(
            self.catalogues, self.values, mean.columns, strict=False
        ):
            start, stop = np.searchsorted(numbers, [first, first + len(catalogue)])
            own = numbers[start:stop] - first
            is_document: Bools = catalogue.is_document[own]
            rows = pa.array(np.cumsum(is_document) - 1, mask=~is_document)
            found = values.take(own[is_document])
            for part, name in zip(texts, names, strict=True):
                column = found[values.names.index(name)]
                part.append(text_of(column, name, "fields").take(rows))
            first += len(catalogue)
        lowest = mean.measure.lowest()
        return Records(
            [
                field_values(
                    pa.concat_arrays(column),
                    each.kind,
                    self.options,
                    lowest,
                    self.weights.get(each.column),
                )
                for each, column in zip(mean.fields, texts, strict=True)
            ],
            None if self.keys is None else self.keys[numbers],
            n_left,
        )

    def blocks(self, mean: WeightedMean) -> list[list[Int64s]]:
        """Return the blocks of each collection, of which any two fit into memory."""

        def cut() -> dict[str, Int64s]:
            ends = np.cumsum(self._costs(mean))
            room = self.workspace.share(_BLOCKS_SHARE)
            # A block ends with its collection.
            bounds, stops = [0], np.cumsum([len(each) for each in self.catalogues]).tolist()
            if self.workspace.work is None or not len(ends) or ends[-1] <= room:
                return {"bounds": np.unique([0, *stops])}
            while bounds[-1] < len(self):
                start = bounds[-1]
                before = int(ends[start - 1]) if start else 0
                stop = int(np.searchsorted(ends, before + room // 2, side="right"))
                end = next(each for each in stops if each > start)
                bounds.append(min(max(stop, start + 1), end))
            return {"bounds": np.array(bounds, np.int64)}

        bounds = kept_arrays(self.workspace, "field-blocks", cut)["bounds"].tolist()
        n_left = len(self.catalogues[0])
        found: list[list[Int64s]] = [[] for _ in self.catalogues]
        for start, stop in pairwise(bounds):
            found[int(start >= n_left and len(found) > 1)].append(np.arange(start, stop))
        return found

    def _costs(self, mean: WeightedMean) -> Int64s:
        """Return about how many bytes each record takes while two blocks are compared."""
        costs: Int64s = np.full(len(self), _RECORD * (len(mean.fields) + 1), np.int64)
        first = 0
        for catalogue, values, names in zip(
            self.catalogues, self.values, mean.columns, strict=False
        ):
            own: list[Int64s] = [np.empty(0, np.int64)]
            for batch in values.batches:
                sizes: Int64s = np.zeros(len(batch), np.int64)
                for name, field in zip(names, mean.fields, strict=True):
                    if name in batch.schema.names:
                        sizes += _OF_BYTE[field.kind] * _lengths(batch.column(name))
                own.append(sizes)
            costs[first + np.flatnonzero(catalogue.is_document)] += np.concatenate(own)
            first += len(catalogue)
        return costs


def _lengths(values: pa.Array) -> Int64s:
    """Return about how many bytes each value has as text."""
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if not is_text:
        return np.full(len(values), 8, np.int64)
    lengths: Int64s = pc.binary_length(values).fill_null(0).to_numpy().astype(np.int64)
    return lengths


def _halves(left: Int64s, right: Int64s | None) -> list[_Unit]:
    """Return parts of a unit that together have all of its pairs."""
    if right is None:
        first, second = np.array_split(left, 2)
        return [(first, None), (second, None), (first, second)]
    if len(left) < len(right):
        return [(left, each) for each in np.array_split(right, 2)]
    return [(each, right) for each in np.array_split(left, 2)]


class FieldJoin:
    """The comparison of all records, one unit after the other: two blocks, or one with itself."""

    def __init__(self, columns: FieldColumns, mean: WeightedMean, runner: Runner) -> None:
        self._columns, self._mean, self._runner = columns, mean, runner
        self._blocks = columns.blocks(mean)

    @cached_property
    def units(self) -> list[_Unit]:
        """What is compared, as the numbers of records, which are in ascending order."""
        first, *others = self._blocks
        if others:
            return list(product(first, others[0]))
        return [*((each, None) for each in first), *combinations(first, 2)]

    @property
    def _is_whole(self) -> bool:
        return all(len(blocks) <= 1 for blocks in self._blocks)

    @cached_property
    def _everything(self) -> Records:
        return self._records(np.arange(len(self._columns)), self._columns.n_left)

    def _records(self, numbers: Int64s, n_left: int | None) -> Records:
        return self._columns.records(self._mean, numbers, n_left)

    def survey(self) -> Surveyed:
        """Count what records have, and how many differ in it."""
        digests = [np.empty(0, np.uint64)]
        n_empty = 0
        by_field: Int64s = np.zeros((len(self._mean.fields), 2), np.int64)
        parts = (self._records(each, None) for blocks in self._blocks for each in blocks)
        for records in [self._everything] if self._is_whole else parts:
            is_empty = records.patterns == 0
            digests.append(records.digests[~is_empty])
            n_empty += int(is_empty.sum())
            for own, values in zip(by_field, records.values, strict=True):
                own += [int((values.numbers < 0).sum()), values.n_unreadable]
        n_different = len(np.unique(np.concatenate(digests)))
        counts = [(int(without), int(unreadable)) for without, unreadable in by_field]
        return Surveyed(n_different, n_empty, counts)

    def collect(
        self, limit: int | None, workspace: Workspace
    ) -> tuple[SpilledBatches, int, list[FieldCounts]]:
        """Find all pairs, in runs that may lie in files, their number, and counts of units.

        What an earlier run has found by the same weights and threshold is not looked for again.
        """
        mean = self._mean

        def join_parts(first: int) -> Iterator[FoundPart]:
            for pairs, counts in self.run(mean, first, limit, None):

                def spell(_: int | None, pairs: FieldPairs = pairs) -> Iterator[pa.RecordBatch]:
                    yield pairs.to_run(mean)

                yield FoundPart(len(pairs.left), spell, list(vars(counts).values()))

        shares = [(number + 1) / len(self.units) for number in range(len(self.units))]
        judged_by = sha256(repr((mean.fields, mean.measure)).encode()).hexdigest()[:16]
        found = collect_runs(join_parts, shares, limit, workspace, f"pairs-{judged_by}")
        counts = [FieldCounts.none(), *(FieldCounts(*each) for each in found.counts)]
        return found.runs, found.n_pairs, counts

    def run(
        self, mean: WeightedMean, first: int, limit: int | None, most: int | None
    ) -> Iterator[tuple[FieldPairs, FieldCounts]]:
        """Find the pairs of units from a number on; arguments as of ``join_fields``."""
        for unit in self.units[first:]:
            parts = list(self._compare(unit, mean, limit, most))
            pairs = FieldPairs.joined([found for found, _ in parts], len(mean.fields))
            if len(parts) > 1:
                ascending = np.lexsort((pairs.right, pairs.left))
                pairs = pairs.take(ascending) if most is None else self._best(pairs, mean, most)
            yield pairs, FieldCounts.total([counts for _, counts in parts])

    def _compare(
        self, unit: _Unit, mean: WeightedMean, limit: int | None, most: int | None
    ) -> Iterator[tuple[FieldPairs, FieldCounts]]:
        """Find the pairs of a unit, in parts where too much of it is near in one field."""
        left, right = unit
        numbers = left if right is None else np.concatenate([left, right])
        workspace, most_near = self._columns.workspace, None
        if workspace.work is not None and len(left) * len(numbers) > _FEW_PAIRS:
            most_near = workspace.share(_NEAR_SHARE) // _PAIR
        if self._is_whole and len(numbers) == len(self._columns):
            records = self._everything
        else:
            records = self._records(numbers, None if right is None else len(left))
        try:
            pairs, counts = join_fields(records, mean, limit, self._runner, most, most_near)
        except TooManyNearError:
            del records
            for part in _halves(left, right):
                yield from self._compare(part, mean, limit, most)
        else:
            yield pairs._replace(left=numbers[pairs.left], right=numbers[pairs.right]), counts

    def best(self, most: int) -> tuple[FieldPairs, list[FieldCounts]]:
        """Find so many pairs of the greatest means at the threshold, the most similar first.

        Thresholds fall step by step until there are enough pairs, so that the rest is never looked
        at; few records are all compared at once. The list has what each step let through.
        """
        n, n_left, mean = len(self._columns), self._columns.n_left, self._mean
        n_pairs = n * (n - 1) // 2 if n_left is None else n_left * (n - n_left)
        steps = list(mean.lowered())
        counted = list[FieldCounts]()
        found = FieldPairs.joined([], len(mean.fields))
        for step in steps[-1:] if n_pairs <= _FEW_IN_ALL else steps:
            units = list[FieldPairs]()
            own = [FieldCounts.none()]
            for pairs, counts in self.run(step, 0, None, most):
                units.append(pairs)
                if len(units) > 1:
                    units = [self._best(FieldPairs.joined(units, len(mean.fields)), step, most)]
                own.append(counts)
            found = FieldPairs.joined(units, len(mean.fields))
            counted.append(replace(FieldCounts.total(own), found=len(found.left)))
            if len(found.left) >= most:
                break
        return found, counted

    def _best(self, pairs: FieldPairs, mean: WeightedMean, most: int) -> FieldPairs:
        """Return so many pairs in order; their records alone are in memory."""
        numbers = np.unique(np.concatenate([pairs.left, pairs.right]))
        records = self._records(numbers, None)
        local = pairs._replace(
            left=np.searchsorted(numbers, pairs.left), right=np.searchsorted(numbers, pairs.right)
        )
        found = best_of(local, records, mean, most, self._runner.workers)
        return found._replace(left=numbers[found.left], right=numbers[found.right])
