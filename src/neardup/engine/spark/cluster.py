"""Data on executors: partitions that we number, what goes along with them, what comes back."""

from __future__ import annotations

import copy
import gc
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.engine.spark.work import LAST, SharedWork, WholeRows, local_folder
from neardup.errors import EngineError, InvalidInputError, NeardupError
from neardup.files.archives import ArchiveMember
from neardup.files.folders import FolderSource
from neardup.files.memory import MemorySource
from neardup.files.rows import WrappedSource
from neardup.files.streams import Copied, is_remote
from neardup.index.index import IndexSource
from neardup.runs.work import WorkFolder, Workspace
from neardup.version import __version__

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.rdd import RDD

    from neardup.files.rows import RowBlock, Source

# Errors of tasks: they travel as rows, so that the driver raises them as if it had met them.
#
# What a task raises, Spark would try again, and show as a trace of its own.


@dataclass(frozen=True)
class Failure:
    """An error that a task has met, and where in the order of all documents."""

    place: tuple[int, int]
    error: NeardupError

    @classmethod
    def of(cls, task: int, piece: Piece | None, error: NeardupError) -> Failure:
        """Make one of an error of a task; a file in it has the name that the user gave it."""
        number = 0
        if piece is not None:
            number = piece.number
            error = _renamed(error, piece.source.origin or "", piece.location)
        return cls((task, number), error)


def raise_first(failures: Iterable[Failure]) -> None:
    """Raise the error that stands first in the order of the documents, if there is one."""
    found = min(failures, key=lambda failure: failure.place, default=None)
    if found is not None:
        raise found.error


def _renamed(error: NeardupError, path: str, given: str) -> NeardupError:
    """Return the error with another name for a file, or for the folder that it is in."""
    own = getattr(error, "path", None) or ""
    if path == given or not f"{own}/".startswith(f"{path}/"):
        return error
    renamed = copy.copy(error)
    renamed.args = (error.in_both.replace(path, given, 1),)
    renamed.path = own.replace(path, given, 1)  # type: ignore[attr-defined]
    return renamed


# What tasks read: sources, or stretches of long ones, in the order of the documents.

# Stored bytes that a task reads: so many tasks for each that runs at the same time, within bounds.
_TASKS_A_SLOT = 4
_LEAST_BYTES = 16_000_000
_MOST_BYTES = 256_000_000
# More tasks than this take larger shares: each exchanges rows with each that comes after.
_MOST_TASKS = 4096

# Stretches of a source, at most, and not more than run at the same time: each task reads the source
# from its start, and cuts it into rows, as far as its stretch goes.
_MOST_PIECES = 8


@dataclass(frozen=True)
class Piece:
    """The blocks of a source that end after ``start`` and not after ``stop``, in stored bytes.

    ``number`` is the source's in its collection, ``location`` what the user calls it.
    """

    collection: int
    number: int
    source: Source
    location: str
    start: int = -1
    stop: int | None = None

    def blocks(self) -> Iterator[RowBlock]:
        """Read the source as far as the stretch goes."""
        for block in self.source.blocks():
            if self.stop is not None and block.end > self.stop:
                return
            if block.end > self.start:
                yield block


Task = tuple[Piece, ...]


