"""Equal paragraphs and lines: brought together by their digests, and what goes back to its place.

Each unit is a row: its digest and its place. Rows go to partitions by the value of the digest, so
that equal ones meet in one, which decides by itself which of them stays. What goes is brought back
to the documents that it is in, some consecutive ones a partition, in which it is cut and written.
Both exchanges are in memory while rows fit, and in files of the work folder from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.files.rows import ColumnNames, Source
from neardup.jobs.cut.passages import Repeated, count_repeated
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans, count_documents, keep_ranks
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import FILE_TEXT_BYTES, ContentTable, KeptElsewhere, part_of
from neardup.reading.signed_batches import numbers_of
from neardup.reading.token_pass import take_texts
from neardup.runs.exchange import Shuffle
from neardup.tables import Bools, Digests, Int64s, Uint64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.jobs.cut.units import ListedUnits
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

_DIGESTS = ("digest_low", "digest_high")
_GONE = ("document", "start", "stop", "kept_document", "kept_start", "kept_stop")


@dataclass(frozen=True)
class DigestedUnits:
    """Units of the documents of a block, and the digest of each (n, 2)."""

    n_documents: int
    listed: ListedUnits
    digests: Uint64s

    def rows(self) -> tuple[pa.RecordBatch, Int64s]:
        """Return a row for each, sorted by partition; documents count from those of the block."""
        import pyarrow as pa

        partitions = part_of(self.digests[:, 1], N_PARTITIONS).astype(np.uint16)
        order = np.argsort(partitions, kind="stable")
        columns = dict(zip(_DIGESTS, self.digests[order].T.copy(), strict=True))
        listed = self.listed
        columns |= {
            "document": listed.documents[order],
            "start": listed.starts[order],
            "stop": listed.stops[order],
            "end": listed.ends[order],
        }
        return pa.RecordBatch.from_pydict(columns), partitions[order].astype(np.int64)


class UnitExchange:
    """Units of some collections on their way to the partitions of their digests.

    Used in a ``with`` block while they are added, block after block.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.shuffle = Shuffle(
            "units",
            workspace,
            N_PARTITIONS,
            in_memory=None,
            share=_UNITS_SHARE,
            weight_of_file=FILE_TEXT_BYTES,
        )
        # Of each block its collection, source, documents and units, also those of an earlier run.
        self._blocks: list[list[int]] = self.shuffle.done()
        self._n_documents = sum(block[2] for block in self._blocks)

    def kept_of(self, collection: int, n_sources: int) -> KeptElsewhere:
        """Return what of a collection is there already."""
        counts = [0] * n_sources
        for number, source, *_ in self._blocks:
            if number == collection:
                counts[source] += 1
        return KeptElsewhere(counts, lambda: self.shuffle.bytes_in_files)

    def add(
        self, collection: int, source: int, rows: tuple[pa.RecordBatch, Int64s], n_documents: int,
        text_bytes: int,
    ) -> None:  # fmt: skip
        """Add the units of the next block."""
        import pyarrow as pa

        batch, partitions = rows
        numbers = pa.array(numbers_of(batch, "document") + self._n_documents)
        place = batch.schema.get_field_index("document")
        batch = batch.set_column(place, "document", numbers)
        block = [collection, source, n_documents, len(batch)]
        self._blocks.append(block)
        self._n_documents += n_documents
        self.shuffle.add(batch, partitions, block, text_bytes)

    @property
    def n_units(self) -> int:
        """Count the units of all collections."""
        return sum(block[3] for block in self._blocks)

    def bounds_of(self, collection: int) -> Int64s:
        """Cut the documents of a collection into runs of blocks of about as many units."""
        own = np.array([b[2:] for b in self._blocks if b[0] == collection], np.int64).reshape(-1, 2)
        n_units = np.cumsum(own[:, 1])
        room = max(_UNITS_OF_PART, int(own[:, 1].sum()) // _MOST_PARTS)
        is_last = np.diff((n_units - 1) // room, append=-2) != 0
        ends = np.cumsum(own[:, 0])[is_last]
        return np.unique(np.concatenate([[0], ends])).astype(np.int64)


class ExchangedSpans:
    """Equal units that go, by document, some consecutive documents a partition: ``Spans``."""

    def __init__(self, shuffle: Shuffle, bounds: Int64s) -> None:
        self._shuffle, self._bounds = shuffle, bounds
        # Blocks of documents ask for one partition several times, one after the other.
        self._part = lru_cache(maxsize=4)(self._read)
        self._size = sum(
            len(batch) for part in range(self._n_parts) for batch in shuffle.read(part)
        )

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
        columns = [[np.empty(0, np.int64)] for _ in _GONE]
        for batch in self._shuffle.read(part):
            for column, name in zip(columns, _GONE, strict=True):
                # Copies, because a column may be mapped from a file.
                column.append(numbers_of(batch, name).copy())
        joined = [np.concatenate(column) for column in columns]
        order = np.lexsort((joined[1], joined[0]))
        documents, starts, stops, *kept = (column[order] for column in joined)
        return CutSpans(documents, starts, stops, kept[0], kept[1], kept[2], np.ones(len(order)))


def cut_equal_units(
    collections: Sequence[tuple[Sequence[Source], ColumnNames]],
    look: Callable[[pa.Array], tuple[Int64s, DigestedUnits]],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[tuple[Catalogue, ...], ExchangedSpans, list[Repeated]]:
    """Find the units that go for an equal one, and what of them is repeated most.

    Parameters
    ----------
    collections
        The other one, whose units all stay, and the own one.
    look
        Finds the units of some texts, and how many tokens each text has.
    """

    def look_further(texts: pa.Array) -> tuple[Int64s, tuple[Any, int]]:
        n_tokens, units = look(texts)
        return n_tokens, (units.rows(), units.n_documents)

    exchange = UnitExchange(workspace)
    kept = [exchange.kept_of(k, len(sources)) for k, (sources, _) in enumerate(collections)]
    with runner.stage("read") as note:
        with exchange.shuffle:

            def take(number: int, found: tuple[Any, int], source: int, text_bytes: int) -> None:
                exchange.add(number, source, *found, text_bytes)

            catalogues = take_texts(
                collections, plan.reading, look_further, take, workspace, runner, kept
            )
        note(documents=len(catalogues[1]), units=exchange.n_units)
    with runner.stage("cut") as note:
        other, own = catalogues
        ranks = None if plan.keep.rule == "first" else keep_ranks(own, plan.keep)
        settling = _Settling(
            exchange, exchange.bounds_of(1), len(other), ranks, plan.options.min_documents
        )
        spans, most = settling.run(workspace, runner)
        note(units=len(spans))
    return catalogues, spans, most


class _Settling:
    """Decides partition by partition which units go.

    ``ranks`` are the places of own documents in keep order, None if that is their own; there are
    none where another collection has documents.
    """

    def __init__(
        self,
        exchange: UnitExchange,
        bounds: Int64s,
        n_other: int,
        ranks: Int64s | None,
        min_documents: int | None,
    ) -> None:
        self._units, self._bounds = exchange.shuffle, bounds
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
        most: list[Repeated] = []
        n_done = 0
        for known in gone.done():
            if known is not None:
                n_done += 1
                most += [Repeated(**each) for each in known]
        work = []
        for partition in range(n_done, N_PARTITIONS):
            n_bytes = _SETTLING * self._units.nbytes(partition) * runner.workers
            n_passes = workspace.passes(n_bytes, _SETTLING_SHARE)
            work += list(product([partition], range(n_passes), [n_passes]))
        own_most: list[Repeated] = []
        weight = 0
        with gone:
            for (partition, number, n_passes), (batch, parts, found) in zip(
                work, runner.map(self._settle, work), strict=True
            ):
                own_most = Repeated.most([*own_most, *found])
                weight += batch.nbytes
                if number < n_passes - 1:
                    # No file ends within a partition.
                    gone.add(batch, parts)
                    continue
                gone.add(batch, parts, [asdict(each) for each in own_most], weight)
                most += own_most
                own_most, weight = [], 0
                runner.report("cut", partition + 1, N_PARTITIONS)
        return ExchangedSpans(gone, self._bounds), Repeated.most(most)

    def _settle(self, work: tuple[int, int, int]) -> tuple[pa.RecordBatch, Int64s, list[Repeated]]:
        """Return what goes of a pass over a partition, sorted by the parts it goes to."""
        import pyarrow as pa

        digests, (documents, starts, stops, ends) = self._read(*work)
        order = np.arange(len(documents))
        if self._ranks is not None:
            # Units of one document have its rank, so that they stay in the order of the text.
            order = np.argsort(self._ranks[documents - self._n_other], kind="stable")
        found = ContentTable().number(Digests(digests[order], np.ones(len(order), np.bool_)))
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

    def _read(self, partition: int, number: int, n_passes: int) -> tuple[Uint64s, list[Int64s]]:
        """Return the digests and places of a partition's units, in the order of the texts."""
        digests = [np.empty((0, 2), np.uint64)]
        places: list[list[Int64s]] = [
            [np.empty(0, np.int64)] for _ in ("document", "start", "stop", "end")
        ]
        for batch in self._units.read(partition):
            pairs = np.column_stack([numbers_of(batch, name) for name in _DIGESTS])
            rows: Any = slice(None)
            if n_passes > 1:
                rows = np.flatnonzero(part_of(pairs[:, 0], n_passes) == number)
            digests.append(pairs[rows])
            for column, name in zip(places, ("document", "start", "stop", "end"), strict=True):
                column.append(numbers_of(batch, name)[rows])
        return np.concatenate(digests), [np.concatenate(column) for column in places]
