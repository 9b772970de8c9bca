"""Rows, partitions and arrays in memory or the work folder.

Rows on their way to their partitions stay in memory if they fit there. Else rows wait in memory
until they are many, and are then written partition by partition: few and long pieces, whatever the
number of partitions, in files that are written once and read in order. Each file is a task of the
work folder.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import ReadError
from neardup.tables import AnyArray, Int64s

if TYPE_CHECKING:
    from neardup.runs.work import WorkFolder, Workspace

# Name of the file of each task.
_ROWS = "rows"


class _NewFile:
    """A new file of record batches, written by a task.

    It is a sequence of Arrow IPC streams of one batch each. It is mapped for reading: only accessed
    columns are loaded, and nothing stays in memory after the last array of a file is freed.
    """

    def __init__(self, work: WorkFolder, task: str, compression: str | None) -> None:
        self._options = pa.ipc.IpcWriteOptions(compression=compression)
        with ExitStack() as stack:
            self.files = stack.enter_context(work.task(task))
            self._path = self.files.new(_ROWS)
            stack.enter_context(_named(self._path))
            self.sink = stack.enter_context(pa.OSFile(str(self._path), "wb"))
            self._stack = stack.pop_all()

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch to the file."""
        with (
            _named(self._path),
            pa.ipc.new_stream(self.sink, batch.schema, options=self._options) as stream,
        ):
            stream.write_batch(batch)

    def close(self, *raised: Any) -> None:
        """Complete the task, unless an error was raised."""
        self._stack.__exit__(*raised or (None, None, None))


