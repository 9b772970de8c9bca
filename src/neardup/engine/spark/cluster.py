"""Executors of a Spark session, their tasks and results."""

from __future__ import annotations

import atexit
import contextlib
import copy
import gc
import logging
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.engine.spark.shared_work import LAST, SharedWork, WholeRows, local_folder
from neardup.errors import (
    EngineError,
    InvalidInputError,
    InvalidParameterError,
    MissingExtraError,
    NeardupError,
)
from neardup.files.folders import FolderSource
from neardup.files.memory import MemorySource
from neardup.files.rows import RowBlock, Source
from neardup.files.streams import Copied, is_remote
from neardup.index.open_index import IndexSource
from neardup.runs.work import WorkFolder, Workspace
from neardup.version import __version__

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.rdd import RDD


# Errors of tasks travel as rows, so that the driver raises them itself. Spark would retry a task
# that raises, and show a stack trace.


@dataclass(frozen=True)
class Failure:
    """An error in a task, with its document position."""

    place: tuple[int, int]
    error: NeardupError

    @classmethod
    def of(cls, task: int, piece: Piece | None, error: NeardupError) -> Failure:
        """Wrap a task's error, with the user's name of files."""
        if piece is None:
            return cls((task, 0), error)
        path, own = piece.source.origin or "", getattr(error, "path", None) or ""
        if path != piece.location and f"{own}/".startswith(f"{path}/"):
            renamed = copy.copy(error)
            renamed.args = (error.in_both.replace(path, piece.location, 1),)
            renamed.path = own.replace(path, piece.location, 1)  # type: ignore[attr-defined]
            error = renamed
        return cls((task, piece.number), error)


# Stored bytes per task: this many tasks per slot, within bounds.
_TASKS_A_SLOT = 4
_LEAST_BYTES = 16_000_000
_MOST_BYTES = 256_000_000
# Beyond this many tasks, each takes a larger share: every task exchanges rows with every later one.
_MOST_TASKS = 4096

# Maximum number of stretches per source, and never more than there are slots: each task reads the
# source from its start and parses it up to its stretch.
_MOST_PIECES = 8


@dataclass(frozen=True)
class Piece:
    """Blocks of a source ending in (``start``, ``stop``] stored bytes.

    ``number`` is the source's number in its collection, ``location`` the user's name for it.
    """

    collection: int
    number: int
    source: Source
    location: str
    start: int = -1
    stop: int | None = None

    def blocks(self) -> Iterator[RowBlock]:
        """Read the source up to the end of the stretch."""
        for block in self.source.blocks():
            if self.stop is not None and block.end > self.stop:
                return
            if block.end > self.start:
                yield block


Task = tuple[Piece, ...]


