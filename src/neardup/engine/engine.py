"""The verbs of a job, independent of the engine.

A job is written once, for an ``Engine``. It passes functions of modules and their first arguments,
because these can be pickled for other processes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.files.rows import RowBlock, Source
from neardup.files.streams import Destination
from neardup.options.choices import OutputFormat
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import SetCollector, TextFunction
from neardup.reading.sign import (
    Collections,
    ListedBlock,
    ReadingPlan,
    SignedBatches,
    TokenCollections,
    numbers_of,
)
from neardup.runs.exchange import Shuffle, load_or_compute, store_arrays
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import AnyArray, Bools, Int64s, ShingleSets, Texts, WeightedSets
from neardup.text.weighting import DocumentFrequencies

if TYPE_CHECKING:
    from neardup.index.open_index import SharedFolder


T = TypeVar("T")
U = TypeVar("U")

DOCUMENT = "document"
"""Column with the number of each row's document."""

FactsAndRows = tuple[Any, "pa.RecordBatch | None"]
"""A function's facts, as plain values, and its rows."""

BlockFunction = Callable[[RowBlock, ReadingPlan], ListedBlock]
"""Function of a block.

It returns facts about the documents, and rows. Rows number the documents of the block from 0.
"""

Route = Callable[["pa.RecordBatch", int], Int64s]
"""Returns the partition of each row, given the number of partitions."""


class TaskResources(NamedTuple):
    """Threads and memory of a task, and its progress function.

    A task of another process has one thread and its own share of memory.
    """

    runner: Runner
    workspace: Workspace
    report: Callable[[float], None]


def each_block(blocks: Iterator[T], _: TaskResources) -> Iterator[T]:
    """Yield parsed blocks, as ``work`` of ``Engine.stream``."""
    return blocks


# Shares of the memory: the work of all threads on partitions, and rows of a task.
WORKING_SHARE, _TASK_SHARE = 0.3, 0.2


@dataclass(frozen=True)
class RowPartition:
    """Rows of partitions ``start`` to ``stop``, in any order, of ``n_bytes`` together.

    As many as ``workers`` are processed at the same time. ``columns`` are added to the rows, each
    an array with an item per document.
    """

    shuffle: Shuffle
    start: int
    stop: int
    n_bytes: int
    workspace: Workspace
    workers: int = 1
    columns: Mapping[str, Int64s] = field(default_factory=dict)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, in a new pass per call."""
        for batch in self.shuffle.read(self.start, n_partitions=self.stop - self.start):
            for name, values in self.columns.items():
                values = values[numbers_of(batch, DOCUMENT)]
                batch = batch.append_column(name, pa.array(values))
            yield batch

    def count_passes(self, factor: int) -> int:
        """Count the passes over the rows, whose processing takes ``factor`` times their bytes."""
        return self.workspace.passes(self.n_bytes * factor * self.workers, WORKING_SHARE)


@dataclass(frozen=True)
class Group:
    """Some documents and their rows.

    ``documents`` has a row per document, as passed to ``TaskRows.group``. The threads of ``runner``
    work on the group. ``partitions`` are those with rows of the documents; None is all.
    """

    documents: pa.RecordBatch
    runner: Runner
    shuffle: Shuffle
    partitions: list[int] | None = None

    def rows(self, *, free_rows: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield rows, possibly of other documents too; ``free_rows`` frees yielded rows."""
        numbers = numbers_of(self.documents, DOCUMENT)
        if not len(numbers):
            return
        if self.partitions is None:
            yield from self.shuffle.read_all(free_rows=free_rows)
            return

        def is_wanted(batch: pa.RecordBatch) -> bool:
            own = batch.column(0).to_numpy()
            return bool(own.max() >= numbers[0] and own.min() <= numbers[-1])

        for partition in self.partitions:
            yield from self.shuffle.read(partition, is_wanted)


