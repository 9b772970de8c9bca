"""Rows on their way from where they were read to the partitions that they belong to.

In memory if they fit there. Else rows wait in memory until they are many, and are then written
partition by partition: few and long pieces, whatever the number of partitions, in files that are
written once and read in order. Each file is a task of the work folder.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import ReadError
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.tasks import TaskFiles
    from neardup.runs.work import Workspace

# Record batches in a file, one after the other; each may have its own schema. A file is a sequence
# of Arrow IPC streams of one batch each. It is written once, from start to end, and mapped for
# reading: only accessed columns are loaded, and nothing stays in memory after the last array of a
# file is freed.


class BatchWriter:
    """Writes batches to a new file.

    Parameters
    ----------
    path
        The file.
    compression
        ``lz4`` or ``zstd`` for columns of text; None for files of which few columns are read.
    """

    def __init__(self, path: Path, compression: str | None = None) -> None:
        import pyarrow as pa

        self._path = path
        self._options = pa.ipc.IpcWriteOptions(compression=compression)
        with _named(path):
            self._sink = pa.OSFile(str(path), "wb")

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch."""
        import pyarrow as pa

        with (
            _named(self._path),
            pa.ipc.new_stream(self._sink, batch.schema, options=self._options) as stream,
        ):
            stream.write_batch(batch)

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return int(self._sink.tell())

    def close(self) -> None:
        """Complete the file."""
        with _named(self._path):
            self._sink.close()

    def __enter__(self) -> BatchWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BatchFile:
    """A file of batches, written by a task of a work folder.

    Use it in a ``with`` block, or call ``__exit__``: the task is then done, or dropped after an
    error.

    Parameters
    ----------
    task
        Context manager from ``WorkFolder.task``.
    name
        Name of the file.
    compression
        As of ``BatchWriter``.
    """

    def __init__(
        self, task: AbstractContextManager[TaskFiles], name: str, compression: str | None = None
    ) -> None:
        with ExitStack() as stack:
            self._files = stack.enter_context(task)
            self._writer = stack.enter_context(BatchWriter(self._files.new(name), compression))
            self._stack = stack.pop_all()

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch."""
        self._writer.write(batch)

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._writer.size

    def finish(self, result: Any) -> None:
        """Close the file, and set the result that is stored with the task."""
        self._files.result = result

    def __enter__(self) -> BatchFile:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)


def read_batches(
    path: Path,
    start: int = 0,
    stop: int | None = None,
    is_wanted: Callable[[pa.RecordBatch], bool] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Map a file and yield its batches, optionally between two batch boundaries in bytes.

    ``is_wanted`` decides from the first column whether the other columns are read.
    """
    place, end = start, _size_of(path) if stop is None else stop
    while place < end:
        # Each batch has its own mapping, so that accessed pages are freed with it.
        batches, place = _read_at(path, place, is_wanted)
        yield from batches
        del batches


def _read_at(
    path: Path, place: int, is_wanted: Callable[[pa.RecordBatch], bool] | None
) -> tuple[list[pa.RecordBatch], int]:
    """Return the batches at a position, none if unwanted, and the next position."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as file:
            file.seek(place)
            if is_wanted is not None:
                first_column = pa.ipc.IpcReadOptions(included_fields=[0])
                with pa.ipc.open_stream(file, options=first_column) as stream:
                    wanted = [is_wanted(batch) for batch in stream]
                if not any(wanted):
                    return [], file.tell()
                file.seek(place)
            with pa.ipc.open_stream(file) as stream:
                return list(stream), file.tell()
    except (OSError, pa.ArrowInvalid) as error:
        raise _cannot_be_read(path, error) from error


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise _cannot_be_read(path, error) from error


def _cannot_be_read(path: Path, error: Exception) -> ReadError:
    message = f"a file of a run under way cannot be read: {error}"
    return ReadError(message, path=str(path))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the file name to the operating system's errors, which Arrow omits."""
    try:
        yield
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error


# A growing list of record batches: in memory while it is short, then in files. Each file is written
# once, as a task of the work folder, so that a resumed run finds the files of a killed one.

_FILE = "batches"


