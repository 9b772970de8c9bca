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
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.files.rows import Source
from neardup.jobs.cut.passages import FoundSpans, Repeated, count_repeated
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans, count_documents, keep_ranks, read_rows
from neardup.jobs.cut.units import find_units
from neardup.reading.block_exchange import BlockExchange, Sorted
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import ContentTable, part_of
from neardup.reading.signed_batches import numbers_of
from neardup.runs.exchange import Shuffle
from neardup.tables import Bools, Digests, Int64s
from neardup.text.shingles import digest_token_lists

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.runner import Runner
    from neardup.runs.work import Workspace

# By the digest: enough that rows of 20 GB of lines are worked on within 1 GB in one pass each.
_N_PARTITIONS = 256

# Shares of the memory: rows that may stay or wait to be written, those that go, and what partitions
# take that are worked on at the same time, of so many times the bytes of their rows.
_UNITS_SHARE, _GONE_SHARE, _SETTLING_SHARE = 0.25, 0.15, 0.3
_SETTLING = 4

# Units of the documents of one partition of what goes, unless there were more than so many.
_UNITS_OF_PART, _MOST_PARTS = 1 << 16, 1024

# What goes, in a file of the work folder: a run that was killed loses so much.
_FILE_BYTES = 1 << 28

_DIGESTS, _PLACES = ("digest_low", "digest_high"), ("document", "start", "stop", "end")
_GONE = ("document", "start", "stop", "kept_document", "kept_start", "kept_stop")

# Rows have it where they do not stand in keep order: the place of their document in that.
RANK = "rank"


def list_units(texts: pa.Array, plan: CutJobPlan) -> tuple[Int64s, pa.RecordBatch]:
    """Make a row of each unit of some texts; documents are counted from the first text.

    Returns how many tokens each text has, and the rows in the order of the texts.
    """
    import pyarrow as pa

    n_tokens, listed, parts, long = find_units(texts, plan)
    digests = np.concatenate([np.empty((0, 2), np.uint64), *map(digest_token_lists, parts)])
    columns = dict(zip(_DIGESTS, digests[long].T.copy(), strict=True))
    places = (listed.documents, listed.starts, listed.stops, listed.ends)
    return n_tokens, pa.RecordBatch.from_pydict(columns | dict(zip(_PLACES, places, strict=True)))


def partitions_of(units: pa.RecordBatch, n_partitions: int) -> Int64s:
    """Return in which of some partitions equal units meet."""
    return part_of(numbers_of(units, "digest_high"), n_partitions).astype(np.int64)


def _digest_units(texts: pa.Array, plan: CutJobPlan) -> tuple[Int64s, tuple[Sorted, int]]:
    """List the units of some texts, sorted by partition, and count the texts."""
    import pyarrow as pa

    n_tokens, units = list_units(texts, plan)
    partitions = partitions_of(units, _N_PARTITIONS)
    order = np.argsort(partitions.astype(np.uint16), kind="stable")
    return n_tokens, ((units.take(pa.array(order)), partitions[order]), len(texts))


@dataclass(frozen=True)
class UnitRules:
    """Which of equal units go; documents of another collection, ``n_other``, are numbered first.

    ``ranks`` are the places of own documents in keep order, None if that is their own or rows have
    them; there are none where another collection has documents.
    """

    n_other: int
    min_documents: int | None
    ranks: Int64s | None = None

    def settle(
        self, units: Iterable[pa.RecordBatch], number: int = 0, n_passes: int = 1
    ) -> tuple[pa.RecordBatch, list[Repeated]]:
        """Return what goes of the units of a partition, and what is repeated most among that.

        Each of several passes has the equal ones of some digests. What goes is by document and
        start, in whatever order units come.
        """
        import pyarrow as pa

        low, high, documents, starts, stops, ends, *ranks = _units_of(units, number, n_passes)
        if self.ranks is not None:
            ranks = [self.ranks[documents - self.n_other]]
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


def units_in(workspace: Workspace) -> Shuffle:
    """Return what has the units of one partition, wherever they are."""
    return Shuffle("units", workspace, 1, in_memory=None, share=_UNITS_SHARE)


def count_passes(units: Shuffle, partition: int, workspace: Workspace, n_at_once: int = 1) -> int:
    """Return in how many passes a partition is settled, if so many are at the same time."""
    n_bytes = _SETTLING * units.nbytes(partition) * n_at_once
    return workspace.passes(n_bytes, _SETTLING_SHARE)


