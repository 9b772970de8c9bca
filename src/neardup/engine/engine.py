"""The verbs of a job, independent of the engine: read, meet, exchange, work, collect, write.

A job is written once, for an ``Engine``. It passes functions of modules and their first arguments,
because these can be pickled for other processes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from neardup.engine.partitions import Columns, Exchanged, Keys, Meet, Partitions, Pick
from neardup.files.rows import RowBlock, Source
from neardup.index.handle import SharedFolder
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import OfTexts, Parts
from neardup.reading.sign import Collections, Counted, ListedBlock, ReadingPlan, SignedBatches
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Int64s
from neardup.text.weighting import DocumentFrequencies

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.streams import Destination
    from neardup.options.choices import OutputFormat

T = TypeVar("T")
U = TypeVar("U")

DOCUMENT = "document"
"""Column with the number of each row's document."""

Given = tuple[Any, "pa.RecordBatch | None"]
"""Facts as plain values, and rows."""

Look = Callable[[RowBlock, ReadingPlan], tuple[ListedBlock, "pa.RecordBatch"]]
"""Maps a block to facts about its documents and to rows, which number documents from 0."""

Route = Callable[["pa.RecordBatch", int], Int64s]
"""Returns the partition of each row, given the number of partitions."""


class Means(NamedTuple):
    """Threads and memory of a task, and its progress function.

    A task of another process has one thread and its own share of memory.
    """

    runner: Runner
    workspace: Workspace
    report: Callable[[float], None]


class Partition(ABC):
    """Rows of one partition, in any order."""

    @abstractmethod
    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows; each call is a new pass."""

    @abstractmethod
    def count_passes(self, factor: int) -> int:
        """Count the passes over the rows if they take ``factor`` times their bytes."""


class Group(ABC):
    """Some documents and their rows.

    Parameters
    ----------
    known
        A row per document, as passed to ``Engine.group``.
    runner
        The threads that work on the group.
    """

    known: pa.RecordBatch
    runner: Runner

    @abstractmethod
    def rows(self, *, let_go: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the documents, and possibly rows of others.

        ``let_go`` frees rows once they are yielded; they cannot be read again.
        """


class Rows(ABC):
    """Rows by partition, or the output of ``Engine.work`` per partition."""

    n_rows: int

    @abstractmethod
    def with_columns(self, columns: Mapping[str, Int64s]) -> Rows:
        """Return the rows with more columns, each an array with an item per document."""


class Read(NamedTuple):
    """Collections that were read, and the rows of their documents.

    Documents are numbered across collections. ``reading`` is the plan of the first collection, and
    ``known`` has all document columns that this process keeps.
    """

    catalogues: tuple[Catalogue, ...]
    reading: ReadingPlan
    rows: Rows
    known: SignedBatches


class Revisited(NamedTuple):
    """A block that is read again, its signatures, and the mask of wanted documents."""

    source: Source
    block: RowBlock
    rows: pa.RecordBatch
    select: Bools


@dataclass(frozen=True)
class Change:
    """A change of blocks at writing, from rows of their documents.

    Parameters
    ----------
    gathered
        Result of ``gather`` for the rows of all documents, in this process.
    apply
        Changes a block, given the gathered rows and the range of the block's documents.
    gather
        Gathers rows of some consecutive documents, in any order; called in tasks.
    send
        Returns the gathered rows of some consecutive documents.
    rows
        Input of ``gather``, if it is larger than this process sends at once.
    """

    gathered: Any
    apply: Callable[[Any, RowBlock, slice], RowBlock]
    gather: Callable[[Iterator[pa.RecordBatch], Workspace], Any]
    send: Callable[[Any, slice], pa.RecordBatch]
    rows: Rows | None = None