class SpilledBatches:
    """Batches in order of arrival, each with plain values about it.

    Parameters
    ----------
    name
        Name of the list in the work folder.
    workspace
        Memory and work folder.
    share
        Share of the memory that the list may take.
    weight_of_file
        A file is complete when the weights of its batches add up to this.

    Notes
    -----
    Add batches within a ``with`` block; an incomplete file is dropped at its end. Reading maps one
    file at a time and needs little memory.
    """

    def __init__(
        self, name: str, workspace: Workspace, *, share: float, weight_of_file: int
    ) -> None:
        self._name, self.workspace, self._share = name, workspace, share
        self._weight_of_file = weight_of_file
        self._in_memory: list[tuple[pa.RecordBatch, Any]] = []
        self._bytes = self._weight = 0
        self._n_files = 0
        self._goes_to_files = False
        # The open file, and the values of its batches.
        self._open: BatchFile | None = None
        self._known: list[Any] = []
        work = workspace.work
        while work is not None and work.is_done(self._task(self._n_files)):
            self._n_files += 1

    @property
    def is_in_memory(self) -> bool:
        """Whether no batch is in a file."""
        return self._n_files == 0 and self._open is None

    def to_files(self) -> None:
        """Write all batches to files."""
        self._goes_to_files = True

    def known(self) -> Iterator[tuple[pa.RecordBatch, Any]]:
        """Yield all batches with their values."""
        assert self._open is None
        for number in range(self._n_files):
            yield from self._read(number)
        yield from self._in_memory

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield all batches."""
        return (batch for batch, _ in self.known())

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy as a list in memory, because files end with the run."""
        return list, (list(self),)

    def append(self, batch: pa.RecordBatch, known: Any, weight: int) -> None:
        """Add a batch; ``known`` are plain values for JSON."""
        waiting = [(batch, known)]
        self._weight += weight
        if self._open is None:
            self._in_memory += waiting
            self._bytes += batch.get_total_buffer_size()
            fits = self.workspace.fits(self._bytes, self._share)
            if self.is_in_memory and fits and not self._goes_to_files:
                return
            self._open = self._new_file()
            waiting, self._in_memory = self._in_memory, []
        for each, known_of_it in waiting:
            self._open.write(each)
            self._known.append(known_of_it)
        if self._weight >= self._weight_of_file:
            self._complete_file()

    def __enter__(self) -> SpilledBatches:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if self._open is None:
            return
        if kind is None:
            self._complete_file()
        else:
            self._open.__exit__(kind, *rest)

    def _complete_file(self) -> None:
        assert self._open is not None
        file, known = self._open, self._known
        self._open, self._known, self._weight = None, [], 0
        with file:
            file.finish(known)
        self._n_files += 1

    def _new_file(self) -> BatchFile:
        assert self.workspace.work is not None
        return BatchFile(self.workspace.work.task(self._task(self._n_files)), _FILE)

    def _read(self, number: int) -> Iterator[tuple[pa.RecordBatch, Any]]:
        work = self.workspace.work
        assert work is not None
        task = self._task(number)
        yield from zip(read_batches(work.path(task, _FILE)), work.result(task), strict=True)

    def _task(self, number: int) -> str:
        return f"{self._name}-{number:05d}"


_SHUFFLED_FILE = "rows"


