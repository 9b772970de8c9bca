"""The engine of threads, with rows in memory or files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.engine.engine import (
    DOCUMENT,
    PLACE,
    WORKING_SHARE,
    BlockFunction,
    Change,
    Columns,
    DocumentPartition,
    DocumentRows,
    Engine,
    Exchanged,
    FactsAndRows,
    Group,
    GroupFunction,
    Keys,
    Partitions,
    Pick,
    Read,
    Revisited,
    Route,
    RowPartition,
    TaskResources,
    TaskRows,
    WorkLimits,
    pick_placed,
    read_sets_of,
)
from neardup.files.documents import ReadingPass, choose_id_column
from neardup.files.rows import RowBlock, Source
from neardup.files.streams import Destination, file_has_changed
from neardup.options.choices import OutputFormat
from neardup.reading.catalogue import Catalogue, make_catalogue
from neardup.reading.passes import (
    TextFunction,
    numbered_blocks,
    part_of,
    read_comparable,
    read_texts,
    tokens_of,
    write_documents,
)
from neardup.reading.sign import (
    Collections,
    ListedBlock,
    ReadingPlan,
    SignedBatches,
    TokenCollections,
    count_tokens,
    numbers_of,
)
from neardup.runs.exchange import Shuffle, SpilledBatches, load_or_compute
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Int64s, ShingleSets, Texts, WeightedSets, cut_runs
from neardup.text.weighting import DocumentFrequencies

if TYPE_CHECKING:
    from neardup.index.open_index import SharedFolder

T = TypeVar("T")
U = TypeVar("U")

# Enough to process rows of 20 GB of text within 1 GB of memory in one pass each.
_N_PARTITIONS = 256

# Small partitions are processed together up to this many bytes of rows; and the ratio of a thread's
# memory to these rows.
_TOGETHER_BYTES, _ROOM = 1 << 23, 8

# Shares of the memory: facts about documents, and rows in memory or waiting to be written.
_LISTED_SHARE, _ROWS_SHARE = 0.25, 0.2

# For signed documents: rows that are grouped at the same time, picked rows in memory, rows waiting
# to be written, the compared sets of all documents, and the partitions in work.
_GROUPING_SHARE, _PICKED_SHARE, _WAITING_SHARE, _SETS_SHARE = 0.4, 0.25, 0.2, 0.5
_PARTITION_SHARE, _PARTITIONS_A_WORKER = 0.4, 8
# Partitions beyond this multiple of an even share are processed by all threads.
_LARGE = 2
# Documents, times kinds of keys, that are grouped in one step.
_LEAST_GROUPED = 1 << 16

# Text per file of read documents in a work folder, and of texts that are read again, which is the
# loss of a killed run.
FILE_TEXT_BYTES, _FILE_BYTES = 256_000_000, 1_000_000_000


class ThreadEngine(Engine):
    """Run a job's verbs on threads of this process."""

    name = "threads"

    @property
    def workers(self) -> int:
        return self.runner.workers

    def stream(
        self,
        stage: str,
        sources: Sequence[Source],
        read_block: Callable[[Source, RowBlock], T],
        work: Callable[[Iterator[T], TaskResources], Iterator[U]],
    ) -> Iterator[U]:
        reading = ReadingPass(stage, sources, self.runner, waits=True)
        blocks = (found for _, found in reading.map(read_block, sources))
        for made in work(blocks, TaskResources(self.runner, self.workspace, reading.within)):
            yield made
            reading.finish()
        if sources:
            reading.finish()

    @contextmanager
    def share(self, folder: Path) -> Iterator[SharedFolder]:
        from neardup.index.open_index import SeenFolder

        yield SeenFolder(folder)

    def count(self, stage: str, collections: TokenCollections) -> DocumentFrequencies:
        return count_tokens(stage, collections, self.runner)

    def read(
        self,
        collections: Collections,
        read_block: BlockFunction,
        name: str | None = None,
        route: Route | None = None,
    ) -> Read:
        every = [source for sources, _ in collections for source in sources]
        reading = ReadingPass("read", every, self.runner)
        banding = collections[0][1].banding
        catalogues, signed = [], SignedBatches(banding.bands if banding else 0)
        rows = _BlockRows(name, self.workspace, route)
        with rows.shuffle:
            for number, (sources, plan) in enumerate(collections):
                plan = replace(plan, columns=choose_id_column(plan.columns, sources))
                listed = SpilledBatches(
                    f"{name or 'signed'}-{number}",
                    self.workspace,
                    share=_LISTED_SHARE,
                    weight_of_file=FILE_TEXT_BYTES,
                )
                with listed:
                    _read_blocks(number, sources, plan, read_block, reading, listed, rows)
                signed.add(listed)
                catalogues.append(make_catalogue(sources, plan, listed))
        own_rows = _ThreadRows(rows.n_rows, self, rows.shuffle, route)
        return ThreadRead(tuple(catalogues), collections[0][1], own_rows, signed, self)

    @cached_property
    def limits(self) -> WorkLimits:
        workspace, partition_bytes, group_bytes = self.workspace, None, None
        if workspace.work is not None:
            partition_bytes = workspace.share(_PARTITION_SHARE) // (self.workers + 1)
            group_bytes = workspace.share(1)
        return WorkLimits(_PARTITIONS_A_WORKER * self.workers, partition_bytes, 1, group_bytes)

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
        def changed(block: RowBlock, rows: slice) -> RowBlock:
            return block if change is None else change.apply(change.gathered, block, rows)

        write_documents(documents, sides, folder, output_format, runner, changed, write_others)