def cut_tasks(
    collections: Sequence[Sequence[Source]], slots: int, *, are_whole: bool = False
) -> list[Task]:
    """Divide collections into tasks of similar size.

    Short consecutive sources share a task, and long ones are divided into stretches unless
    ``are_whole`` is set. A URL has no known size and gets its own task.
    """
    n_bytes = sum(source.size or 0 for sources in collections for source in sources)
    evenly = n_bytes // (_TASKS_A_SLOT * slots)
    room = max(min(max(evenly, _LEAST_BYTES), _MOST_BYTES), n_bytes // _MOST_TASKS)
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
                n_pieces = min(-(-own // room), most)
                ends = [own * i // n_pieces for i in range(1, n_pieces)]
                for start, stop in zip([-1, *ends], [*ends, None], strict=True):
                    tasks.append((replace(piece, start=start, stop=stop),))
            else:
                waiting.append(piece)
                size += own
        if waiting:
            tasks.append(tuple(waiting))
    return tasks


def check_reached(sources: Iterable[Source]) -> None:
    """Raise for the first source that other processes cannot read."""
    for source in sources:
        _for_others(source)


def _for_others(source: Source) -> Source:
    """Return a source as other processes resolve it."""
    location = source.origin
    if isinstance(source, FolderSource):
        folder = source.with_files([_for_others(file) for file in source.files])
        folder.origin = location if is_remote(str(location)) else os.path.abspath(str(location))  # noqa: PTH100
        return folder
    if (
        location is None
        or isinstance(source, IndexSource | MemorySource)
        or isinstance(location, Copied)
    ):
        named = "data in memory" if location is None else location
        message = f"Spark reads files that all its executors reach, not {named}; name paths or URLs"
        raise InvalidInputError(message)
    found = copy.copy(source)
    # Cached texts stay with the driver.
    found.kept_texts = None
    if is_remote(location):
        return found
    # Executors have other working folders.
    found.origin = os.path.abspath(location)  # noqa: PTH100 - links stay as they are
    vars(found)["location"] = found.origin
    return found


# Bytes per transfer to the driver; Spark aborts a job that collects more than 1 GB.
_BYTES_AT_ONCE = 200_000_000

# Bytes of items that one task sends to their partitions.
_SENT_BYTES = 1_000_000

# Makes rows of the rows of a partition, perhaps after other arguments.
TaskFunction = Callable[..., Iterator[Any]]


@dataclass(frozen=True)
class Cluster:
    """Executors of a session, with ``slots`` parallel tasks.

    Each task has a fixed share of memory. ``kept`` stores results beyond the session.
    """

    context: SparkContext
    slots: int
    task_bytes: int
    kept: SharedWork | None = None

    def keeping(self, work: SharedWork | None) -> Cluster:
        """Return the executors with a store, which fixes the slots."""
        if work is None:
            return self
        return replace(self, slots=work.lay_out(self.slots), kept=work)

    def lay_out(self, items: Sequence[Any]) -> RDD[Any]:
        """Return items with their numbers, a partition each."""
        packed = [(number, _Item(pickle.dumps(item, -1))) for number, item in enumerate(items)]
        n_bytes = sum(len(item.data) for _, item in packed)
        n_sent = max(1, min(len(packed), n_bytes // _SENT_BYTES))
        with spark_errors():
            return self.place(self.context.parallelize(packed, n_sent), len(packed))

    def place(self, rows: RDD[Any], n_partitions: int) -> RDD[Any]:
        """Send pairs of a partition and a value to partitions."""
        placed = rows.partitionBy(max(1, n_partitions), _same)
        # These are lists of rows like all others. PySpark does not detect that, and would pass them
        # through another Python process wherever they are combined with others.
        placed._jrdd_deserializer = self.context.serializer  # noqa: SLF001
        return placed

    def attach(self, items: Sequence[Any], rows: RDD[Any]) -> RDD[Any]:
        """Prepend items to ``lay_out`` partitions, without moving data."""
        return self.lay_out(items).union(rows)

    def stored(self, rows: RDD[Any]) -> RDD[Any]:
        """Store results on the disks of executors."""
        from pyspark import StorageLevel

        return rows.persist(StorageLevel.DISK_ONLY)

    def apply(
        self,
        function: TaskFunction,
        rows: RDD[Any],
        *,
        is_laid_out: bool = False,
        keep: Sequence[object] = (),
        lasts: bool = False,
    ) -> RDD[Any]:
        """Apply a function to the rows of each partition.

        ``is_laid_out`` means that results may have items attached. Rows that still need placing
        must not set it: Spark takes them for placed if the number of partitions happens to be
        equal.

        Results are stored for a resumed run if ``keep`` names the stage, followed by further inputs
        besides the job, ``slots`` and earlier stages. ``lasts`` means that the function has lasting
        side effects. Both require placed rows.
        """
        working: TaskFunction = partial(_work, __version__, function)
        if lasts:
            working, rows = partial(_work_on_all, working), self._marked(rows)
        if self.kept is None or not keep:
            working = partial(_unpacking, working)
            return rows.mapPartitions(working, preservesPartitioning=is_laid_out)
        name, *follows = keep
        stage = self.kept.stage(str(name), rows.getNumPartitions(), follows)
        keeping = partial(_unpacking, partial(stage.rows, working, _is_failure))
        return self._marked(rows).mapPartitionsWithIndex(keeping, preservesPartitioning=is_laid_out)

    def _marked(self, rows: RDD[Any]) -> RDD[Any]:
        """Append an end mark, so that tasks detect lost rows."""
        return rows.union(self.lay_out([LAST] * rows.getNumPartitions()))

    def run(self, rows: RDD[Any]) -> list[Answer]:
        """Return facts about all partitions, or raise the first error."""
        most = _BYTES_AT_ONCE // max(1, rows.getNumPartitions())
        with spark_errors():
            answers: list[Answer] = rows.mapPartitions(partial(_answer, most)).collect()
        failures = (failure for answer in answers for failure in answer.failures)
        first = min(failures, key=lambda failure: failure.place, default=None)
        if first is not None:
            raise first.error
        return answers

    def collect(self, rows: RDD[Any]) -> Iterator[Any]:
        """Yield pairs of a value and bytes. Large unstored results are made twice."""
        group: list[int] = []
        size = 0
        for number, answer in enumerate(self.run(rows)):
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
            return list(self.context.runJob(rows, iter, partitions))

    def collect_once(self, rows: RDD[Any]) -> Iterator[Any]:
        """Yield like ``collect``, but compute expensive rows only once."""
        stored = self.stored(rows)
        try:
            yield from self.collect(stored)
        finally:
            stored.unpersist()

    def results(
        self, function: TaskFunction, rows: RDD[Any], *, keep: Sequence[object] = ()
    ) -> Iterator[Any]:
        """Yield a function's results per partition, with ``keep`` as ``work``."""
        made = self.apply(partial(_pickled, function), rows, keep=keep)
        return (pickle.loads(data) for _, data in self.collect_once(made))


class Answer(NamedTuple):
    """A partition's bytes, errors, and rows if they are few."""

    size: int
    failures: list[Failure]
    rows: list[Any] | None


def _same(partition: int) -> int:
    return partition


def _work(version: str, function: TaskFunction, rows: Iterator[Any]) -> Iterator[Any]:
    """Execute a task, or raise if the driver's version differs."""
    # Spark collects garbage after each task, which takes longer than many tasks: libraries have
    # some hundred thousand objects. Freezing exempts the present ones.
    gc.freeze()
    if version != __version__:
        message = (
            f"the executors have neardup {__version__}, the driver {version}; install the same "
            "version everywhere"
        )
        raise EngineError(message)
    return function(rows)


def _work_on_all(function: TaskFunction, rows: Iterator[Any]) -> Iterator[Any]:
    """Pass rows to a function, and check their end mark."""
    given = WholeRows(rows)
    yield from function(given)
    given.take_rest()


def _pickled(function: TaskFunction, rows: Iterator[Any]) -> Iterator[tuple[None, bytes] | Failure]:
    for made in function(rows):
        yield made if isinstance(made, Failure) else (None, pickle.dumps(made))


def _is_failure(row: Any) -> bool:
    return isinstance(row, Failure) or (isinstance(row, tuple) and isinstance(row[-1], Failure))


class _Item(NamedTuple):
    """A pickled item that ``lay_out`` sends to a partition."""

    data: bytes


def _unpacking(function: TaskFunction, *given: Any) -> Iterator[Any]:
    """Call a function with unpickled items before the rows.

    Items are unpickled here and not in earlier tasks, because Spark starts a second Python process
    for work before rows are combined.
    """
    *others, rows = given
    return function(*others, map(_unpacked, rows))


def _unpacked(row: Any) -> Any:
    is_item = isinstance(row, tuple) and len(row) == 2 and isinstance(row[1], _Item)
    return pickle.loads(row[1].data) if is_item else row


def _answer(most: int, rows: Iterator[Any]) -> Iterator[Answer]:
    size, failures, own = 0, list[Failure](), list[Any]()
    for row in rows:
        if isinstance(row, Failure):
            failures.append(row)
            continue
        size += len(row[1])
        if size <= most:
            own.append(row)
        else:
            own.clear()
    yield Answer(size, failures, own if size <= most else None)


def local_workspace(memory: int) -> Workspace:
    """Return a temporary workspace that is removed with the task."""
    found = local_folder()
    parent = None if found is None else Path(found)
    return Workspace(memory, WorkFolder.temporary(parent, "task"))


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn Spark's errors of a failed job into one line."""
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
    # A worker's stack trace ends with the error itself.
    raised = [line for line in lines if "Error" in line and not line.startswith("at ")]
    said = raised[-1] if raised else lines[0]
    return f"Spark could not finish: {said[:300]}; the executors' logs say more"


_PURPOSE = "engine spark"
_LEAST_JAVA = 17
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

_NO_CONNECT = "Spark Connect has none, run the program on the cluster with spark-submit"

# Share of an executor's Java memory that our tasks may use in addition to it.
_SHARE = 0.5

# Options of a Java process that starts here, before the user's options. Java only passes bytes on:
# its second compiler would take half the time of a run of some GB, and save little.
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1"


def check_tasks(whole: Sequence[str]) -> None:
    """Raise for options that need one process."""
    for name in whole:
        message = (
            f"{name} needs all documents in one memory, and cannot be had with engine spark; "
            "leave it out, or choose engine threads"
        )
        raise InvalidParameterError(message, name, "engine")


def check_pyspark() -> None:
    """Check that PySpark is installed."""
    if find_spec("pyspark") is None:
        raise MissingExtraError("spark", _PURPOSE)


def current_cluster(work: SharedWork | None = None) -> Cluster:
    """Return this process's executors, or start them by ``spark-submit`` settings."""
    check_pyspark()
    from pyspark import SparkConf, SparkContext

    if "SPARK_REMOTE" in os.environ:
        message = f"{_PURPOSE} needs a SparkContext, and SPARK_REMOTE is set; {_NO_CONNECT}"
        raise EngineError(message)
    configuration = SparkConf().setAppName("neardup")
    # With a gateway, another program has started Java.
    if SparkContext._active_spark_context is None and "PYSPARK_GATEWAY_PORT" not in os.environ:  # noqa: SLF001
        check_java()
        for process in ("driver", "executor"):
            configuration.set(f"spark.{process}.defaultJavaOptions", _JAVA_OPTIONS)
    is_new = SparkContext._active_spark_context is None  # noqa: SLF001
    # A session would load all of Spark's table support.
    context = SparkContext.getOrCreate(configuration)
    if is_new:
        atexit.register(_end, context)
        logging.getLogger().addFilter(_is_not_of_interrupt)
    return _cluster(context).keeping(work)


def _is_not_of_interrupt(record: logging.LogRecord) -> bool:
    """Return whether a record is not Py4J's trace of Ctrl-C."""
    return os.path.basename(os.path.dirname(record.pathname)) != "py4j"  # noqa: PTH119, PTH120


def _end(context: SparkContext) -> None:
    """Stop our Spark context before Java logs lost connections."""
    with contextlib.suppress(Exception):
        context.setLogLevel("OFF")
        context.stop()


def check_java() -> None:
    """Check that a Java version is installed that Spark supports."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    found = None
    if program is not None:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
        found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    if found is None or int(found[1]) < _LEAST_JAVA:
        version = f"{program} is {found[1]}" if found else "none is found"
        message = (
            f"{_PURPOSE} needs Java {_LEAST_JAVA} or later, and {version}; install one, or have "
            "JAVA_HOME name its folder"
        )
        raise EngineError(message)


def cluster_of(session: Any) -> Cluster:
    """Return the executors of a session."""
    context = getattr(session, "_sc", None)
    if context is None:
        kind = f"{type(session).__module__}.{type(session).__qualname__}"
        message = f"session must be a SparkSession with a SparkContext, got {kind}; {_NO_CONNECT}"
        raise InvalidParameterError(message, "session")
    return _cluster(context)


def _cluster(context: SparkContext) -> Cluster:
    # On this machine, PySpark would take the first python3 on the path.
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable
    return Cluster(context, max(1, context.defaultParallelism), _task_bytes(context))


def _task_bytes(context: Any) -> int:
    """Return the memory of one task outside of Java."""
    configuration = context.getConf()
    is_local = context.master.startswith("local") and "cluster" not in context.master
    cores: int = context.defaultParallelism
    if not is_local:
        cores = int(configuration.get("spark.executor.cores", "1"))
    own = configuration.get("spark.executor.pyspark.memory")
    if own:
        return _bytes_of(own) // cores
    name = "spark.driver.memory" if is_local else "spark.executor.memory"
    return int(_bytes_of(configuration.get(name, "1g")) * _SHARE) // cores


def _bytes_of(size: str) -> int:
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", size.strip().lower())
    return int(found[1]) * _UNITS[found[2] or "m"] if found else _UNITS["g"]
