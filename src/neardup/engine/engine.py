"""The verbs of a job: read, meet, exchange, work, collect and write, wherever its rows are.

A job is written once, for an ``Engine``. What it hands over are functions of modules, with their
first arguments, so that other processes can be sent them.
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
from neardup.reading.parts import Parts
from neardup.reading.second_pass import OfTexts
from neardup.reading.sign import Collections, ListedBlock, ReadingPlan
from neardup.reading.signed_batches import Counted, SignedBatches
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
"""The column of rows that has the number of their document."""

Given = tuple[Any, "pa.RecordBatch | None"]
"""What is known, as plain values, and rows."""

Look = Callable[[RowBlock, ReadingPlan], tuple[ListedBlock, "pa.RecordBatch"]]
"""Makes of a block what is known of its documents, and rows, which count these from 0 if at all."""

Route = Callable[["pa.RecordBatch", int], Int64s]
"""Gives the partition of each row, of so many partitions: rows meet that have to."""


class Means(NamedTuple):
    """Threads and memory of a task, and a function to report the share of its blocks that is done.

    A task of another process has a thread and some memory of its own.
    """

    runner: Runner
    workspace: Workspace
    report: Callable[[float], None]


class Partition(ABC):
    """Rows that have met, in any order."""

    @abstractmethod
    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, once for each pass."""

    @abstractmethod
    def count_passes(self, factor: int) -> int:
        """Count the passes in which rows are worked on that take ``factor`` times their bytes."""