class Engine(ABC):
    """Execute the verbs of a job on threads or executors.

    Parameters
    ----------
    runner
        The clock and the progress of the job.
    workspace
        Memory and folder for the data that this process collects.
    """

    name: str

    def __init__(self, runner: Runner, workspace: Workspace) -> None:
        self.runner, self.workspace = runner, workspace
        runner.memory = workspace.memory or None

    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of workers into one line, within the block."""
        return nullcontext()

    def stage(self, name: str) -> AbstractContextManager[Callable[..., None]]:
        """Time a stage; see ``Runner.stage``."""
        return self.runner.stage(name)

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of tasks that run at the same time."""

    def describe(self) -> dict[str, Any]:
        """Describe the engine for a summary."""
        return {"engine": self.name, "workers": self.workers}

    def describe_cluster(self) -> dict[str, Any]:
        """Describe the executors for the summary of a search; empty for threads."""
        return {}

    def scan(
        self, stage: str, sources: Sequence[Source], look: Callable[[Source, RowBlock], T]
    ) -> Iterator[T]:
        """Yield the result of ``look`` for each block of some sources, in their order.

        Progress is reported under ``stage``. Raises as ``read``.
        """
        return self.stream(stage, sources, look, _each)

    @abstractmethod
    def stream(
        self,
        stage: str,
        sources: Sequence[Source],
        look: Callable[[Source, RowBlock], T],
        work: Callable[[Iterator[T], Means], Iterator[U]],
    ) -> Iterator[U]:
        """Yield the results of ``work`` for consecutive blocks of some sources, in their order.

        Parameters
        ----------
        stage
            Name of the stage whose progress is reported.
        sources
            Files that are read once.
        look
            Parses a block.
        work
            Takes the parsed blocks of a task, in batches of the best size.

        Raises
        ------
        InvalidInputError, ReadError
            As ``read``.
        """

    @abstractmethod
    def count(self, stage: str, collections: Counted) -> DocumentFrequencies:
        """Count the documents of some collections that contain each token.

        Each collection comes with the function that lists the tokens of a block's documents.
        Progress is reported under ``stage``. Raises as ``read``.
        """

    @abstractmethod
    def share(self, folder: Path) -> AbstractContextManager[SharedFolder]:
        """Let tasks open a folder of this process within the block.

        Its files must not change meanwhile.
        """

    @abstractmethod
    def read(
        self, name: str, collections: Collections, look: Look, route: Route | None = None
    ) -> Read:
        """Read all documents of some collections once, and send rows to partitions.

        Parameters
        ----------
        name
            Name of the rows, unique within a job.
        collections
            Sources, each with its reading plan.
        look
            Makes rows, in tasks.
        route
            Returns the partition of each row, in tasks; None keeps the order of the documents.

        Raises
        ------
        InvalidInputError, ReadError
            For a bad row or an unreadable file, the first in the order of the documents.
        """

    @abstractmethod
    def sign(self, collections: Collections) -> Read:
        """Read all documents of some collections once, and sign each by its collection's plan.

        There is one row per document. Raises as ``read``.
        """

    @abstractmethod
    def sign_parts(self, read: Read, parts: Parts, reading: ReadingPlan) -> Read:
        """Read the documents of the last collection again, and sign parts as documents.

        ``reading`` names ``PART_COLUMNS``. The returned rows of other collections are empty.
        """

    @abstractmethod
    def meet(
        self, read: Read, given: Columns, keys: Keys, function: Meet, stage: str | None = None
    ) -> Iterator[Any]:
        """Group signed documents by equal keys, and yield the results of a function, in any order.

        ``given`` are columns with an item per document. Progress is reported under ``stage``, if
        one is given.
        """

    @abstractmethod
    def exchange(self, name: str, read: Read, pick: Pick, partitions: Partitions) -> Exchanged:
        """Send picked columns of signed documents to the partitions of the documents.

        ``name`` is the name of the rows, unique within a job.
        """

    @property
    @abstractmethod
    def least_partitions(self) -> int:
        """Least number of partitions that keeps all workers busy to the end."""

    @property
    @abstractmethod
    def partition_bytes(self) -> int | None:
        """Memory limit of a partition's work, in bytes; None is unlimited."""

    @property
    @abstractmethod
    def groups_at_once(self) -> int:
        """Number of groups that are worked on at the same time."""

    @property
    @abstractmethod
    def group_bytes(self) -> int | None:
        """Memory limit of a group's work, in bytes; None is unlimited."""

    @abstractmethod
    def group(self, read: Read, n_groups: int, known: Callable[[int], pa.RecordBatch]) -> Rows:
        """Collect the rows of some documents, group by group.

        Parameters
        ----------
        read
            Rows, one per document, with the document number in the first column.
        n_groups
            Number of groups; a document may be in several.
        known
            Returns the documents of a group by its number: a row per document, with the column
            ``DOCUMENT`` in ascending order, and all columns that the rows' route needs.
        """

    @abstractmethod
    def work(self, rows: Rows, function: Callable[[Any], Iterator[Given]]) -> Rows:
        """Return the results of a function per partition or group, evaluated by ``collect``."""

    @abstractmethod
    def collect(self, rows: Rows, stage: str, first: int = 0) -> Iterator[tuple[int, list[Given]]]:
        """Yield the results of partitions in order, starting with ``first``.

        Each comes with the number of the next partition. Progress is reported under ``stage``.
        Unprocessed rows in the order of the documents are yielded once and then freed.
        """

    @abstractmethod
    def read_again(self, read: Read, documents: Int64s, function: OfTexts[T]) -> Iterator[T]:
        """Read some documents again, and yield a function's results for their texts.

        ``documents`` ascend, and results come in this order, for some documents at a time.
        """

    @abstractmethod
    def revisit(self, read: Read, wanted: Bools, function: Callable[[Revisited], T]) -> Iterator[T]:
        """Read signed documents of the last collection again, and yield a function's results.

        Results come in the order of the blocks, for each block with a ``wanted`` document.
        """

    @abstractmethod
    def release(self, read: Read) -> None:
        """Free rows that are not needed any more."""

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


def _each(blocks: Iterator[T], _: Means) -> Iterator[T]:
    return blocks