def cut_tasks(
    collections: Sequence[Sequence[Source]], slots: int, *, are_whole: bool = False
) -> list[Task]:
    """Divide collections into tasks of about equal size; ``slots`` run at the same time.

    Short sources that follow each other share a task, and long ones are cut into stretches unless
    all stay whole. Of a URL the size is not known, and it is a task by itself.
    """
    sizes = [source.size or 0 for sources in collections for source in sources]
    evenly = sum(sizes) // (_TASKS_A_SLOT * slots)
    room = max(min(max(evenly, _LEAST_BYTES), _MOST_BYTES), sum(sizes) // _MOST_TASKS)
    most = max(2, min(_MOST_PIECES, slots))
    tasks: list[Task] = []
    for collection, sources in enumerate(collections):
        waiting: list[Piece] = []
        size = 0
        for number, source in enumerate(sources):
            own = room if source.size is None else source.size
            if waiting and size + own > room:
                tasks.append(tuple(waiting))
                waiting, size = [], 0
            piece = Piece(collection, number, _for_others(source), source.origin or source.name)
            if own > 2 * room and not are_whole:
                tasks += [(part,) for part in _stretches(piece, own, room, most)]
            else:
                waiting.append(piece)
                size += own
        if waiting:
            tasks.append(tuple(waiting))
    return tasks


def _stretches(piece: Piece, size: int, room: int, most: int) -> Iterator[Piece]:
    n_pieces = min(-(-size // room), most)
    ends = [size * i // n_pieces for i in range(1, n_pieces)]
    for start, stop in zip([-1, *ends], [*ends, None], strict=True):
        yield Piece(piece.collection, piece.number, piece.source, piece.location, start, stop)


def check_reached(sources: Iterable[Source]) -> None:
    """Raise for the first source that other processes cannot read."""
    for source in sources:
        _for_others(source)


def _for_others(source: Source) -> Source:
    """Return a source as other processes find it."""
    location = source.origin
    if isinstance(source, FolderSource):
        folder = source.with_files([_for_others(file) for file in source.files])
        folder.origin = location if is_remote(str(location)) else os.path.abspath(str(location))  # noqa: PTH100
        return folder
    is_local = isinstance(source, IndexSource | MemorySource) or isinstance(location, Copied)
    if location is None or is_local:
        what = "data in memory"
        if isinstance(location, ArchiveMember):
            what = f"members of the archive {location.archive}"
        elif isinstance(source, MemorySource) and location is not None:
            what = f"spreadsheets, such as {location}"
        elif isinstance(source, IndexSource):
            what = "an index"
        elif location is not None:
            what = "standard input"
        message = f"Spark reads files that all its executors reach, not {what}; name paths or URLs"
        raise InvalidInputError(message)
    found = copy.copy(source)
    if isinstance(found, WrappedSource):
        found.inner = _for_others(found.inner)
    # What the driver keeps stays with it.
    found.kept_texts = None
    if is_remote(location):
        return found
    # They have other working folders.
    found.origin = os.path.abspath(location)  # noqa: PTH100 - links stay as they are
    if not isinstance(found, WrappedSource):
        vars(found)["location"] = found.origin
    return found


# Bytes that come to the driver at a time; Spark ends a job that brings more than 1 GB.
_BYTES_AT_ONCE = 200_000_000

# Bytes of items that are sent to their partitions by one task.
_SENT_BYTES = 1_000_000


@dataclass(frozen=True)
class Cluster:
    """Executors of a session: ``slots`` tasks run at the same time, with so much memory each.

    ``kept`` is where what they work out outlives them, if anywhere.
    """

    context: SparkContext
    slots: int
    task_bytes: int
    kept: SharedWork | None = None

    def keeping(self, work: SharedWork | None) -> Cluster:
        """Return the executors as they keep what they work out, laid out as that is."""
        if work is None:
            return self
        return replace(self, slots=work.lay_out(self.slots), kept=work)

    def lay_out(self, items: Sequence[Any]) -> RDD[Any]:
        """Return some items, each in a partition by itself that has its number."""
        packed = [(number, _Item(pickle.dumps(item, -1))) for number, item in enumerate(items)]
        n_bytes = sum(len(item.data) for _, item in packed)
        n_sent = max(1, min(len(packed), n_bytes // _SENT_BYTES))
        return self.place(self.context.parallelize(packed, n_sent), len(packed))

    def work(
        self,
        function: Callable[[Iterator[Any]], Iterator[Any]],
        rows: RDD[Any],
        *,
        is_laid_out: bool = False,
        keep: Sequence[object] = (),
        lasts: bool = False,
    ) -> RDD[Any]:
        """Have a function work on the rows of each partition.

        ``is_laid_out`` says that what it gives may have items attached. Rows to be placed may not:
        Spark takes them for placed if there happen to be as many partitions.

        What it gives is kept for a run that goes on if ``keep`` names the stage; behind the name is
        what else it follows from than the job, ``slots`` and the stages before. ``lasts`` says that
        the function itself leaves something behind. For either, rows have been placed.
        """
        working = partial(_work, __version__, function)
        if lasts:
            working = partial(_work_on_all, working)
            rows = self._marked(rows)
        if self.kept is None or not keep:
            working = partial(_unpacking, working)
            return rows.mapPartitions(working, preservesPartitioning=is_laid_out)
        name, *follows = keep
        n_tasks = rows.getNumPartitions()
        stage = self.kept.stage(str(name), n_tasks, follows)
        keeping = partial(_unpacking, partial(stage.rows, working, _is_failure))
        return self._marked(rows).mapPartitionsWithIndex(keeping, preservesPartitioning=is_laid_out)

    def _marked(self, rows: RDD[Any]) -> RDD[Any]:
        """Have tasks see whether all of their rows have come."""
        return rows.union(self.lay_out([LAST] * rows.getNumPartitions()))

    def place(self, rows: RDD[Any], n_partitions: int) -> RDD[Any]:
        """Bring pairs of a partition and something to these partitions."""
        placed = rows.partitionBy(max(1, n_partitions), _same)
        # Lists of rows, as all others have them. PySpark would not see that, and send them through
        # a process of Python once more where they are put together with others.
        placed._jrdd_deserializer = self.context.serializer  # noqa: SLF001
        return placed

    def attach(self, items: Sequence[Any], rows: RDD[Any]) -> RDD[Any]:
        """Put an item in front of each partition of what ``lay_out`` has given; nothing moves."""
        return self.lay_out(items).union(rows)

    def stored(self, rows: RDD[Any]) -> RDD[Any]:
        """Have executors keep what they work out, on their disks."""
        from pyspark import StorageLevel

        return rows.persist(StorageLevel.DISK_ONLY)

    def work_out(self, rows: RDD[Any]) -> list[Answer]:
        """Work out all partitions, and return what is known of each."""
        most = _BYTES_AT_ONCE // max(1, rows.getNumPartitions())
        with spark_errors():
            answers: list[Answer] = rows.mapPartitions(partial(_answer, most)).collect()
        raise_first(failure for answer in answers for failure in answer.failures)
        return answers

    def bring(self, rows: RDD[Any]) -> Iterator[Any]:
        """Yield pairs of anything and bytes, partition after partition, some at a time.

        What executors do not keep they work out twice if it is large.
        """
        group: list[int] = []
        size = 0
        for number, answer in enumerate(self.work_out(rows)):
            is_here = answer.rows is not None
            if group and (is_here or size + answer.size > _BYTES_AT_ONCE):
                yield from self._rows_of(rows, group)
                group, size = [], 0
            if answer.rows is not None:
                yield from answer.rows
            else:
                group.append(number)
                size += answer.size
        if group:
            yield from self._rows_of(rows, group)

    def _rows_of(self, rows: RDD[Any], partitions: list[int]) -> list[Any]:
        with spark_errors():
            found: list[Any] = self.context.runJob(rows, iter, partitions)
        return found

    def bring_once(self, rows: RDD[Any]) -> Iterator[Any]:
        """Do as ``bring`` what is much work."""
        stored = self.stored(rows)
        try:
            yield from self.bring(stored)
        finally:
            stored.unpersist()


@dataclass
class Answer:
    """What is known of a partition: bytes, errors, and the rows themselves if they are few."""

    size: int
    failures: list[Failure]
    rows: list[Any] | None


def _same(partition: int) -> int:
    return partition


def _work(
    version: str, function: Callable[[Iterator[Any]], Iterator[Any]], rows: Iterator[Any]
) -> Iterator[Any]:
    """Do a task, unless the driver has another version."""
    # Spark collects garbage after each task, which takes longer than many a task: libraries have
    # some hundred thousand objects. Those that are left now stay for good.
    gc.freeze()
    if version != __version__:
        message = (
            f"the executors have neardup {__version__}, the driver {version}; install the same "
            "version everywhere"
        )
        raise EngineError(message)
    return function(rows)


def _work_on_all(
    function: Callable[[Iterator[Any]], Iterator[Any]], rows: Iterator[Any]
) -> Iterator[Any]:
    """Have a function see an error if rows end early."""
    given = WholeRows(rows)
    yield from function(given)
    given.take_rest()


def _is_failure(row: Any) -> bool:
    """Return whether a row is an error, or sends one."""
    return isinstance(row, Failure) or (isinstance(row, tuple) and isinstance(row[-1], Failure))


class _Item(NamedTuple):
    """What ``lay_out`` sends to a partition, pickled."""

    data: bytes


def _unpacking(function: Callable[..., Iterator[Any]], *given: Any) -> Iterator[Any]:
    """Call a function, given rows of a partition behind all else, with items as they were.

    They are unpacked here, and not by tasks before, for Spark begins a second process of Python for
    what is done before rows are put together.
    """
    *others, rows = given
    return function(*others, map(_unpacked, rows))


def _unpacked(row: Any) -> Any:
    is_item = isinstance(row, tuple) and len(row) == 2 and isinstance(row[1], _Item)
    return pickle.loads(row[1].data) if is_item else row


def _answer(most: int, rows: Iterator[Any]) -> Iterator[Answer]:
    answer = Answer(0, [], [])
    for row in rows:
        if isinstance(row, Failure):
            answer.failures.append(row)
            continue
        answer.size += len(row[1])
        if answer.rows is not None:
            answer.rows.append(row)
            if answer.size > most:
                answer.rows = None
    yield answer


def local_workspace(memory: int) -> Workspace:
    """Return a place for what a task does not keep in memory, which goes with the task."""
    found = local_folder()
    parent = None if found is None else Path(found)
    return Workspace(memory, WorkFolder.temporary(parent, "task"))


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn what Spark raises when a job cannot be finished into one line."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        raise EngineError(_reason(error)) from error


def _reason(error: Any) -> str:
    text = str(getattr(error, "java_exception", None) or error)
    if "No module named 'neardup'" in text:
        return (
            "the executors' Python has no neardup; install it there, or send an environment along "
            "with --archives"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # A worker's trace ends with what it has raised.
    raised = [line for line in lines if "Error" in line and not line.startswith("at ")]
    said = raised[-1] if raised else lines[0]
    return f"Spark could not finish: {said[:300]}; the executors' logs say more"