def gather_rows(batches: Iterator[pa.RecordBatch], workspace: Workspace) -> Shuffle:
    """Return a task's rows, in memory or in files."""
    shuffle = Shuffle("rows", workspace, 1, in_memory=None, share=_TASK_SHARE)
    with shuffle:
        for batch in batches:
            shuffle.add(batch, np.zeros(len(batch), np.int64))
    return shuffle


class Revisited(NamedTuple):
    """A reread block, its signed documents, and a mask of the wanted ones."""

    source: Source
    block: RowBlock
    signed: pa.RecordBatch
    select: Bools


@dataclass(frozen=True)
class Change:
    """A change of blocks while they are written, by rows about their documents.

    ``apply`` changes a block, given gathered rows and the range of its documents. ``gathered`` has
    the rows of all documents, in this process. Tasks of other processes ``gather`` the rows of
    their documents, in any order: rows that ``send`` returns for a range of documents, or else
    ``rows``, if they are too many for this process.
    """

    gathered: Any
    apply: Callable[[Any, RowBlock, slice], RowBlock]
    gather: Callable[[Iterator[pa.RecordBatch], Workspace], Any]
    send: Callable[[Any, slice], pa.RecordBatch]
    rows: TaskRows | None = None


Columns = Mapping[str, AnyArray]
"""Arrays of one length by name."""


class DocumentRows(NamedTuple):
    """Rows of consecutive documents, starting with number ``first``.

    ``rows`` may also be a table. ``given`` are columns that this process has added.
    """

    first: int
    rows: pa.RecordBatch
    given: Columns


@dataclass(frozen=True)
class Keys:
    """Keys that group documents with equal values.

    ``list_keys`` returns a 64-bit ``key`` per document, and more columns, for one of ``n_kinds``
    kinds; documents are grouped within one kind only. A row takes ``row_bytes`` of memory.
    """

    list_keys: Callable[[DocumentRows, int], Columns]
    n_kinds: int
    row_bytes: int


GroupFunction = Callable[[Iterator[Columns]], Any]
"""Function of the groups of all kinds.

It takes the rows of one kind after the other. The rows of a kind are in document order.
"""

# Name of the partitions in the work folder.
_PARTITIONS_TASK = "components"


@dataclass(frozen=True)
class Partitions:
    """Documents in partitions of components, each in keep order.

    Documents of one component share a partition. Partition k has the documents from ``bounds[k]``
    to ``bounds[k + 1]``.
    """

    documents: Int64s
    components: Int64s
    bounds: Int64s

    @classmethod
    def load_or_find(cls, workspace: Workspace, find: Callable[[], Partitions]) -> Partitions:
        """Return an earlier run's partitions, or else compute them."""
        return cls(**load_or_compute(workspace, _PARTITIONS_TASK, lambda: vars(find())))

    def store(self, workspace: Workspace) -> None:
        """Store the partitions before any data stored by partition."""
        store_arrays(workspace, _PARTITIONS_TASK, vars(self))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def places(self, partition: int) -> slice:
        """Return the positions of a partition's documents."""
        return slice(int(self.bounds[partition]), int(self.bounds[partition + 1]))

    def of_places(self, places: Int64s) -> Int64s:
        """Return the partitions of documents by position."""
        return np.searchsorted(self.bounds, places, side="right") - 1

    def places_by_document(self, n_documents: int, are_wanted: Bools | None = None) -> Int64s:
        """Return each document's position, or -1.

        ``are_wanted`` is a mask of positions; None wants all.
        """
        places: Int64s = np.full(n_documents, -1, np.int64)
        wanted = np.arange(len(self.documents))
        if are_wanted is not None:
            wanted = wanted[are_wanted]
        places[self.documents[wanted]] = wanted
        return places


# Picks rows by number from the rows of consecutive documents, in the order of the numbers.
Pick = Callable[["pa.RecordBatch", Int64s], "pa.RecordBatch"]