def _units_of(units: Iterable[pa.RecordBatch], number: int, n_passes: int) -> list[Any]:
    """Return digests and places of the units of a pass, in the order of the texts."""
    import pyarrow as pa

    def wanted(batch: pa.RecordBatch) -> pa.RecordBatch:
        is_wanted = part_of(numbers_of(batch, _DIGESTS[0]), n_passes) == number
        return batch.take(pa.array(np.flatnonzero(is_wanted)))

    listed = list(units if n_passes == 1 else map(wanted, units))
    names = [*_DIGESTS, *_PLACES]
    if listed and RANK in listed[0].schema.names:
        names.append(RANK)
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

    def __init__(self, shuffle: Shuffle, bounds: Int64s, size: int) -> None:
        self._shuffle, self._bounds, self._size = shuffle, bounds, size
        # Blocks of documents ask for one partition several times, one after the other.
        self._part = lru_cache(maxsize=4)(self._read)

    @staticmethod
    def shuffle_in(workspace: Workspace, bounds: Int64s) -> Shuffle:
        """Return what exchanges rows by document."""
        return Shuffle(
            "gone",
            workspace,
            len(bounds) - 1,
            in_memory=None,
            share=_GONE_SHARE,
            weight_of_file=_FILE_BYTES,
        )

    @classmethod
    def gather(
        cls,
        settled: Iterable[tuple[pa.RecordBatch, list[Repeated], bool]],
        shuffle: Shuffle,
        bounds: Int64s,
    ) -> tuple[ExchangedSpans, list[Repeated]]:
        """Exchange what goes, beside what an earlier run has exchanged.

        It comes as ``UnitRules.settle`` returns it, each with whether it is the last of a
        partition. Returns the spans, and what is repeated most among them.
        """
        # Of each partition how many units go, and what is repeated most among them.
        known: list[tuple[int, list[Any]]] = [each for each in shuffle.done() if each is not None]
        most: list[Repeated] = []
        size = n_bytes = 0
        with shuffle:
            for batch, found, is_last in settled:
                most = Repeated.most([*most, *found])
                size, n_bytes = size + len(batch), n_bytes + batch.nbytes
                documents = numbers_of(batch, "document")
                parts = np.searchsorted(bounds, documents, side="right") - 1
                if not is_last:
                    # No file ends within a partition.
                    shuffle.add(batch, parts)
                    continue
                known.append((size, most))
                shuffle.add(batch, parts, known[-1], n_bytes)
                most, size, n_bytes = [], 0, 0
        every = (Repeated(*each) for _, found in known for each in found)
        return cls(shuffle, bounds, sum(size for size, _ in known)), Repeated.most(every)

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


def part_documents(own: Catalogue, min_tokens: int) -> Int64s:
    """Part documents into runs that may have about as many units of so many tokens.

    Returns the first document of each run, and the one behind the last.
    """
    n_most = np.cumsum(np.maximum(own.n_tokens, 0)) // min_tokens
    room = max(_UNITS_OF_PART, int(n_most[-1:].sum()) // _MOST_PARTS)
    is_last = np.diff((n_most - 1) // room, append=-2) != 0
    return np.unique(np.concatenate([[0], np.flatnonzero(is_last) + 1])).astype(np.int64)


def cut_equal_units(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> FoundSpans:
    """Find the paragraphs or lines that go for an equal one."""
    look = partial(_digest_units, plan=plan)
    exchange = BlockExchange("units", workspace, _N_PARTITIONS, share=_UNITS_SHARE)
    with runner.stage("read") as note:
        other, own = read_rows(exchange, look, sources, against, plan, workspace, runner)
        note(documents=len(own), units=exchange.n_rows)
    with runner.stage("cut") as note:
        ranks = None if plan.keep.rule == "first" else keep_ranks(own, plan.keep)
        rules = UnitRules(len(other), plan.options.min_documents, ranks)
        bounds = part_documents(own, plan.min_tokens)
        gone = ExchangedSpans.shuffle_in(workspace, bounds)
        n_done = sum(each is not None for each in gone.done())

        def settle(work: tuple[int, int, int]) -> tuple[pa.RecordBatch, list[Repeated]]:
            partition, number, n_passes = work
            return rules.settle(exchange.shuffle.read(partition), number, n_passes)

        def settled() -> Iterator[tuple[pa.RecordBatch, list[Repeated], bool]]:
            work: list[tuple[int, int, int]] = []
            for partition in range(n_done, _N_PARTITIONS):
                n_passes = count_passes(exchange.shuffle, partition, workspace, runner.workers)
                work += product([partition], range(n_passes), [n_passes])
            for each, (batch, found) in zip(work, runner.map(settle, work), strict=True):
                partition, number, n_passes = each
                is_last = number == n_passes - 1
                yield batch, found, is_last
                if is_last:
                    runner.report("cut", partition + 1, _N_PARTITIONS)

        spans, most = ExchangedSpans.gather(settled(), gone, bounds)
        note(units=len(spans))
    return other, own, spans, most
