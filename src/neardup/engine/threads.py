"""The engine of threads: rows in memory while they fit, and in files of the work folder after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from neardup.engine.engine import (
    DOCUMENT,
    Change,
    Engine,
    Given,
    Look,
    Means,
    Partition,
    Read,
    Route,
    Rows,
)
from neardup.files.ids import choose_id_column
from neardup.files.passes import ReadingPass
from neardup.matching.join import cut_runs
from neardup.reading.block_exchange import FILE_TEXT_BYTES, BlockExchange, Sorted
from neardup.reading.catalogue import Catalogue, make_catalogue
from neardup.reading.first_pass import read_blocks
from neardup.reading.second_pass import OfTexts, read_texts
from neardup.reading.sign import Collections, ListedBlock, ReadingPlan
from neardup.reading.signed_batches import numbers_of
from neardup.reading.write_pass import write_documents
from neardup.runs.exchange import Shuffle, SpilledBatches
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Int64s, TokenLists
from neardup.text.weighting import DocumentFrequencies, count_documents

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.rows import RowBlock, Source
    from neardup.files.streams import Destination
    from neardup.options.choices import OutputFormat

T = TypeVar("T")
U = TypeVar("U")

# Enough that rows of 20 GB of text are worked on within 1 GB in one pass each.
_N_PARTITIONS = 256

# Partitions are worked on together up to so many bytes of rows, for which a thread has so many
# times the room.
_TOGETHER_BYTES, _ROOM = 1 << 23, 8

# Shares of the memory: what stays known of documents, rows that may stay or wait to be written, and
# what all threads take that work on partitions.
_LISTED_SHARE, _ROWS_SHARE, _WORKING_SHARE = 0.2, 0.25, 0.3


class ThreadEngine(Engine):
    """Threads of this process."""

    name = "threads"

    @property
    def workers(self) -> int:
        """How many threads work."""
        return self.runner.workers

    def stream(
        self,
        stage: str,
        sources: Sequence[Source],
        look: Callable[[Source, RowBlock], T],
        work: Callable[[Iterator[T], Means], Iterator[U]],
    ) -> Iterator[U]:
        """Yield what ``work`` makes of all blocks, which threads parse while it works."""
        reading = ReadingPass(stage, sources, self.runner, waits=True)
        blocks = (found for _, found in reading.map(look, sources))
        for made in work(blocks, Means(self.runner, self.workspace, reading.within)):
            yield made
            reading.finish()
        if sources:
            reading.finish()

    def count(
        self,
        stage: str,
        collections: Sequence[tuple[Sequence[Source], Callable[[Source, RowBlock], TokenLists]]],
    ) -> DocumentFrequencies:
        """Count in how many documents of some collections each token is."""
        every = [source for sources, _ in collections for source in sources]
        reading = ReadingPass(stage, every, self.runner)
        return count_documents(
            lists for sources, look in collections for _, lists in reading.map(look, sources)
        )

    def read(
        self, name: str, collections: Collections, look: Look, route: Route | None = None
    ) -> Read:
        """Read all documents of some collections once, and bring rows to partitions."""
        n_partitions = 1 if route is None else _N_PARTITIONS
        exchange = BlockExchange(name, self.workspace, n_partitions, share=_ROWS_SHARE)
        every = [source for sources, _ in collections for source in sources]
        reading = ReadingPass("read", every, self.runner)
        kept = [exchange.kept_of(k, len(sources)) for k, (sources, _) in enumerate(collections)]
        catalogues = []
        with exchange.shuffle:
            for number, (sources, plan) in enumerate(collections):
                plan = replace(plan, columns=choose_id_column(plan.columns, sources))

                def take(
                    _: pa.RecordBatch,
                    known: Mapping[str, Any],
                    found: list[tuple[Sorted, int]],
                    number: int = number,
                ) -> None:
                    exchange.add(number, found[0], known["source"], known["text_bytes"])

                with SpilledBatches(
                    f"ids-{number}",
                    self.workspace,
                    share=_LISTED_SHARE,
                    weight_of_file=FILE_TEXT_BYTES,
                ) as batches:
                    read_blocks(
                        sources,
                        partial(_look_at, look, route, plan),
                        batches,
                        reading,
                        plan.columns,
                        take,
                        kept[number],
                    )
                catalogues.append(
                    make_catalogue(
                        sources,
                        plan.columns,
                        batches,
                        skips_bad=plan.skip_bad,
                        with_lengths=plan.with_lengths,
                    )
                )
        rows = _ThreadRows(exchange.shuffle, exchange.n_rows)
        return Read(tuple(catalogues), collections[0][1], rows)

    def work(self, rows: Rows, function: Callable[[Partition], Iterator[Given]]) -> Rows:
        """Return what a function makes of each partition; it works when that is collected."""
        assert isinstance(rows, _ThreadRows)
        return replace(rows, function=function)

    def collect(self, rows: Rows, stage: str, first: int = 0) -> Iterator[tuple[int, list[Given]]]:
        """Yield what was made of partitions; small ones are worked on together."""
        assert isinstance(rows, _ThreadRows)
        if rows.function is None:
            yield from ((1, [(None, each)]) for each in rows.shuffle.read_all(let_go=True))
            return
        sizes = np.array([rows.shuffle.nbytes(each) for each in range(first, _N_PARTITIONS)])
        room = _TOGETHER_BYTES
        if self.workspace.work is not None:
            room = min(room, self.workspace.share(_WORKING_SHARE) // (_ROOM * self.workers))

        def work(run: tuple[int, int]) -> tuple[int, list[Given]]:
            assert rows.function is not None
            start, stop = first + run[0], first + run[1]
            return stop, list(rows.function(_ThreadPartition(rows, start, stop, self)))

        for stop, given in self.runner.map(work, cut_runs(sizes, room)):
            yield stop, given
            self.runner.report(stage, stop, _N_PARTITIONS)

    def read_again(self, read: Read, documents: Int64s, function: OfTexts[T]) -> Iterator[T]:
        """Read some documents again, and yield what is made of their texts, block by block."""
        sizes = [len(catalogue) for catalogue in read.catalogues]
        places: Int64s = np.full(sum(sizes), -1, np.int64)
        places[documents] = np.arange(len(documents))
        wanted = np.split(places, np.cumsum(sizes)[:-1])
        for _, made in read_texts(read.catalogues, wanted, read.reading, self.runner, function):
            yield made

    def release(self, read: Read) -> None:
        """Let go of nothing: a run that goes on may need files, and memory goes with the rows."""

    def write(
        self,
        documents: Catalogue,
        sides: Mapping[str, Bools],
        folder: Destination,
        output_format: OutputFormat,
        runner: Runner,
        write_others: Callable[[], None],
        change: Change | None = None,
    ) -> None:
        """Write documents to folders."""

        def changed(block: RowBlock, rows: slice) -> RowBlock:
            return block if change is None else change.apply(change.gathered, block, rows)

        write_documents(documents, sides, folder, output_format, runner, changed, write_others)


def _look_at(
    look: Look, route: Route | None, plan: ReadingPlan, block: RowBlock
) -> tuple[ListedBlock, list[tuple[Sorted, int]]]:
    """Make rows of a block, and sort them by partition."""
    import pyarrow as pa

    found, rows = look(block, plan)
    if route is None:
        return found, [((rows, np.zeros(len(rows), np.int64)), len(block))]
    partitions = route(rows, _N_PARTITIONS)
    order = np.argsort(partitions.astype(np.uint16), kind="stable")
    return found, [((rows.take(pa.array(order)), partitions[order]), len(block))]


@dataclass(frozen=True)
class _ThreadRows(Rows):
    """Rows in a shuffle, columns by document that they are given, and who works on them."""

    shuffle: Shuffle
    n_rows: int
    columns: Mapping[str, Int64s] = field(default_factory=dict)
    function: Callable[[Partition], Iterator[Given]] | None = None

    def with_columns(self, columns: Mapping[str, Int64s]) -> Rows:
        """Return the rows with more columns."""
        return replace(self, columns={**self.columns, **columns})


@dataclass(frozen=True)
class _ThreadPartition(Partition):
    """Rows of some partitions, from ``start`` to ``stop``."""

    found: _ThreadRows
    start: int
    stop: int
    engine: ThreadEngine

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows."""
        import pyarrow as pa

        n_partitions = self.stop - self.start
        for batch in self.found.shuffle.read(self.start, n_partitions=n_partitions):
            for name, values in self.found.columns.items():
                values = values[numbers_of(batch, DOCUMENT)]
                batch = batch.append_column(name, pa.array(values))
            yield batch

    def count_passes(self, factor: int) -> int:
        """Count the passes; as many partitions as there are threads are worked on at once."""
        numbers = range(self.start, self.stop)
        n_bytes = sum(self.found.shuffle.nbytes(each) for each in numbers)
        n_bytes *= factor * self.engine.workers
        return self.engine.workspace.passes(n_bytes, _WORKING_SHARE)


def partition_of(
    batches: Iterator[pa.RecordBatch], runner: Runner, workspace: Workspace
) -> Partition:
    """Return rows that come to a task as a partition, in memory or in files of the task."""
    shuffle = Shuffle("rows", workspace, 1, in_memory=None, share=_ROWS_SHARE)
    n_rows = 0
    with shuffle:
        for batch in batches:
            n_rows += len(batch)
            shuffle.add(batch, np.zeros(len(batch), np.int64))
    return _ThreadPartition(_ThreadRows(shuffle, n_rows), 0, 1, ThreadEngine(runner, workspace))