def pick_placed(pick: Pick, batch: pa.RecordBatch, places: Int64s) -> pa.RecordBatch:
    """Pick rows of placed documents, with positions as first column."""
    rows = np.flatnonzero(places >= 0)
    rows = rows[np.argsort(places[rows])]
    picked = pick(batch, rows)
    columns = [pa.array(places[rows]), *picked.columns]
    return pa.RecordBatch.from_arrays(columns, names=[PLACE, *picked.schema.names])


PLACE = "place"
"""Column with the position of a row's document in all partitions."""


@dataclass(frozen=True)
class DocumentPartition:
    """Documents that are processed together.

    ``facts`` are the caller's. ``rows`` returns the picked rows, in any order. ``read_sets``
    returns the compared sets of documents at ascending positions, given their token counts; with
    ``has_sets`` all are in memory in any case.
    """

    facts: Any
    rows: Callable[[], Iterator[pa.RecordBatch]]
    read_sets: Callable[[Int64s, Int64s], ShingleSets | WeightedSets]
    has_sets: bool
    runner: Runner


class Exchanged(ABC):
    """Rows of documents, sent to the partitions of the documents."""

    @abstractmethod
    def with_sets(self, are_wanted: Bools) -> Exchanged:
        """Add the compared sets of documents, given a mask of positions."""

    @abstractmethod
    def work(
        self,
        stage: str,
        function: Callable[[DocumentPartition], Columns],
        facts: Callable[[int], Any],
    ) -> Iterator[Columns]:
        """Yield a function's result per partition.

        ``facts`` takes a partition number. A resumed run reuses results. ``stage`` is for progress.
        """


def read_sets_of(
    texts: Shuffle, partition: int, reading: ReadingPlan, places: Int64s, n_tokens: Int64s
) -> ShingleSets | WeightedSets:
    """Make the compared sets of a partition's documents."""
    collector = SetCollector(n_tokens, reading)

    def find(batch: pa.RecordBatch) -> tuple[Int64s, Bools]:
        found = numbers_of(batch, PLACE)
        own = np.searchsorted(places, found)
        return own, places[np.minimum(own, len(places) - 1)] == found

    for batch in texts.read(partition, lambda batch: bool(find(batch)[1].any())):
        own, is_wanted = find(batch)
        if not is_wanted.all():
            batch, own = batch.filter(pa.array(is_wanted)), own[is_wanted]
        collector.add(Texts.of_columns(batch), own, "an input")
    return collector.sets


@dataclass(frozen=True)
class TaskRows(ABC):
    """Rows of documents in partitions or groups, or their results."""

    n_rows: int

    @abstractmethod
    def group(self, n_groups: int, documents_of: Callable[[int], pa.RecordBatch]) -> TaskRows:
        """Collect the rows of some documents, group by group.

        Rows have the document number in the first column; a document may be in several groups.
        ``documents_of`` takes the number of a group, and returns a row per document, with the
        column ``DOCUMENT`` in ascending order, and all columns that the rows' route needs.
        """

    @abstractmethod
    def work(
        self,
        function: Callable[[Any], Iterator[FactsAndRows]],
        columns: Mapping[str, Int64s] | None = None,
    ) -> TaskRows:
        """Apply a function per partition or group.

        ``collect`` evaluates it. ``columns`` are added to the rows, with an item per document.
        """

    @abstractmethod
    def collect(self, stage: str, first: int = 0) -> Iterator[tuple[int, list[FactsAndRows]]]:
        """Yield the results of partitions in order, starting with ``first``.

        Each comes with the number of the next partition. Progress is reported under ``stage``.
        Unprocessed rows in the order of the documents are yielded once and then freed.
        """


