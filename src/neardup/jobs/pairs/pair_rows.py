"""Pairs of documents as rows in runs, and their table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.problems import listed_names
from neardup.files.rows import ColumnNames, Source
from neardup.matching.join import LEFT, RIGHT, FilterCounts, Scored, check_limit
from neardup.reading.catalogue import Catalogue, IdLookup
from neardup.reading.sign import available_columns
from neardup.reading.texts import Values, read_values
from neardup.results import TableResult
from neardup.runs.exchange import SpilledBatches
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bytes, Floats, Int64s, ScoredPairs, offsets_of

# Shares of the memory for found rows, and for rows that are being spelled out.
ROWS_SHARE = 0.1
_SPELLING_SHARE = 0.1

# Memory of a row that is being spelled out.
_BYTES_OF_ROW = 160


@dataclass(frozen=True)
class ColumnsOfPairs:
    """Values of documents a and b, without columns that a side lacks."""

    names: Sequence[str]
    left: Values
    right: Values

    def fields(self) -> dict[str, pa.DataType]:
        """Return the columns with their types."""
        found = {}
        for name in self.names:
            for values, end in ((self.left, "a"), (self.right, "b")):
                if name in values.names:
                    found[f"{name}_{end}"] = values.types[values.names.index(name)]
        return found

    def take(self, left: Int64s, right: Int64s) -> list[pa.Array]:
        """Return the columns of pairs from the numbers of documents."""
        sides = [
            dict(zip(values.names, values.take(documents), strict=True))
            for values, documents in ((self.left, left), (self.right, right))
        ]
        return [side[name] for name in self.names for side in sides if name in side]


def check_columns(
    names: Sequence[str], collections: Sequence[Sequence[Source]], read: ColumnNames
) -> list[tuple[str, ...]]:
    """Return the available columns of each collection."""
    if "id" in names:
        message = (
            "columns names 'id', of which id_a and id_b would be, as the ids of a pair are "
            "called; leave it out" + ("" if read.id == "id" else ", or name it with id_column")
        )
        raise InvalidParameterError(message, "columns", "id_column")
    there = [available_columns(sources, names) for sources in collections]
    for name in names:
        if not any(name in found for found in there):
            raise _no_column(name, collections)
    return there


def _no_column(name: str, collections: Sequence[Sequence[Source]]) -> InvalidInputError:
    sources = [source for sources in collections for source in sources]
    there = sources[0].listed_names() if sources else ()
    columns = f"; columns are {listed_names(there)}" if there else ""
    message = f"no column {name!r}, which columns (--columns) names{columns}"
    return InvalidInputError(message, path=sources[0].origin if sources else None)


def read_columns(
    runs: Iterable[pa.RecordBatch],
    catalogues: Sequence[Catalogue],
    names: Sequence[str],
    there: Sequence[tuple[str, ...]],
    workspace: Workspace,
    runner: Runner,
) -> ColumnsOfPairs:
    """Read the available columns of all documents in pairs.

    Memory: the values, as far as the workspace allows, and 9 bytes per document in a pair.
    """
    values = _read_wanted(runs, catalogues, there, workspace, runner, "columns")
    return ColumnsOfPairs(names, values[0], values[-1])


def _read_wanted(
    runs: Iterable[pa.RecordBatch],
    catalogues: Sequence[Catalogue],
    names: Sequence[Sequence[str]],
    workspace: Workspace,
    runner: Runner,
    task: str,
) -> list[Values]:
    is_wanted = np.zeros(sum(map(len, catalogues)), np.bool_)
    for run in runs:
        for side in ("left", "right"):
            is_wanted[run[side].to_numpy()] = True
    parts = np.split(is_wanted, np.cumsum([len(each) for each in catalogues])[:-1])
    return [
        read_values(catalogue, part, own, f"{task}-{number}", workspace, runner)
        for number, (catalogue, part, own) in enumerate(zip(catalogues, parts, names, strict=True))
    ]


# Rows that are made at a time.
_ROWS_AT_ONCE = 1 << 18


RUN_SCHEMA = pa.schema(
    {
        "left": pa.int64(),
        "right": pa.int64(),
        "score": pa.int64(),
        "similarity": pa.float64(),
    }
)


def to_run(pairs: ScoredPairs, similarities: Floats) -> pa.RecordBatch:
    """Return pairs of documents as stored rows of 32 bytes."""
    columns = [pairs.left, pairs.right, pairs.scores, similarities]
    return pa.RecordBatch.from_arrays(list(map(pa.array, columns)), schema=RUN_SCHEMA)


@dataclass(frozen=True)
class Members:
    """Ascending documents of record r: ``documents[starts[r] :][: counts[r]]``."""

    documents: Int64s
    starts: Int64s
    counts: Int64s

    @classmethod
    def of(cls, records_of_documents: Int64s, n_records: int, documents: Int64s) -> Members:
        """List the documents of every record, -1 for none."""
        filled = np.flatnonzero(records_of_documents >= 0)
        records = records_of_documents[filled]
        order = np.argsort(records, kind="stable")
        counts: Int64s = np.bincount(records, minlength=n_records).astype(np.int64)
        return cls(documents[filled[order]], np.cumsum(counts) - counts, counts)

    def count(self, other: Members, pairs: ScoredPairs) -> int:
        """Count the pairs that ``cross`` yields."""
        return int((self.counts[pairs.left] * other.counts[pairs.right]).sum())

    def cross(
        self, other: Members, pairs: ScoredPairs, n_at_once: int | None
    ) -> Iterator[tuple[ScoredPairs, Int64s]]:
        """Yield pairs of documents, about ``n_at_once`` at a time, None for all.

        Each comes with the number of its pair of records. A part may begin and end within the
        ``counts[left]`` rows and ``counts[right]`` columns of a pair of records.
        """
        widths = other.counts[pairs.right]
        n_each = self.counts[pairs.left] * widths
        ends = np.cumsum(n_each)
        total = int(ends[-1]) if len(ends) else 0
        step = n_at_once or max(total, 1)
        for start in range(0, total, step):
            stop = min(start + step, total)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right")
            here = np.arange(first, last + 1)
            begins = ends[here] - n_each[here]
            pair = np.repeat(here, np.minimum(ends[here], stop) - np.maximum(begins, start))
            within = np.arange(start, stop, dtype=np.int64) - begins[pair - first]
            i, j = np.divmod(within, widths[pair])
            spelled = ScoredPairs(
                self.documents[self.starts[pairs.left[pair]] + i],
                other.documents[other.starts[pairs.right[pair]] + j],
                pairs.scores[pair],
            )
            yield spelled, pair


@dataclass(frozen=True)
class Speller:
    """Converter of pairs of records to pairs of their documents.

    ``left`` and ``right`` are the documents of the two collections, equal for a self-join. If
    ``has_twins``, pairs of documents of one record are included. A crossing is a pair of records,
    perhaps of a record with itself, whose documents are paired.
    """

    records: Scored
    left: Members
    right: Members
    is_self_join: bool
    has_twins: bool = True

    @classmethod
    def of(
        cls,
        records: Scored,
        of_documents: Int64s,
        n_left: int | None,
        numbers: Int64s | None = None,
    ) -> Speller:
        """Prepare for documents with their records, -1 for none.

        The ``n_left`` left documents come first; None for a self-join. ``numbers`` of the documents
        ascend; None numbers them from 0.
        """
        if numbers is None:
            numbers = np.arange(len(of_documents))
        n_records = len(records.own_scores)
        if n_left is None:
            every = Members.of(of_documents, n_records, numbers)
            return cls(records, every, every, is_self_join=True)
        left = Members.of(of_documents[:n_left], n_records, numbers[:n_left])
        right = Members.of(of_documents[n_left:], n_records, numbers[n_left:])
        return cls(records, left, right, is_self_join=False)

    def crossings(self, joined: ScoredPairs) -> ScoredPairs:
        """Return the crossings, given the joined pairs of records."""
        parts = [joined]
        if self.has_twins:
            twins = self.records.twins
            if self.is_self_join:
                twins = twins[self.left.counts[twins] > 1]
            parts.append(ScoredPairs(twins, twins, self.records.own_scores[twins]))
        if not (self.is_self_join or self.records.is_directed):
            parts.append(joined.turned())
        return ScoredPairs.joined(parts)

    def count(self, crossings: ScoredPairs) -> int:
        """Count the pairs of documents."""
        total = self.left.count(self.right, crossings)
        if self.is_self_join:
            # A record's documents are crossed with themselves: pairs of a document with itself are
            # dropped, all others come in both directions.
            sizes = self.left.counts[crossings.left[crossings.left == crossings.right]]
            unlike = int((sizes * (sizes - 1)).sum())
            total += unlike if self.records.is_directed else unlike // 2
            total -= int((sizes * sizes).sum())
        return total

    def spell_in_parts(
        self, crossings: ScoredPairs, n_at_once: int | None
    ) -> Iterator[tuple[ScoredPairs, Int64s]]:
        """Spell out crossings in order, about ``n_at_once`` pairs per part.

        Yields the pairs of documents, the earlier first unless the measure is directed, and the
        number of each pair's crossing.
        """
        for spelled, crossing in self.left.cross(self.right, crossings, n_at_once):
            if not self.is_self_join:
                yield spelled, crossing
                continue
            # Pairs of a document with itself are dropped; others come in both directions.
            if self.records.is_directed:
                kept = spelled.left != spelled.right
            else:
                is_twin = crossings.left[crossing] == crossings.right[crossing]
                kept = ~is_twin | (spelled.left < spelled.right)
            pairs = spelled.take(kept)
            if not self.records.is_directed:
                low, high = np.minimum(pairs.left, pairs.right), np.maximum(pairs.left, pairs.right)
                pairs = ScoredPairs(low, high, pairs.scores)
            yield pairs, crossing[kept]

    def runs(self, crossings: ScoredPairs, n_at_once: int | None) -> Iterator[pa.RecordBatch]:
        """Spell out crossings in ascending runs of about ``n_at_once`` pairs.

        None for all. Yields at least one run.
        """
        similarities = self.records.similarities(crossings)
        is_empty = True
        for pairs, crossing in self.spell_in_parts(crossings, n_at_once):
            order = pairs.ascending()
            yield to_run(pairs.take(order), similarities[crossing[order]])
            is_empty = False
        if is_empty:
            yield to_run(crossings.take(crossings.left < 0), similarities[:0])


def sides_of(records: Int64s, n_left: int | None, n_records: int) -> Bytes | None:
    """Return the sides of each record: left, right or both.

    ``records`` has the record of each document, -1 for none, starting with the ``n_left`` documents
    of the left collection; None, and no sides, for a self-join.
    """
    if n_left is None:
        return None
    sides: Bytes = np.zeros(n_records, np.uint8)
    left, right = records[:n_left], records[n_left:]
    sides[left[left >= 0]] |= LEFT
    sides[right[right >= 0]] |= RIGHT
    return sides


class FoundPart(NamedTuple):
    """Record pairs of a part of a join, with counts."""

    joined: ScoredPairs
    speller: Speller
    counts: list[int]


def collect_runs(
    join_parts: Callable[[int], Iterator[FoundPart]],
    shares: Sequence[float],
    limit: int | None,
    workspace: Workspace,
) -> tuple[SpilledBatches, int, list[list[int]]]:
    """Return the sorted runs of a join's pairs, and counts.

    ``join_parts`` joins the parts from a number on: parts of an earlier run are not joined again.
    ``shares`` has the completed share of the work after each part. ResultLimitError at more than
    ``limit`` pairs of documents.
    """
    # Pairs in memory are found again by a resumed run, unless there are files anyway.
    is_in_files = workspace.work is not None and workspace.work.n_done > 0
    share = 0 if is_in_files else ROWS_SHARE
    at_once = None
    if workspace.work is not None:
        at_once = max(1, workspace.share(_SPELLING_SHARE) // _BYTES_OF_ROW)
    runs = SpilledBatches("pairs", workspace, share=share, weight_of_file=1)
    counts = [each for each in runs.done() if each is not None]
    n_pairs = sum(len(run) for run in runs)
    with runs:
        n_done = len(counts)
        for share_done, part in zip(shares[n_done:], join_parts(n_done), strict=True):
            crossings = part.speller.crossings(part.joined)
            n_pairs += part.speller.count(crossings)
            check_limit(limit, n_pairs, share_done if share_done < 1 else None)
            rows = part.speller.runs(crossings, at_once)
            waiting = next(rows)
            for run in rows:
                runs.append(waiting, None, 0)
                waiting = run
            # A file is complete with the last rows of a part.
            runs.append(waiting, part.counts, 1)
            counts.append(part.counts)
    return runs, n_pairs, counts


@dataclass(frozen=True)
class PairMatches:
    """Pairs of documents in output order, with counts of filters."""

    runs: Iterable[pa.RecordBatch]
    n_pairs: int
    n_records: int
    score_name: str | None
    counts: FilterCounts


@dataclass(frozen=True)
class PairRows:
    """Pairs of documents of some collections, numbered consecutively.

    ``runs`` can be iterated repeatedly. Several are each in ascending order, and may all have pairs
    of any left document. ``score_name`` is a column or None; ``columns`` are of the input.
    """

    runs: Iterable[pa.RecordBatch]
    catalogues: Sequence[Catalogue]
    score_name: str | None
    metadata: Mapping[bytes, bytes] = field(default_factory=dict)
    columns: ColumnsOfPairs | None = None

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows with the ids of documents, made lazily."""
        columns = {
            "id_a": self.catalogues[0].id_type,
            "id_b": self.catalogues[-1].id_type,
            "similarity": pa.float64(),
        }
        if self.score_name is not None:
            columns[self.score_name] = pa.int64()
        if self.columns is not None:
            columns |= self.columns.fields()
        schema = pa.schema(columns, metadata=dict(self.metadata))
        return pa.RecordBatchReader.from_batches(schema, self._rows(schema))

    def _rows(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        lookups = IdLookup(self.catalogues[0]), IdLookup(self.catalogues[-1])
        n_left = len(self.catalogues[0]) if len(self.catalogues) > 1 else 0
        for rows in self._in_order():
            left, right = rows["left"].to_numpy(), rows["right"].to_numpy() - n_left
            columns = [_ids_of(lookups[0], left), _ids_of(lookups[1], right)]
            columns.append(rows.column("similarity"))
            if self.score_name is not None:
                columns.append(rows.column("score"))
            if self.columns is not None:
                columns += self.columns.take(left, right)
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def _in_order(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows in order, merged if in several runs."""
        n_runs = sum(1 for run in self.runs if len(run))
        if n_runs > 1:
            yield from self._merged()
            return
        for run in self.runs:
            for start in range(0, len(run), _ROWS_AT_ONCE):
                yield run.slice(start, _ROWS_AT_ONCE)

    def _merged(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of left documents, range by range."""
        for start, stop in pairwise(self._cut()):
            parts = []
            for run in self.runs:
                left = run["left"].to_numpy()
                first, last = np.searchsorted(left, [start, stop])
                if last > first:
                    parts.append(run.slice(first, last - first))
            rows = pa.concat_batches(parts)
            order = np.lexsort((rows["right"].to_numpy(), rows["left"].to_numpy()))
            yield rows.take(pa.array(order))

    def _cut(self) -> list[int]:
        """Divide left documents into ranges with similar numbers of rows."""
        n_rows: Int64s = np.zeros(len(self.catalogues[0]), np.int64)
        for run in self.runs:
            left = run["left"].to_numpy()
            starts = np.flatnonzero(np.diff(left, prepend=-1))
            n_rows[left[starts]] += np.diff(starts, append=len(left))
        offsets, bounds = offsets_of(n_rows), [0]
        while (before := offsets[bounds[-1]]) < offsets[-1]:
            stop = int(np.searchsorted(offsets, before + _ROWS_AT_ONCE, side="right")) - 1
            # Extend an empty range to the next document with rows.
            least = int(np.searchsorted(offsets, before, side="right"))
            bounds.append(max(stop, least))
        return bounds


def _ids_of(lookup: IdLookup, documents: Int64s) -> pa.Array:
    if (documents[1:] >= documents[:-1]).all():
        is_first = np.diff(documents, prepend=-1) != 0
        wanted, places = documents[is_first], np.cumsum(is_first) - 1
    else:
        wanted, places = np.unique(documents, return_inverse=True)
    return lookup.take(wanted).take(pa.array(places))


class PairResult(TableResult):
    """Pairs of similar documents, and the account of their search.

    ``pairs`` has the columns ``id_a``, ``id_b``, ``similarity``, and ``overlap``, the number of
    common shingles, or ``distance``, the number of edits; ``weighted-jaccard`` has neither. They
    are in input order of a, then b. In a self-join a comes before b, except for ``containment``,
    where a is the contained document. The most similar pairs (``top``) come first, partners of each
    document by document a. Requested columns follow, each with its values of a and of b.

    ``counts`` are the pairs that passed the filters.
    """

    counts: FilterCounts
    summary: dict[str, Any]

    def __init__(
        self,
        reader: Callable[[], pa.RecordBatchReader],
        counts: FilterCounts,
        summary: dict[str, Any],
    ) -> None:
        self._reader = reader
        self.counts = counts
        self.summary = summary

    def __len__(self) -> int:
        return int(self.summary["pairs"])

    @cached_property
    def pairs(self) -> pa.Table:
        """The pairs, all in memory."""
        return self._reader().read_all()

    @property
    def table(self) -> pa.Table:
        """The pairs, as an Arrow table."""
        return self.pairs

    def rows(self) -> pa.RecordBatchReader:
        """Return the pairs, made some at a time on reading."""
        return self._reader()

    def headline(self) -> str:
        """Return the numbers of documents per collection, and of pairs."""
        documents = " and ".join(counted(n, "document") for n in self.summary["documents"])
        return f"{documents}: {counted(len(self), 'pair')}"
