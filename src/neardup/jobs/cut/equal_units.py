"""Equal paragraphs and lines: brought together by their digests, and what goes back to its place.

Each unit is a row: its digest and its place. Rows go to partitions by the value of the digest, so
that equal ones meet in one, which decides by itself which of them stays. What goes is brought back
to the documents that it is in, some consecutive ones a partition, in which it is cut and written.
Both exchanges are in memory while rows fit, and in files of the work folder from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.files.rows import Source
from neardup.jobs.cut.passages import Repeated, count_repeated
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans, count_documents, keep_ranks
from neardup.jobs.cut.units import find_units
from neardup.reading.block_exchange import BlockExchange, Sorted
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import ContentTable, part_of
from neardup.reading.signed_batches import numbers_of
from neardup.reading.token_pass import take_texts
from neardup.runs.exchange import Shuffle
from neardup.stages.options import other_columns_of
from neardup.tables import Bools, Digests, Int64s
from neardup.text.shingles import digest_token_lists

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.runner import Runner
    from neardup.runs.work import Workspace

# By the digest: enough that rows of 20 GB of lines are worked on within 1 GB in one pass each.
N_PARTITIONS = 256

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


def digest_units(texts: pa.Array, plan: CutJobPlan) -> tuple[Int64s, tuple[Sorted, int]]:
    """Make a row of each unit of some texts; documents are counted from the first text.

    Returns how many tokens each text has; the rows, and how many texts there are.
    """
    import pyarrow as pa

    n_tokens, listed, parts, long = find_units(texts, plan)
    digests = [np.empty((0, 2), np.uint64), *map(digest_token_lists, parts)]
    low, high = np.concatenate(digests).T
    partitions = part_of(high[long], N_PARTITIONS).astype(np.uint16)
    order = np.argsort(partitions, kind="stable")
    rows = long[order]
    columns = dict(zip(_DIGESTS, (low[rows], high[rows]), strict=True))
    places = (listed.documents, listed.starts, listed.stops, listed.ends)
    columns |= {name: each[order] for name, each in zip(_PLACES, places, strict=True)}
    batch = pa.RecordBatch.from_pydict(columns)
    return n_tokens, ((batch, partitions[order].astype(np.int64)), len(texts))


def cut_documents(exchange: BlockExchange, collection: int) -> Int64s:
    """Cut the documents of a collection into runs of blocks of about as many units."""
    own = exchange.blocks_of(collection)
    n_units = np.cumsum(own[:, 1])
    room = max(_UNITS_OF_PART, int(own[:, 1].sum()) // _MOST_PARTS)
    is_last = np.diff((n_units - 1) // room, append=-2) != 0
    ends = np.cumsum(own[:, 0])[is_last]
    return np.unique(np.concatenate([[0], ends])).astype(np.int64)


class ExchangedSpans:
    """Equal units that go, by document, some consecutive documents a partition: ``Spans``."""

    def __init__(self, shuffle: Shuffle, bounds: Int64s, size: int) -> None:
        self._shuffle, self._bounds, self._size = shuffle, bounds, size
        # Blocks of documents ask for one partition several times, one after the other.
        self._part = lru_cache(maxsize=4)(self._read)

    def __len__(self) -> int:
        return self._size

    def __reduce__(self) -> tuple[Callable[..., CutSpans], tuple[list[CutSpans]]]:
        """Be copied as spans in memory, because files go with the run."""
        return CutSpans.join, (list(self.parts()),)

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
        return CutSpans.join([self._part(part).of_documents(documents) for part in parts])

    def _read(self, part: int) -> CutSpans:
        columns = _columns_of(self._shuffle.read(part), _GONE)
        documents, starts = columns[:2]
        room = int(starts.max(initial=0)) + 1
        # One run of rows after the other is in order, which this sort makes use of.
        order = np.argsort((documents - self._bounds[part]) * room + starts, kind="stable")
        documents, starts, stops, *kept = (column[order] for column in columns)
        return CutSpans(documents, starts, stops, kept[0], kept[1], kept[2], np.ones(len(order)))


def _columns_of(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> list[Any]:
    """Return columns of some batches, each of all of them as one array in memory."""
    import pyarrow as pa

    listed = list(batches)
    if not listed:
        return [np.empty(0, np.uint64 if name in _DIGESTS else np.int64) for name in names]
    table = pa.Table.from_batches(listed)
    return [table.column(name).to_numpy() for name in names]


def cut_equal_units(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[Catalogue, Catalogue, ExchangedSpans, list[Repeated]]:
    """Find the paragraphs or lines that go for an equal one.

    Returns both collections, the other one first, what goes, and what of it is repeated most.
    """
    collections = [(against, other_columns_of(plan.options)), (sources, plan.reading.columns)]
    look = partial(digest_units, plan=plan)
    exchange = BlockExchange("units", workspace, N_PARTITIONS, share=_UNITS_SHARE)
    kept = [exchange.kept_of(k, len(each)) for k, (each, _) in enumerate(collections)]
    with runner.stage("read") as note:
        with exchange.shuffle:
            other, own = take_texts(
                collections, plan.reading, look, exchange.add, workspace, runner, kept
            )
        note(documents=len(own), units=exchange.n_rows)
    with runner.stage("cut") as note:
        ranks = None if plan.keep.rule == "first" else keep_ranks(own, plan.keep)
        bounds = cut_documents(exchange, 1)
        settling = _Settling(
            exchange.shuffle, bounds, len(other), ranks, plan.options.min_documents
        )
        spans, most = settling.run(workspace, runner)
        note(units=len(spans))
    return other, own, spans, most


class _Settling:
    """Decides partition by partition which units go.

    ``ranks`` are the places of own documents in keep order, None if that is their own; there are
    none where another collection has documents.
    """

    def __init__(
        self,
        units: Shuffle,
        bounds: Int64s,
        n_other: int,
        ranks: Int64s | None,
        min_documents: int | None,
    ) -> None:
        self._units, self._bounds = units, bounds
        self._n_other, self._ranks, self._min_documents = n_other, ranks, min_documents

    def run(self, workspace: Workspace, runner: Runner) -> tuple[ExchangedSpans, list[Repeated]]:
        """Settle all partitions, but for those that an earlier run has settled."""
        gone = Shuffle(
            "gone",
            workspace,
            len(self._bounds) - 1,
            in_memory=None,
            share=_GONE_SHARE,
            weight_of_file=_FILE_BYTES,
        )
        # Of each partition how many units go, and what is repeated most among them.
        settled: list[tuple[int, list[Any]]] = [each for each in gone.done() if each is not None]
        work = []
        for partition in range(len(settled), N_PARTITIONS):
            n_bytes = _SETTLING * self._units.nbytes(partition) * runner.workers
            n_passes = workspace.passes(n_bytes, _SETTLING_SHARE)
            work += list(product([partition], range(n_passes), [n_passes]))
        most: list[Repeated] = []
        size = n_bytes = 0
        with gone:
            for (partition, number, n_passes), (batch, parts, found) in zip(
                work, runner.map(self._settle, work), strict=True
            ):
                most = Repeated.most([*most, *found])
                size, n_bytes = size + len(batch), n_bytes + batch.nbytes
                if number < n_passes - 1:
                    # No file ends within a partition.
                    gone.add(batch, parts)
                    continue
                settled.append((size, most))
                gone.add(batch, parts, settled[-1], n_bytes)
                most, size, n_bytes = [], 0, 0
                runner.report("cut", partition + 1, N_PARTITIONS)
        every = (Repeated(*each) for _, found in settled for each in found)
        spans = ExchangedSpans(gone, self._bounds, sum(size for size, _ in settled))
        return spans, Repeated.most(every)

    def _settle(self, work: tuple[int, int, int]) -> tuple[pa.RecordBatch, Int64s, list[Repeated]]:
        """Return what goes of a pass over a partition, sorted by the parts it goes to."""
        import pyarrow as pa

        low, high, documents, starts, stops, ends = self._read(*work)
        order = np.arange(len(documents))
        if self._ranks is not None:
            # Units of one document have its rank, so that they stay in the order of the text.
            order = np.argsort(self._ranks[documents - self._n_other], kind="stable")
        digests = np.column_stack([low[order], high[order]])
        found = ContentTable().number(Digests(digests, np.ones(len(order), np.bool_)))
        keepers = np.empty(len(order), np.int64)
        groups = np.empty(len(order), np.int64)
        groups[order] = found.numbers
        keepers[order] = order[found.is_first][found.numbers]
        goes: Bools = keepers != np.arange(len(order))
        if self._n_other:
            # Nothing goes but what the other collection has.
            goes = (documents >= self._n_other) & (documents[keepers] < self._n_other)
        if self._min_documents is not None:
            counted = np.flatnonzero(goes | (keepers == np.arange(len(order))))
            n_groups = int(groups.max(initial=-1)) + 1
            n_documents = count_documents(groups[counted], documents[counted], n_groups)
            goes &= n_documents[groups] >= self._min_documents
        gone = np.flatnonzero(goes)
        keepers = keepers[gone]
        spans = CutSpans(
            documents[gone] - self._n_other,
            starts[gone],
            ends[gone],
            documents[keepers],
            starts[keepers],
            stops[keepers],
            np.ones(len(gone)),
        )
        batch = pa.RecordBatch.from_pydict(
            dict(zip(_GONE, list(vars(spans).values())[: len(_GONE)], strict=True))
        )
        parts = np.searchsorted(self._bounds, spans.documents, side="right") - 1
        return batch, parts, count_repeated(spans, groups[gone])

    def _read(self, partition: int, number: int, n_passes: int) -> list[Any]:
        """Return digests and places of a partition's units, in the order of the texts."""
        import pyarrow as pa

        def wanted(batch: pa.RecordBatch) -> pa.RecordBatch:
            is_wanted = part_of(numbers_of(batch, _DIGESTS[0]), n_passes) == number
            return batch.take(pa.array(np.flatnonzero(is_wanted)))

        batches = self._units.read(partition)
        if n_passes > 1:
            batches = map(wanted, batches)
        return _columns_of(batches, _DIGESTS + _PLACES)