def _read_batches(
    path: Path,
    start: int = 0,
    stop: int | None = None,
    is_wanted: Callable[[pa.RecordBatch], bool] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Map a file and yield its batches.

    ``start`` and ``stop`` are batch boundaries in bytes. ``is_wanted`` tests the first column.
    """
    first_column = pa.ipc.IpcReadOptions(included_fields=[0])
    try:
        end = path.stat().st_size if stop is None else stop
        while start < end:
            # Each batch has its own mapping, so that accessed pages are freed with it.
            with pa.memory_map(str(path)) as file:
                file.seek(start)
                batches: list[pa.RecordBatch] | None = None
                if is_wanted is not None:
                    with pa.ipc.open_stream(file, options=first_column) as stream:
                        batches = None if any(map(is_wanted, list(stream))) else []
                    file.seek(start if batches is None else file.tell())
                if batches is None:
                    with pa.ipc.open_stream(file) as stream:
                        batches = list(stream)
                start = file.tell()
            yield from batches
            del batches
    except (OSError, pa.ArrowInvalid) as error:
        raise _cannot_be_read(path, error) from error


def _cannot_be_read(path: Path, error: Exception) -> ReadError:
    message = f"a file of a run under way cannot be read: {error}"
    return ReadError(message, path=str(path))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the file name, missing from Arrow's errors."""
    try:
        yield
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error


class Shuffle:
    """Rows by partition, in memory or in files.

    With ``in_memory`` True, rows stay in memory; with False, they go to files each time that they
    fill a ``share`` of it; with None, they stay up to this share, and then go to files. The
    ``compression`` of files is ``lz4`` for text, None for incompressible data. A file, including an
    earlier run's, is complete when the weights of its rows add up to ``weight_of_file``; its task
    records the facts of each addition, plain values for JSON. Add rows within a ``with`` block; an
    incomplete file is dropped at its end. One partition keeps its batches as they were added.
    """

    def __init__(
        self,
        name: str,
        workspace: Workspace,
        n_partitions: int,
        *,
        in_memory: bool | None,
        share: float,
        compression: str | None = None,
        weight_of_file: int = 1 << 62,
    ) -> None:
        self.workspace, self.n_partitions = workspace, n_partitions
        self._name, self._compression = name, compression
        self._weight_of_file = weight_of_file
        is_unlimited = in_memory or (in_memory is None and workspace.work is None)
        self._room = None if is_unlimited else workspace.share(share)
        self._may_stay = in_memory is None
        # Rows not yet in a file: batches with their partition boundaries.
        self._waiting: list[tuple[pa.RecordBatch, list[int]]] = []
        self._bytes_waiting = self._bytes_written = 0
        # Facts and weight of the additions in memory and in the open file. Partition boundaries of
        # each run of rows in the open file, with the end of the last.
        self._facts: list[Any] = []
        self._weight = 0
        self._runs: list[list[int]] = []
        self._file: _NewFile | None = None
        self._n_files = 0
        while self._room is not None and self._work.is_done(self._task(self._n_files)):
            self._n_files += 1

    @property
    def is_in_memory(self) -> bool:
        """Whether no rows are in files."""
        return self._n_files == 0 and self._file is None

    @property
    def bytes_in_files(self) -> int:
        """Bytes of rows, 0 while all may stay in memory."""
        return 0 if self._stays_in_memory else self._bytes_written + self._bytes_waiting

    def done(self) -> list[Any]:
        """Return the facts of rows in complete files, including an earlier run's."""
        return [facts for _, result in self._files() for facts in result["facts"]]

    def add(
        self,
        batch: pa.RecordBatch,
        partitions: Int64s | None = None,
        facts: Any = None,
        weight: int = 0,
    ) -> None:
        """Add rows sorted by partition, with their facts."""
        bounds = [0, len(batch)]
        if partitions is not None:
            bounds = np.searchsorted(partitions, np.arange(self.n_partitions + 1)).tolist()
        self._waiting.append((batch, bounds))
        self._facts.append(facts)
        if self._room is None:
            return
        self._bytes_waiting += batch.get_total_buffer_size()
        self._weight += weight
        is_full = self._bytes_waiting > self._room
        if self._stays_in_memory and not is_full:
            return
        if self._weight >= self._weight_of_file:
            self._complete_file()
        elif is_full:
            self._write_waiting(self._open_file())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        if raised[0] is not None:
            if self._file is not None:
                self._file.close(*raised)
        elif self._facts and not self._stays_in_memory:
            self._complete_file()

    def read(
        self,
        partition: int,
        is_wanted: Callable[[pa.RecordBatch], bool] | None = None,
        *,
        n_partitions: int = 1,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a partition's rows, in the order of addition.

        ``is_wanted`` filters batches by their first column; unwanted rows may still come. With
        several partitions, batches may mix them or come one partition after the other.
        """
        stop = partition + n_partitions
        for path, result in self._files():
            for offsets in result["runs"]:
                yield from _read_batches(path, offsets[partition], offsets[stop], is_wanted)
        for batch, bounds in self._waiting:
            if bounds[partition] < bounds[stop] or self.n_partitions == 1:
                yield _slice_of(batch, bounds, partition, stop)

    def read_all(self, *, free_rows: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield all rows in any order, optionally freeing memory."""
        for path, _ in self._files():
            yield from _read_batches(path)
        if not free_rows:
            yield from (batch for batch, _ in self._waiting)
        while free_rows and self._waiting:
            yield self._waiting.pop(0)[0]

    def discard(self) -> None:
        """Remove all rows and their files."""
        self._waiting = []
        for number in range(self._n_files):
            self._work.discard(self._task(number))

    def sizes(self) -> Int64s:
        """Return the bytes of each partition, in files and memory."""
        n_bytes: Int64s = np.zeros(self.n_partitions, np.int64)
        for _, result in self._files():
            for offsets in result["runs"]:
                n_bytes += np.diff(offsets)
        for batch, bounds in self._waiting:
            n_bytes += batch.nbytes * np.diff(bounds) // max(1, len(batch))
        return n_bytes

    @property
    def _stays_in_memory(self) -> bool:
        return self._room is None or (
            self._may_stay and self.is_in_memory and self._bytes_waiting <= self._room
        )

    @property
    def _work(self) -> WorkFolder:
        assert self.workspace.work is not None
        return self.workspace.work

    def _task(self, number: int) -> str:
        return f"{self._name}-{number:05d}"

    def _files(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        for number in range(self._n_files):
            task = self._task(number)
            yield self._work.path(task, _ROWS), self._work.result(task)

    def _open_file(self) -> _NewFile:
        if self._file is None:
            self._file = _NewFile(self._work, self._task(self._n_files), self._compression)
        return self._file

    def _write_waiting(self, file: _NewFile) -> None:
        offsets = [file.sink.tell()]
        for partition in range(self.n_partitions):
            batches = [
                _slice_of(batch, bounds, partition, partition + 1)
                for batch, bounds in self._waiting
                if bounds[partition] < bounds[partition + 1] or self.n_partitions == 1
            ]
            if batches and self.n_partitions > 1:
                batches = [pa.concat_batches(batches)]
            for batch in batches:
                file.write(batch)
            offsets.append(file.sink.tell())
        self._runs.append(offsets)
        self._waiting = []
        self._bytes_written += self._bytes_waiting
        self._bytes_waiting = 0

    def _complete_file(self) -> None:
        file = self._open_file()
        try:
            self._write_waiting(file)
        except BaseException:
            file.close(*sys.exc_info())
            raise
        file.files.result = {"facts": self._facts, "runs": self._runs}
        file.close()
        self._file, self._facts, self._runs, self._weight = None, [], [], 0
        self._n_files += 1


def _slice_of(batch: pa.RecordBatch, bounds: list[int], start: int, stop: int) -> pa.RecordBatch:
    return batch.slice(bounds[start], bounds[stop] - bounds[start])


class SpilledBatches(Shuffle):
    """Batches in order of arrival, each with its facts, as one partition."""

    def __init__(
        self, name: str, workspace: Workspace, *, share: float, weight_of_file: int
    ) -> None:
        super().__init__(
            name, workspace, 1, in_memory=None, share=share, weight_of_file=weight_of_file
        )

    def to_files(self) -> None:
        """Write all batches to files."""
        self._may_stay = False

    def with_facts(self) -> Iterator[tuple[pa.RecordBatch, Any]]:
        """Return an iterator of all batches with their facts."""
        assert self._file is None
        return zip(self, chain(self.done(), self._facts), strict=True)

    def append(self, batch: pa.RecordBatch, facts: Any, weight: int) -> None:
        """Add a batch, with its facts."""
        self.add(batch, None, facts, weight)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.read(0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy as a list, because files end with the run."""
        return list, (list(self),)


def load_or_compute(
    workspace: Workspace, task: str, compute: Callable[[], dict[str, AnyArray]]
) -> dict[str, AnyArray]:
    """Return a task's stored arrays, or compute them.

    They are stored only if an earlier task is: without files, a resumed run computes everything.
    """
    work = workspace.work
    if work is not None and work.is_done(task):
        names: list[str] = work.result(task)
        return {name: _load(work.path(task, name)) for name in names}
    arrays = compute()
    if work is not None and work.n_done:
        store_arrays(workspace, task, arrays)
    return arrays


def store_arrays(workspace: Workspace, task: str, arrays: Mapping[str, AnyArray]) -> None:
    """Store a task's arrays in the work folder, once."""
    work = workspace.work
    if work is None or work.is_done(task):
        return
    with work.task(task) as files:
        for name, array in arrays.items():
            values = np.ascontiguousarray(array)
            with files.new(name).open("wb") as file:
                # NumPy's own writer does not distinguish a full disk from other failures.
                head = np.lib.format.header_data_from_array_1_0(values)
                np.lib.format.write_array_header_1_0(file, head)
                file.write(values.data)
        files.result = list(arrays)


def _load(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise _cannot_be_read(path, error) from error


_VALUES = "values"
_FIRST_ROOM = 1 << 16


class GrowingArray:
    """An array to append to, in a file if large.

    It is in a file above a ``share`` of the memory. Append within a ``with`` block; then ``array``
    is available. The system moves it as it grows, without a copy; up to an eighth is unused.
    """

    def __init__(
        self, name: str, dtype: npt.DTypeLike, workspace: Workspace, *, share: float
    ) -> None:
        self._name, self._workspace, self._share = name, workspace, share
        self._values: AnyArray = np.empty(_FIRST_ROOM, dtype)
        self._size = 0
        self._file: BinaryIO | None = None
        self._stack = ExitStack()

    def append(self, values: AnyArray) -> None:
        """Add values at the end."""
        needed = (self._size + len(values)) * self._values.itemsize
        if self._file is None and not self._workspace.fits(needed, self._share):
            self._spill()
        if self._file is not None:
            self._file.write(np.ascontiguousarray(values, self._values.dtype).data)
            self._size += len(values)
            return
        stop = self._size + len(values)
        if stop > len(self._values):
            # In place, because no other object refers to the array yet.
            self._values.resize(max(stop, len(self._values) * 9 // 8), refcheck=False)
        self._values[self._size : stop] = values
        self._size = stop

    @property
    def is_stored(self) -> bool:
        """Whether an earlier run has written all values."""
        work = self._workspace.work
        return self._file is None and work is not None and work.is_done(self._name)

    @property
    def array(self) -> Any:
        """All values, memory-mapped if they are in a file."""
        if self._file is None and not self.is_stored:
            return self._values[: self._size]
        assert self._workspace.work is not None
        path = self._workspace.work.path(self._name, _VALUES)
        return np.memmap(path, self._values.dtype, "r")

    def __enter__(self) -> GrowingArray:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def _spill(self) -> None:
        assert self._workspace.work is not None
        files = self._stack.enter_context(self._workspace.work.task(self._name))
        self._file = self._stack.enter_context(files.new(_VALUES).open("wb"))
        self._file.write(self._values[: self._size].data)
        self._values = np.empty(0, self._values.dtype)