class Shuffle:
    """Rows by partition.

    Parameters
    ----------
    name
        Name of the shuffle in the work folder.
    workspace
        Memory and work folder.
    n_partitions
        Number of partitions.
    in_memory
        Whether all rows stay in memory; None: while they fit into their share of it.
    share
        Share of the memory for rows that wait to be written.
    compression
        Compression of files: ``lz4`` for text, None for incompressible data.
    weight_of_file
        A file is complete when the weights of its rows add up to this.

    Notes
    -----
    Add rows within a ``with`` block; an incomplete file is dropped at its end.
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
        self._name, self._workspace, self.n_partitions = name, workspace, n_partitions
        stays = in_memory or (in_memory is None and workspace.work is None)
        self._room = None if stays else workspace.share(share)
        self._may_stay = in_memory is None
        self._compression, self._weight_of_file = compression, weight_of_file
        # Rows not yet in a file: batches with their partition boundaries.
        self._waiting: list[tuple[pa.RecordBatch, list[int]]] = []
        self._bytes_waiting = self._bytes_written = 0
        self._n_files = 0
        # Values of the next or open file.
        self._known: list[Any] = []
        self._weight = 0
        self._file: BatchFile | None = None
        # Partition boundaries of each run of rows in that file, with the end of the last.
        self._runs: list[list[int]] = []
        work = workspace.work
        while (
            self._room is not None and work is not None and work.is_done(self._task(self._n_files))
        ):
            self._n_files += 1

    @property
    def bytes_in_files(self) -> int:
        """Bytes of the rows in files or waiting for them; 0 while all rows may stay in memory."""
        return 0 if self._stays else self._bytes_written + self._bytes_waiting

    def done(self) -> list[Any]:
        """Return the values of the rows that an earlier run has written."""
        return [known for number in range(self._n_files) for known in self._result(number)["known"]]

    def add(
        self, batch: pa.RecordBatch, partitions: Int64s, known: Any = None, weight: int = 0
    ) -> None:
        """Add rows, sorted by partition; ``known`` are plain values."""
        bounds = np.searchsorted(partitions, np.arange(self.n_partitions + 1)).tolist()
        self._waiting.append((batch, bounds))
        if self._room is None:
            return
        self._bytes_waiting += batch.get_total_buffer_size()
        self._known.append(known)
        self._weight += weight
        is_full = self._bytes_waiting >= self._room
        if self._stays and not is_full:
            return
        if self._weight >= self._weight_of_file:
            self._complete_file()
        elif is_full:
            self._write_waiting(self._opened())

    def __enter__(self) -> Shuffle:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is not None:
            if self._file is not None:
                self._file.__exit__(kind, *rest)
        elif self._known and not self._stays:
            self._complete_file()

    def read(
        self,
        partition: int,
        is_wanted: Callable[[pa.RecordBatch], bool] | None = None,
        *,
        n_partitions: int = 1,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition, in the order of addition.

        ``is_wanted`` filters batches by their first column; unwanted rows may still come. With
        several partitions, batches may mix them or come one partition after the other.
        """
        behind = partition + n_partitions
        work = self._workspace.work
        for number in range(self._n_files):
            assert work is not None
            path = work.path(self._task(number), _SHUFFLED_FILE)
            for places in self._result(number)["runs"]:
                start, stop = places[partition], places[behind]
                yield from read_batches(path, start, stop, is_wanted)
        for batch, bounds in self._waiting:
            if bounds[partition] < bounds[behind]:
                yield _slice_of(batch, bounds, partition, behind)

    def discard(self) -> None:
        """Remove all rows."""
        self._waiting = []
        for number in range(self._n_files):
            assert self._workspace.work is not None
            self._workspace.work.discard(self._task(number))

    def read_all(self, *, let_go: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all partitions, in any order; ``let_go`` frees rows in memory."""
        work = self._workspace.work
        for number in range(self._n_files):
            assert work is not None
            yield from read_batches(work.path(self._task(number), _SHUFFLED_FILE))
        if not let_go:
            yield from (batch for batch, _ in self._waiting)
        while let_go and self._waiting:
            yield self._waiting.pop(0)[0]

    def nbytes(self, partition: int) -> int:
        """Return the bytes of a partition's rows, in files and in memory."""
        n_bytes = 0
        for number in range(self._n_files):
            for places in self._result(number)["runs"]:
                n_bytes += places[partition + 1] - places[partition]
        for batch, bounds in self._waiting:
            n_rows = bounds[partition + 1] - bounds[partition]
            n_bytes += batch.nbytes * n_rows // max(1, len(batch))
        return int(n_bytes)

    @property
    def _stays(self) -> bool:
        is_there = self._n_files == 0 and self._file is None
        return self._room is None or (
            self._may_stay and is_there and self._bytes_waiting < self._room
        )

    def _result(self, number: int) -> Any:
        assert self._workspace.work is not None
        return self._workspace.work.result(self._task(number))

    def _opened(self) -> BatchFile:
        """Return the open file, or open the next."""
        if self._file is None:
            assert self._workspace.work is not None
            task = self._workspace.work.task(self._task(self._n_files))
            self._file = BatchFile(task, _SHUFFLED_FILE, self._compression)
        return self._file

    def _write_waiting(self, file: BatchFile) -> None:
        """Write the waiting rows as a run: one batch per partition."""
        import pyarrow as pa

        places = [file.size]
        for partition in range(self.n_partitions):
            batches = [
                _slice_of(batch, bounds, partition, partition + 1)
                for batch, bounds in self._waiting
                if bounds[partition] < bounds[partition + 1]
            ]
            if batches:
                file.write(pa.concat_batches(batches))
            places.append(file.size)
        self._runs.append(places)
        self._waiting = []
        self._bytes_written += self._bytes_waiting
        self._bytes_waiting = 0

    def _complete_file(self) -> None:
        file = self._opened()
        self._file = None
        with file:
            self._write_waiting(file)
            file.finish({"known": self._known, "runs": self._runs})
        self._known, self._runs, self._weight = [], [], 0
        self._n_files += 1

    def _task(self, number: int) -> str:
        return f"{self._name}-{number:05d}"


def _slice_of(
    batch: pa.RecordBatch, bounds: list[int], partition: int, behind: int
) -> pa.RecordBatch:
    return batch.slice(bounds[partition], bounds[behind] - bounds[partition])