def _read_blocks(
    collection: int,
    sources: Sequence[Source],
    plan: ReadingPlan,
    read_block: BlockFunction,
    reading: ReadingPass,
    listed: SpilledBatches,
    rows: _BlockRows,
) -> None:
    """Add blocks' documents and rows, except an earlier run's.

    Once rows are written to files, so are the facts about their documents: a resumed run has both.
    """
    # Blocks of each source, of which an earlier run has stored the documents, and the rows.
    n_listed = [0] * len(sources)
    for _, facts in listed.with_facts():
        n_listed[facts["source"]] += 1
    n_added = rows.count_blocks(collection, len(sources)) if rows.are_kept else n_listed
    # Blocks missing in either are read again.
    n_read = [min(each) for each in zip(n_listed, n_added, strict=True)]

    def work(_: Source, block: RowBlock) -> tuple[ListedBlock, Sorted | None]:
        found = read_block(block, plan)
        return found, None if found.rows is None else rows.sort(found.rows)

    for source, (found, of_rows) in reading.map(work, sources, n_read.copy()):
        found.facts["source"] = source
        n_read[source] += 1
        n_bytes = found.facts["text_bytes"]
        if of_rows is not None and n_read[source] > n_added[source]:
            rows.add([collection, source, len(found.documents)], *of_rows, n_bytes)
        if rows.shuffle.bytes_in_files:
            listed.to_files()
        if n_read[source] > n_listed[source]:
            listed.append(found.documents, found.facts, n_bytes)


# Rows, and the partition of each in ascending order.
Sorted = tuple[pa.RecordBatch, Int64s]


class _BlockRows:
    """Rows by partition, added in a ``with`` block of ``shuffle``."""

    def __init__(self, name: str | None, workspace: Workspace, route: Route | None) -> None:
        self._route, self.are_kept = route, name is not None
        self.shuffle = Shuffle(
            name or "none",
            workspace,
            1 if route is None else _N_PARTITIONS,
            in_memory=None if name else True,
            share=_ROWS_SHARE,
            weight_of_file=FILE_TEXT_BYTES,
        )
        # Collection, source, documents and rows of each block, including an earlier run.
        self._blocks: list[list[int]] = self.shuffle.done()
        self._n_documents = sum(block[2] for block in self._blocks)

    def count_blocks(self, collection: int, n_sources: int) -> list[int]:
        own = [source for number, source, *_ in self._blocks if number == collection]
        return np.bincount(own, minlength=n_sources).tolist() if own else [0] * n_sources

    def sort(self, rows: pa.RecordBatch) -> Sorted:
        if self._route is None:
            return rows, np.zeros(len(rows), np.int64)
        partitions = self._route(rows, _N_PARTITIONS)
        if (partitions[1:] >= partitions[:-1]).all():
            return rows, partitions
        order = np.argsort(partitions.astype(np.uint16), kind="stable")
        return rows.take(pa.array(order)), partitions[order]

    def add(
        self, block: list[int], rows: pa.RecordBatch, partitions: Int64s, text_bytes: int
    ) -> None:
        """Add a block's sorted rows, with documents numbered from 0."""
        place = rows.schema.get_field_index(DOCUMENT)
        if place >= 0:
            documents = pa.array(numbers_of(rows, DOCUMENT) + self._n_documents)
            rows = rows.set_column(place, DOCUMENT, documents)
        self._blocks.append([*block, len(rows)])
        self._n_documents += block[2]
        self.shuffle.add(rows, partitions, self._blocks[-1], text_bytes)

    @property
    def n_rows(self) -> int:
        return sum(block[3] for block in self._blocks)


