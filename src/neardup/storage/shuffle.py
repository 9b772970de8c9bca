"""Rows on their way from where they were read to the partitions that they belong to.

In memory if they fit there. Else rows wait in memory until they are many, and are then written
partition by partition: few and long pieces, whatever the number of partitions, in files that are
written once and read in order. Each file is a task of the work folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.storage.batches import BatchFile, read_batches
from neardup.tables import Int64s

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa

    from neardup.storage.workspace import Workspace

_FILE = "rows"


class Shuffle:
    """Rows by partition.

    Parameters
    ----------
    name
        Of the shuffle in the work folder.
    workspace
        Says how much memory there is.
    n_partitions
        Their number.
    in_memory
        Whether all rows stay in memory.
    share
        Part of the memory in which rows may wait to be written.
    compression
        Of files: ``lz4`` for text, None for what does not get smaller.
    weight_of_file
        A file is complete when the weights of its rows add up to so much.

    Notes
    -----
    Used in a ``with`` block while rows are added; a file that is not complete then is given up.
    """

    def __init__(
        self,
        name: str,
        workspace: Workspace,
        n_partitions: int,
        *,
        in_memory: bool,
        share: float,
        compression: str | None = None,
        weight_of_file: int = 1 << 62,
    ) -> None:
        self._name, self._workspace, self._n_partitions = name, workspace, n_partitions
        self._room = None if in_memory else workspace.share(share)
        self._compression, self._weight_of_file = compression, weight_of_file
        self._waiting: list[list[pa.RecordBatch]] = [[] for _ in range(n_partitions)]
        self._bytes_waiting = 0
        self._n_files = 0
        self._file: _ShuffleFile | None = None
        work = workspace.work
        while not in_memory and work is not None and work.is_done(self._task(self._n_files)):
            self._n_files += 1

    def done(self) -> list[Any]:
        """Return what is known of the rows that an earlier run has written."""
        return [known for number in range(self._n_files) for known in self._result(number)["known"]]

    def add(
        self, batch: pa.RecordBatch, partitions: Int64s, known: Any = None, weight: int = 0
    ) -> None:
        """Add rows, sorted by the partitions that they go to; what is ``known`` is plain values."""
        bounds = np.searchsorted(partitions, np.arange(self._n_partitions + 1)).tolist()
        for partition in np.unique(partitions).tolist():
            start, stop = bounds[partition], bounds[partition + 1]
            self._waiting[partition].append(batch.slice(start, stop - start))
        if self._room is None:
            return
        self._bytes_waiting += batch.get_total_buffer_size()
        if self._file is None:
            assert self._workspace.work is not None
            task = self._workspace.work.task(self._task(self._n_files))
            self._file = _ShuffleFile(BatchFile(task, _FILE, self._compression))
        self._file.known.append(known)
        self._file.weight += weight
        is_complete = self._file.weight >= self._weight_of_file
        if is_complete:
            self._complete_file()
        elif self._bytes_waiting >= self._room:
            self._write_waiting(self._file)

    def __enter__(self) -> Shuffle:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is None:
            return
        if error is None:
            self._complete_file()
        else:
            self._file.batches.__exit__(kind, error, traceback)

    def read(
        self, partition: int, is_wanted: Callable[[pa.RecordBatch], bool] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition, in the order in which they were added.

        ``is_wanted`` leaves batches out by their first column; more may come than it wants.
        """
        work = self._workspace.work
        for number in range(self._n_files):
            assert work is not None
            path = work.path(self._task(number), _FILE)
            for places in self._result(number)["runs"]:
                start, stop = places[partition], places[partition + 1]
                yield from read_batches(path, start, stop, is_wanted)
        yield from self._waiting[partition]

    def _result(self, number: int) -> Any:
        assert self._workspace.work is not None
        return self._workspace.work.result(self._task(number))

    def _write_waiting(self, file: _ShuffleFile) -> None:
        file.write_run(self._waiting)
        self._waiting = [[] for _ in range(self._n_partitions)]
        self._bytes_waiting = 0

    def _complete_file(self) -> None:
        assert self._file is not None
        file, self._file = self._file, None
        with file.batches:
            self._write_waiting(file)
            file.batches.finish({"known": file.known, "runs": file.runs})
        self._n_files += 1

    def _task(self, number: int) -> str:
        return f"{self._name}-{number:05d}"


class _ShuffleFile:
    """The file that is being written: runs of rows, each sorted by partition."""

    def __init__(self, batches: BatchFile) -> None:
        self.batches = batches
        self.known: list[Any] = []
        self.weight = 0
        # Of each run, where its partitions begin, and where the last one ends.
        self.runs: list[list[int]] = []

    def write_run(self, rows: list[list[pa.RecordBatch]]) -> None:
        import pyarrow as pa

        places = [self.batches.size]
        for batches in rows:
            if batches:
                self.batches.write(pa.concat_batches(batches))
            places.append(self.batches.size)
        self.runs.append(places)