class Group(ABC):
    """Some documents and their rows.

    Parameters
    ----------
    known
        A row for each document, as ``Engine.group`` was given it.
    runner
        The threads that work on the group.
    """

    known: pa.RecordBatch
    runner: Runner

    @abstractmethod
    def rows(self, *, let_go: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the documents, and possibly rows of others.

        With ``let_go`` rows leave the memory, so that they cannot be read again.
        """


class Rows(ABC):
    """Rows by partition; or, behind ``Engine.work``, what was made of each partition."""

    n_rows: int

    @abstractmethod
    def with_columns(self, columns: Mapping[str, Int64s]) -> Rows:
        """Return the rows with more columns, each given as an array with an item per document."""


class Read(NamedTuple):
    """Collections that were read, and the rows that were made of their documents.

    Documents are numbered one collection after the other. ``reading`` is the plan of the first, and
    ``known`` has all columns of the documents that this process keeps.
    """

    catalogues: tuple[Catalogue, ...]
    reading: ReadingPlan
    rows: Rows
    known: SignedBatches


class Revisited(NamedTuple):
    """A block that is read again, what was signed of it, and which of its documents are wanted."""

    source: Source
    block: RowBlock
    rows: pa.RecordBatch
    select: Bools


@dataclass(frozen=True)
class Change:
    """A change of blocks as they are written, by rows of their documents.

    Parameters
    ----------
    gathered
        What ``gather`` has made of the rows of all documents, in this process.
    apply
        Changes a block, given what was gathered and the range of the block's documents.
    gather
        Gathers rows of some consecutive documents, in any order; called in tasks.
    send
        Returns the rows of some consecutive documents, of what was gathered.
    rows
        What the rows were gathered from, if that is more than this process sends at once.
    """

    gathered: Any
    apply: Callable[[Any, RowBlock, slice], RowBlock]
    gather: Callable[[Iterator[pa.RecordBatch], Workspace], Any]
    send: Callable[[Any, slice], pa.RecordBatch]
    rows: Rows | None = None


class Engine(ABC):
    """Where the rows of a job are, and who works on them.

    Parameters
    ----------
    runner
        The clock and the progress of the job.
    workspace
        What this process may use for what it collects.
    """

    name: str

    def __init__(self, runner: Runner, workspace: Workspace) -> None:
        self.runner, self.workspace = runner, workspace
        runner.memory = workspace.memory or None

    def errors(self) -> AbstractContextManager[None]:
        """Turn into one line what those raise who work, while the block lasts."""
        return nullcontext()

    def stage(self, name: str) -> AbstractContextManager[Callable[..., None]]:
        """Time a stage; see ``Runner.stage``."""
        return self.runner.stage(name)

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many tasks are worked on at the same time."""

    def describe(self) -> dict[str, Any]:
        """Return for a summary who has worked."""
        return {"engine": self.name, "workers": self.workers}

    def describe_cluster(self) -> dict[str, Any]:
        """Return the executors for the summary of a search; nothing for threads."""
        return {}

    def scan(
        self, stage: str, sources: Sequence[Source], look: Callable[[Source, RowBlock], T]
    ) -> Iterator[T]:
        """Yield what ``look`` makes of each block of some sources, in their order.

        Progress is reported as that of a ``stage``. Raises as ``read``.
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
        """Yield what ``work`` makes of consecutive blocks of some sources, in their order.

        Parameters
        ----------
        stage
            Name of the stage whose progress is reported.
        sources
            Files that are read once.
        look
            Parses a block.
        work
            Takes the parsed blocks of a task, as many at a time as are best.

        Raises
        ------
        InvalidInputError, ReadError
            As ``read``.
        """

    @abstractmethod
    def count(self, stage: str, collections: Counted) -> DocumentFrequencies:
        """Count in how many documents of some collections each token is.

        With each collection comes the function that lists the tokens of a block's documents.
        Progress is reported as that of a ``stage``. Raises as ``read``.
        """

    @abstractmethod
    def share(self, folder: Path) -> AbstractContextManager[SharedFolder]:
        """Let tasks open a folder of this process, for as long as a block lasts.

        Its files do not change meanwhile.
        """

    @abstractmethod
    def read(
        self, name: str, collections: Collections, look: Look, route: Route | None = None
    ) -> Read:
        """Read all documents of some collections once, and bring rows to partitions.

        Parameters
        ----------
        name
            Of the rows, for no two of a job the same.
        collections
            Sources, each with how they are read.
        look
            Makes rows, in tasks.
        route
            Says where rows meet, in tasks; None: they stay in the order of the documents.

        Raises
        ------
        InvalidInputError, ReadError
            For a bad row or a file that cannot be read, the first in the order of the documents.
        """

    @abstractmethod
    def sign(self, collections: Collections) -> Read:
        """Read all documents of some collections once, and sign each by the plan of its own.

        There is a row for each document. Raises as ``read``.
        """

    @abstractmethod
    def sign_parts(self, read: Read, parts: Parts, reading: ReadingPlan) -> Read:
        """Read the documents of the last collection again, and sign parts as documents.

        ``reading`` names ``PART_COLUMNS``. The other collections of what is returned have none.
        """

    @abstractmethod
    def meet(
        self, read: Read, given: Columns, keys: Keys, function: Meet, stage: str | None = None
    ) -> Iterator[Any]:
        """Bring signed documents of equal keys together, and yield what a function makes of them.

        ``given`` are columns with an item for each document. What is yielded is in any order.
        Progress is reported as that of a ``stage``, if there is one.
        """

    @abstractmethod
    def exchange(self, name: str, read: Read, pick: Pick, partitions: Partitions) -> Exchanged:
        """Bring what is picked of the rows of signed documents to the partitions of these.

        ``name`` is that of the rows, for no two of a job the same.
        """

    @property
    @abstractmethod
    def least_partitions(self) -> int:
        """How many partitions there are at least, so that all who work end together."""

    @property
    @abstractmethod
    def partition_bytes(self) -> int | None:
        """How many bytes a partition may take while it is worked on; None: as many as it likes."""

    @property
    @abstractmethod
    def groups_at_once(self) -> int:
        """How many groups are worked on at the same time."""

    @property
    @abstractmethod
    def group_bytes(self) -> int | None:
        """Memory of the work on a group; None: all that there is."""

    @abstractmethod
    def group(self, read: Read, n_groups: int, known: Callable[[int], pa.RecordBatch]) -> Rows:
        """Bring the rows of some documents together, group by group.

        Parameters
        ----------
        read
            Rows of which a document has one, with its number in the first column.
        n_groups
            Their number; a document may be in several.
        known
            Gives the documents of a group by its number: a row for each, with its number in the
            column ``DOCUMENT``, which ascends, and all columns that the route of the rows needs.
        """

    @abstractmethod
    def work(self, rows: Rows, function: Callable[[Any], Iterator[Given]]) -> Rows:
        """Return what a function makes of each partition or group.

        It works when that is collected.
        """

    @abstractmethod
    def collect(self, rows: Rows, stage: str, first: int = 0) -> Iterator[tuple[int, list[Given]]]:
        """Yield what was made of partitions, one after the other, from ``first`` on.

        It comes with the number of the partition that is next. Progress is reported as that of a
        ``stage``. Rows that have stayed in the order of the documents, and that nobody has worked
        on, are yielded once, and nothing is kept of them.
        """

    @abstractmethod
    def read_again(self, read: Read, documents: Int64s, function: OfTexts[T]) -> Iterator[T]:
        """Read some documents again, whose numbers ascend, and yield what is made of their texts.

        It comes in the order of the documents, of some at a time.
        """

    @abstractmethod
    def revisit(self, read: Read, wanted: Bools, function: Callable[[Revisited], T]) -> Iterator[T]:
        """Read signed documents of the last collection again, and yield what is made of them.

        It comes block by block, in their order, of those that have a document which is ``wanted``.
        """

    @abstractmethod
    def release(self, read: Read) -> None:
        """Let go of rows that are not needed any more."""

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
        """Write documents to folders, as ``write_documents`` of threads.

        ``runner`` is that of the writing, which may be later than the job.
        """


def _each(blocks: Iterator[T], _: Means) -> Iterator[T]:
    """Yield blocks as they are."""
    return blocks