@dataclass(frozen=True)
class _ThreadRows(TaskRows):
    engine: ThreadEngine
    shuffle: Shuffle
    route: Route | None = None
    columns: Mapping[str, Int64s] = field(default_factory=dict)
    n_groups: int | None = None
    documents_of: Callable[[int], pa.RecordBatch] | None = None
    function: Callable[[Any], Iterator[FactsAndRows]] | None = None

    def group(self, n_groups: int, documents_of: Callable[[int], pa.RecordBatch]) -> TaskRows:
        return replace(self, n_groups=n_groups, documents_of=documents_of)

    def work(
        self,
        function: Callable[[Any], Iterator[FactsAndRows]],
        columns: Mapping[str, Int64s] | None = None,
    ) -> TaskRows:
        return replace(self, function=function, columns=columns or {})

    def collect(self, stage: str, first: int = 0) -> Iterator[tuple[int, list[FactsAndRows]]]:
        function = self.function
        if function is None:
            return ((1, [(None, each)]) for each in self.shuffle.read_all(free_rows=True))
        if self.n_groups is not None:
            numbers = range(first, self.n_groups)
            return ((number + 1, list(function(self._group(number)))) for number in numbers)
        workspace, workers = self.engine.workspace, self.engine.workers
        sizes, room = self.shuffle.sizes()[first:], _TOGETHER_BYTES
        if workspace.work is not None:
            room = min(room, workspace.share(WORKING_SHARE) // (_ROOM * workers))

        def work(run: tuple[int, int]) -> tuple[int, list[FactsAndRows]]:
            start, stop = first + run[0], first + run[1]
            n_bytes = int(sizes[slice(*run)].sum())
            partition = RowPartition(
                self.shuffle, start, stop, n_bytes, workspace, workers, self.columns
            )
            return stop, list(function(partition))

        runs = list(cut_runs(sizes, room))
        return self.engine.runner.map(work, runs, stage, [first + stop for _, stop in runs])

    def _group(self, number: int) -> Group:
        assert self.documents_of is not None
        assert self.n_groups is not None
        documents, partitions = self.documents_of(number), None
        if self.n_groups > 1 and self.route is not None:
            partitions = np.unique(self.route(documents, _N_PARTITIONS)).tolist()
        return Group(documents, self.engine.runner, self.shuffle, partitions)


@dataclass(frozen=True)
class ThreadRead(Read):
    """Documents whose columns are in memory or files of this process."""

    engine: ThreadEngine

    def group_by_keys(
        self, given: Columns, keys: Keys, function: GroupFunction, stage: str | None = None
    ) -> Iterator[Any]:
        if not self.n_documents:
            return iter(())
        engine = self.engine
        n_bytes = self.n_documents * keys.row_bytes * min(engine.workers, keys.n_kinds)
        n_passes = engine.workspace.passes(n_bytes, _GROUPING_SHARE)
        batches: Iterable[tuple[int, Any]] = self.signed
        if self.signed.is_in_memory:
            # Threads wait for each other at every call, so long tables replace short batches.
            runs = (list(run) for _, run in groupby(self.signed, lambda each: each[1].schema))
            batches = [
                (run[0][0], pa.Table.from_batches([rows for _, rows in run])) for run in runs
            ]
        # Kinds of few documents share a step.
        kinds = list(cut_runs(np.full(keys.n_kinds, self.n_documents), _LEAST_GROUPED))

        def work(step: int) -> Any:
            number, (start, stop) = step // len(kinds), kinds[step % len(kinds)]
            part = number, n_passes
            return function(
                _with_keys(batches, given, keys, kind, part) for kind in range(start, stop)
            )

        n_steps = n_passes * len(kinds)
        return engine.runner.map(work, range(n_steps), stage, range(1, n_steps + 1))

    def exchange(self, name: str, pick: Pick, partitions: Partitions) -> Exchanged:
        workspace, n_documents = self.engine.workspace, self.n_documents
        n_bytes = sum(batch.nbytes for _, batch in self.signed)
        in_memory = self.signed.is_in_memory and workspace.fits(n_bytes, _PICKED_SHARE)
        shuffle = Shuffle(
            name, workspace, len(partitions), in_memory=in_memory, share=_WAITING_SHARE
        )
        exchanged = _ThreadExchanged(self, partitions, shuffle)
        if shuffle.done():
            return exchanged
        if not in_memory:
            partitions.store(workspace)
        places = partitions.places_by_document(n_documents)

        def pick_from(item: tuple[int, pa.RecordBatch]) -> tuple[pa.RecordBatch, Int64s]:
            start, batch = item
            rows = pick_placed(pick, batch, places[start : start + len(batch)])
            return rows, partitions.of_places(numbers_of(rows, PLACE))

        with shuffle:
            # Calls are so short that threads would only wait for each other.
            for rows, of_rows in map(pick_from, self.signed):
                shuffle.add(rows, of_rows)
        return exchanged

    def again(self, documents: Int64s, function: TextFunction[T]) -> Iterator[T]:
        places: Int64s = np.full(self.n_documents, -1, np.int64)
        places[documents] = np.arange(len(documents))
        return read_texts(self.catalogues, places, self.reading, self.engine.runner, function)

    def revisit(self, wanted: Bools, function: Callable[[Revisited], T]) -> Iterator[T]:
        def blocks() -> Iterator[Revisited]:
            signed = iter(self.signed.of_last)
            for source, start, stop in self.catalogues[-1].ranges():
                for block, rows in numbered_blocks(source, start, stop):
                    first, batch = next(signed)
                    if first != rows.start or len(batch) != len(block):
                        raise file_has_changed(source.name)
                    if wanted[rows].any():
                        yield Revisited(source, block, batch, wanted[rows])

        return self.engine.runner.map(function, blocks())


def _with_keys(
    batches: Iterable[tuple[int, Any]],
    given: Columns,
    keys: Keys,
    kind: int,
    part: tuple[int, int],
) -> Columns:
    """Return all rows with a range of one kind's keys."""
    number, n_parts = part
    listed = []
    for first, batch in batches:
        own = {name: values[first : first + len(batch)] for name, values in given.items()}
        columns = keys.list_keys(DocumentRows(first, batch, own), kind)
        if n_parts > 1:
            is_here = part_of(columns["key"], n_parts) == number
            columns = {name: values[is_here] for name, values in columns.items()}
        listed.append(columns)
    return {name: np.concatenate([each[name] for each in listed]) for name in listed[0]}


@dataclass(frozen=True)
class _ThreadExchanged(Exchanged):
    read: ThreadRead
    partitions: Partitions
    rows: Shuffle
    ranks: Int64s | None = None
    sets: ShingleSets | WeightedSets | None = None
    texts: Shuffle | None = None

    def with_sets(self, are_wanted: Bools) -> Exchanged:
        """Read documents again, into memory if all sets fit."""
        engine, catalogues = self.read.engine, self.read.catalogues
        ranks = np.cumsum(are_wanted) - 1
        own_ranks: Int64s = np.full(self.read.n_documents, -1, np.int64)
        own_ranks[self.partitions.documents[are_wanted]] = ranks[are_wanted]
        n_tokens = tokens_of(catalogues, own_ranks)
        if engine.workspace.fits(8 * int(n_tokens.sum()), _SETS_SHARE):
            sets = read_comparable(catalogues, own_ranks, self.read.reading, engine.runner)
            return replace(self, ranks=ranks, sets=sets)
        return replace(self, texts=self._exchange_texts(are_wanted))

    def _exchange_texts(self, are_wanted: Bools) -> Shuffle:
        workspace, catalogues = self.read.engine.workspace, self.read.catalogues
        shuffle = Shuffle(
            "texts",
            workspace,
            len(self.partitions),
            in_memory=False,
            share=_WAITING_SHARE,
            compression="lz4",
            weight_of_file=_FILE_BYTES,
        )
        places = self.partitions.places_by_document(self.read.n_documents, are_wanted)

        def to_batch(texts: Texts, own_places: Int64s, _: str) -> tuple[pa.RecordBatch, Int64s]:
            order = np.argsort(own_places)
            batch = pa.RecordBatch.from_pydict({PLACE: own_places, **texts.columns()})
            return batch.take(pa.array(order)), self.partitions.of_places(own_places[order])

        self.partitions.store(workspace)
        n_done = len(shuffle.done())
        reading, runner = self.read.reading, self.read.engine.runner
        with shuffle:
            for batch, of_rows in read_texts(catalogues, places, reading, runner, to_batch, n_done):
                shuffle.add(batch, of_rows, None, batch.nbytes)
        return shuffle

    def work(
        self,
        stage: str,
        function: Callable[[DocumentPartition], Columns],
        facts: Callable[[int], Any],
    ) -> Iterator[Columns]:
        workspace, runner = self.read.engine.workspace, self.read.engine.runner

        def work_on(number: int) -> Columns:
            def make() -> dict[str, Any]:
                read_rows = partial(self.rows.read, number)
                read_sets = partial(self._read_sets, number)
                has_sets = self.sets is not None
                is_large = bounds[number + 1] - bounds[number] > even
                own_runner = runner if is_large else Runner(1)
                partition = DocumentPartition(
                    facts(number), read_rows, read_sets, has_sets, own_runner
                )
                return dict(function(partition))

            return load_or_compute(workspace, f"{stage}-{number:05d}", make)

        bounds = self.partitions.bounds.tolist()
        # All threads work on a large partition while others wait.
        even = _LARGE * bounds[-1] // self.read.engine.limits.least_partitions
        return runner.map(work_on, range(len(self.partitions)), stage, bounds[1:])

    def _read_sets(
        self, partition: int, places: Int64s, n_tokens: Int64s
    ) -> ShingleSets | WeightedSets:
        if self.texts is not None:
            return read_sets_of(self.texts, partition, self.read.reading, places, n_tokens)
        assert self.sets is not None
        assert self.ranks is not None
        return self.sets.take(self.ranks[places])
