"""Equal paragraphs and lines: brought together by their digests, and what goes back to its place.

Each unit is a row: its digest and its place. Rows go to partitions by the value of the digest, so
that equal ones meet in one, which decides by itself which of them stays. What goes is brought back
to the documents that it is in, some consecutive ones a partition, in which it is cut and written.
Both exchanges are in memory while rows fit, and in files of the work folder from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.engine.engine import DOCUMENT, Change, Engine, Partition, Rows
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.passages import FoundSpans, Repeated, count_repeated
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import (
    CutSpans,
    count_documents,
    keep_ranks,
    read_collections,
    spans_in,
    take_out,
)
from neardup.jobs.cut.units import find_units
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import ContentTable, part_of
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.signed_batches import numbers_of
from neardup.runs.exchange import Shuffle
from neardup.tables import Bools, Digests, Int64s, Texts
from neardup.text.shingles import digest_token_lists

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace

# The share of the memory for rows that go and wait to be written, and as often as its rows a
# partition takes while it is worked on.
_GONE_SHARE, _SETTLING = 0.15, 4

# Units of the documents of one partition of what goes, unless there were more than so many.
_UNITS_OF_PART, _MOST_PARTS = 1 << 16, 1024

# What goes, in a file of the work folder: a run that was killed loses so much.
_FILE_BYTES = 1 << 28

_DIGESTS, _PLACES = ("digest_low", "digest_high"), ("document", "start", "stop", "end")
_GONE = ("document", "start", "stop", "kept_document", "kept_start", "kept_stop")

# Rows have it where they do not stand in keep order: the place of their document in that.
_RANK = "rank"


def _list_units(
    plan: CutJobPlan, block: RowBlock, reading: ReadingPlan
) -> tuple[ListedBlock, pa.RecordBatch]:
    """List the documents of a block, with a row for each of their units."""
    import pyarrow as pa

    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    n_tokens, units, parts, long = find_units(Texts.from_arrow(parsed.text, block.language), plan)
    digests = np.concatenate([np.empty((0, 2), np.uint64), *map(digest_token_lists, parts)])
    columns = dict(zip(_DIGESTS, digests[long].T.copy(), strict=True))
    places = (units.documents, units.starts, units.stops, units.ends)
    rows = pa.RecordBatch.from_pydict(columns | dict(zip(_PLACES, places, strict=True)))
    return listed(block, parsed, n_tokens, with_lengths=reading.with_lengths), rows


def _partitions_of(units: pa.RecordBatch, n_partitions: int) -> Int64s:
    """Return in which of some partitions equal units meet."""
    return part_of(numbers_of(units, "digest_high"), n_partitions).astype(np.int64)


@dataclass(frozen=True)
class UnitRules:
    """Which of equal units go; documents of another collection, ``n_other``, are numbered first.

    With ``keeps_none`` the first of equal units goes, too, for the next one.
    """

    n_other: int
    min_documents: int | None
    keeps_none: bool = False

    def settle(self, partition: Partition) -> Iterator[tuple[list[Repeated], pa.RecordBatch]]:
        """Yield what is repeated most of the units of a partition, and what goes of them."""
        n_passes = partition.count_passes(_SETTLING)
        for number in range(n_passes):
            gone, most = self._settle(partition.rows(), number, n_passes)
            yield most, gone

    def _settle(
        self, units: Iterable[pa.RecordBatch], number: int, n_passes: int
    ) -> tuple[pa.RecordBatch, list[Repeated]]:
        """Return what goes of the units of a pass, by document and start, and what is repeated."""
        import pyarrow as pa

        low, high, documents, starts, stops, ends, *ranks = _units_of(units, number, n_passes)
        order = np.arange(len(documents))
        if ranks:
            # Units of one document have its rank, so that they stay in the order of the text.
            order = np.argsort(ranks[0], kind="stable")
        digests = np.column_stack([low[order], high[order]])
        found = ContentTable().number(Digests(digests, np.ones(len(order), np.bool_)))
        keepers = np.empty(len(order), np.int64)
        groups = np.empty(len(order), np.int64)
        groups[order] = found.numbers
        keepers[order] = order[found.is_first][found.numbers]
        goes: Bools = keepers != np.arange(len(order))
        if self.n_other:
            # Nothing goes but what the other collection has.
            goes = (documents >= self.n_other) & (documents[keepers] < self.n_other)
        if self.keeps_none:
            copies = np.flatnonzero(goes)
            copies = copies[np.unique(groups[copies], return_index=True)[1]]
            firsts = keepers[copies]
            keepers[firsts], goes[firsts] = copies, True
        if self.min_documents is not None:
            counted = np.flatnonzero(goes | (keepers == np.arange(len(order))))
            n_groups = int(groups.max(initial=-1)) + 1
            n_documents = count_documents(groups[counted], documents[counted], n_groups)
            goes &= n_documents[groups] >= self.min_documents
        gone = np.flatnonzero(goes)
        keepers = keepers[gone]
        spans = CutSpans(
            documents[gone] - self.n_other,
            starts[gone],
            ends[gone],
            documents[keepers],
            starts[keepers],
            stops[keepers],
            np.ones(len(gone)),
        )
        columns = zip(_GONE, list(vars(spans).values())[: len(_GONE)], strict=True)
        return pa.RecordBatch.from_pydict(dict(columns)), count_repeated(spans, groups[gone])


def _units_of(units: Iterable[pa.RecordBatch], number: int, n_passes: int) -> list[Any]:
    """Return digests and places of the units of a pass, in the order of the texts."""
    import pyarrow as pa

    def wanted(batch: pa.RecordBatch) -> pa.RecordBatch:
        is_wanted = part_of(numbers_of(batch, _DIGESTS[0]), n_passes) == number
        return batch.take(pa.array(np.flatnonzero(is_wanted)))

    listed = list(units if n_passes == 1 else map(wanted, units))
    names = [*_DIGESTS, *_PLACES]
    if listed and _RANK in listed[0].schema.names:
        names.append(_RANK)
    columns = _columns_of(listed, names)
    order = _order_of(columns[2], columns[3])
    return columns if order is None else [column[order] for column in columns]


def _order_of(documents: Int64s, starts: Int64s) -> Int64s | None:
    """Return the places of rows by document and start; None if they are in that order."""
    keys = documents * (int(starts.max(initial=0)) + 1) + starts
    if (keys[1:] >= keys[:-1]).all():
        return None
    # One run of rows after the other is in order, which this sort makes use of.
    order: Int64s = np.argsort(keys, kind="stable")
    return order


class ExchangedSpans:
    """Equal units that go, by document, some consecutive documents a partition: ``Spans``.

    ``bounds`` are the first documents of the partitions, and the one behind the last.
    """

    def __init__(self, workspace: Workspace, bounds: Int64s) -> None:
        self._shuffle = Shuffle(
            "gone",
            workspace,
            len(bounds) - 1,
            in_memory=None,
            share=_GONE_SHARE,
            weight_of_file=_FILE_BYTES,
        )
        self._bounds, self._size = bounds, 0
        # Blocks of documents ask for one partition several times, one after the other.
        self._part = lru_cache(maxsize=4)(self._read)

    @classmethod
    def of_batches(
        cls, bounds: Int64s, batches: Iterator[pa.RecordBatch], workspace: Workspace
    ) -> ExchangedSpans:
        """Return spans that come in any order."""
        spans = cls(workspace, bounds)
        with spans._shuffle:
            for batch in batches:
                spans._add(batch)
        return spans

    def collect(self, engine: Engine, gone: Rows) -> list[Repeated]:
        """Add what goes, beside what an earlier run has added; return what is repeated most."""
        # Of some partitions the number of the next one, how many units go, and what is repeated
        # most among them.
        known: list[tuple[int, int, list[Any]]] = [
            each for each in self._shuffle.done() if each is not None
        ]
        with self._shuffle:
            for behind, made in engine.collect(gone, "cut", known[-1][0] if known else 0):
                most = Repeated.most(each for found, _ in made for each in found)
                batches = [batch for _, batch in made if batch is not None]
                size, n_bytes = sum(map(len, batches)), sum(batch.nbytes for batch in batches)
                known.append((behind, size, most))
                # No file ends within a partition.
                for batch in batches[:-1]:
                    self._add(batch)
                self._add(batches[-1], known[-1], n_bytes)
        self._size = sum(size for _, size, _ in known)
        return Repeated.most(Repeated(*each) for *_, found in known for each in found)

    def _add(self, batch: pa.RecordBatch, known: Any = None, weight: int = 0) -> None:
        documents = numbers_of(batch, DOCUMENT)
        parts = np.searchsorted(self._bounds, documents, side="right") - 1
        self._shuffle.add(batch, parts, known, weight)

    def __len__(self) -> int:
        return self._size

    def __reduce__(self) -> tuple[Callable[..., CutSpans], tuple[list[CutSpans]]]:
        """Be copied as spans in memory, because files go with the run."""
        return CutSpans.joined, (list(self.parts()),)

    @property
    def _n_parts(self) -> int:
        return len(self._bounds) - 1

    def parts(self) -> Iterator[CutSpans]:
        """Yield all rows by document and start, in parts of whole documents."""
        return map(self._part, range(self._n_parts))

    def of_documents(self, documents: slice) -> CutSpans:
        """Return the rows of some consecutive documents."""
        first = int(np.searchsorted(self._bounds, documents.start, side="right")) - 1
        last = int(np.searchsorted(self._bounds, documents.stop))
        parts = range(max(0, first), min(last, self._n_parts))
        return CutSpans.joined([self._part(part).of_documents(documents) for part in parts])

    def _read(self, part: int) -> CutSpans:
        columns = _columns_of(self._shuffle.read(part), _GONE)
        order = _order_of(columns[0] - self._bounds[part], columns[1])
        if order is not None:
            columns = [column[order] for column in columns]
        return CutSpans(*[*columns, np.ones(len(columns[0]))])


def _columns_of(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> list[Any]:
    """Return columns of some batches, each of all of them as one array in memory."""
    import pyarrow as pa

    listed = list(batches)
    if not listed:
        return [np.empty(0, np.uint64 if name in _DIGESTS else np.int64) for name in names]
    table = pa.Table.from_batches(listed)
    return [table.column(name).to_numpy() for name in names]


def _part_documents(own: Catalogue, min_tokens: int) -> Int64s:
    """Part documents into runs that may have about as many units of so many tokens.

    Returns the first document of each run, and the one behind the last.
    """
    n_most = np.cumsum(np.maximum(own.n_tokens, 0)) // min_tokens
    room = max(_UNITS_OF_PART, int(n_most[-1:].sum()) // _MOST_PARTS)
    is_last = np.diff((n_most - 1) // room, append=-2) != 0
    return np.unique(np.concatenate([[0], np.flatnonzero(is_last) + 1])).astype(np.int64)


def cut_equal_units(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the paragraphs or lines that go for an equal one."""
    with engine.stage("read") as note:
        collections = read_collections(sources, against, plan)
        read = engine.read("units", collections, partial(_list_units, plan), _partitions_of)
        other, own = read.catalogues
        note(documents=len(own), units=read.rows.n_rows)
    with engine.stage("cut") as note:
        rows = read.rows
        if plan.keep.rule != "first":
            # Another collection has no documents then.
            rows = rows.with_columns({_RANK: keep_ranks(own, plan.keep)})
        rules = UnitRules(len(other), plan.options.min_documents, plan.keep.keeps_none)
        gone = engine.work(rows, rules.settle)
        bounds = _part_documents(own, plan.min_tokens)
        spans = ExchangedSpans(engine.workspace, bounds)
        most = spans.collect(engine, gone)
        engine.release(read)
        note(units=len(spans))
    columns, replacement = own.columns.texts, plan.options.replacement
    change = Change(
        spans,
        partial(take_out, columns, replacement),
        partial(ExchangedSpans.of_batches, bounds),
        spans_in,
        gone,
    )
    return FoundSpans(other, own, spans, most, change)