@dataclass(frozen=True)
class Read(ABC):
    """Collections that were read, and the rows of their documents.

    Documents are numbered across collections. ``reading`` is the plan of the first collection, and
    ``signed`` has all document columns that this process keeps.
    """

    catalogues: tuple[Catalogue, ...]
    reading: ReadingPlan
    rows: TaskRows
    signed: SignedBatches

    @cached_property
    def n_documents(self) -> int:
        """Count the documents of all collections."""
        return sum(len(each.n_tokens) for each in self.catalogues)

    @abstractmethod
    def group_by_keys(
        self, given: Columns, keys: Keys, function: GroupFunction, stage: str | None = None
    ) -> Iterator[Any]:
        """Group signed documents by keys, and yield a function's results.

        Results come in any order. ``given`` are columns with an item per document. Progress is
        reported under ``stage``, if one is given.
        """

    @abstractmethod
    def exchange(self, name: str, pick: Pick, partitions: Partitions) -> Exchanged:
        """Send picked columns of signed documents to their partitions.

        ``name`` is the name of the rows, unique within a job.
        """

    @abstractmethod
    def again(self, documents: Int64s, function: TextFunction[T]) -> Iterator[T]:
        """Read ascending documents again, and yield results in this order."""

    @abstractmethod
    def revisit(self, wanted: Bools, function: Callable[[Revisited], T]) -> Iterator[T]:
        """Yield results for blocks of the last collection with a ``wanted`` document."""


class WorkLimits(NamedTuple):
    """Numbers and memory limits of parts.

    None is unlimited. ``least_partitions`` keep all workers busy to the end; ``groups_at_once`` are
    worked on at the same time.
    """

    least_partitions: int
    partition_bytes: int | None
    groups_at_once: int
    group_bytes: int | None


class Engine(ABC):
    """Read and write documents on threads or executors.

    ``Read`` and ``TaskRows`` have the verbs in between. ``workspace`` is for the data that this
    process collects.
    """

    name: str

    def __init__(self, runner: Runner, workspace: Workspace) -> None:
        self.runner, self.workspace, self.stage = runner, workspace, runner.stage

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of tasks that run at the same time."""

    def describe(self) -> dict[str, Any]:
        """Describe the engine for a summary."""
        return {"engine": self.name, "workers": self.workers}

    @abstractmethod
    def stream(
        self,
        stage: str,
        sources: Sequence[Source],
        read_block: Callable[[Source, RowBlock], T],
        work: Callable[[Iterator[T], TaskResources], Iterator[U]],
    ) -> Iterator[U]:
        """Yield the results of ``work`` for sources, in order.

        ``read_block`` parses a block; ``work`` takes the parsed blocks of a task, in batches of the
        best size; ``each_block`` yields them. Progress is reported under ``stage``. Raises as
        ``read``.
        """

    @abstractmethod
    def count(self, stage: str, collections: TokenCollections) -> DocumentFrequencies:
        """Count the documents of some collections that contain each token.

        Each collection comes with the function that lists the tokens of a block's documents.
        Progress is reported under ``stage``. Raises as ``read``.
        """

    @abstractmethod
    def share(self, folder: Path) -> AbstractContextManager[SharedFolder]:
        """Let tasks open a local folder, unchanged within the block."""

    @abstractmethod
    def read(
        self,
        collections: Collections,
        read_block: BlockFunction,
        name: str | None = None,
        route: Route | None = None,
    ) -> Read:
        """Read collections once, and send their rows to partitions.

        In tasks, ``read_block`` lists or signs documents, and ``route`` returns the partition of
        each row. Without ``route`` the rows keep the order of the documents. ``name`` identifies
        the rows within the job. Without ``name`` the engine keeps one row per document.

        Raises ``InvalidInputError`` or ``ReadError`` for a bad row or an unreadable file, the first
        in the order of the documents.
        """

    @property
    @abstractmethod
    def limits(self) -> WorkLimits:
        """Numbers and memory limits of partitions and groups."""

    @abstractmethod
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
        """Write documents to folders, like ``write_documents`` of threads.

        ``runner`` is the runner of the writing, which may start after the job.
        """
