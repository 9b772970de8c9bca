"""A growing list of record batches: in memory while it is short, in files from then on.

Files are written once, each as a task of the work folder, so that those of a run that was killed
are there when it is run again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neardup.storage.batches import BatchFile, read_batches

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa

    from neardup.storage.workspace import Workspace

_FILE = "batches"


class SpilledBatches:
    """Batches in the order in which they came, each with something that is known of it.

    Parameters
    ----------
    name
        Of the list in the work folder.
    workspace
        Says how much memory there is.
    share
        Part of that memory which the list may take.
    weight_of_file
        A file is complete when the weights of its batches add up to so much.

    Notes
    -----
    Used in a ``with`` block while batches are added; a file that is not complete then is given up.
    Reading maps a file at a time, so that little memory is taken whatever is read.
    """

    def __init__(
        self, name: str, workspace: Workspace, *, share: float, weight_of_file: int
    ) -> None:
        self._name, self._workspace, self._share = name, workspace, share
        self._weight_of_file = weight_of_file
        self._in_memory: list[tuple[pa.RecordBatch, Any]] = []
        self._bytes = self._weight = 0
        self._n_files = 0
        # The file that is being written, and what is known of its batches.
        self._open: BatchFile | None = None
        self._known: list[Any] = []
        work = workspace.work
        while work is not None and work.is_done(self._task(self._n_files)):
            self._n_files += 1

    @property
    def is_in_memory(self) -> bool:
        """Whether no batch is in a file."""
        return self._n_files == 0 and self._open is None

    def known(self) -> Iterator[tuple[pa.RecordBatch, Any]]:
        """Yield all batches, each with what is known of it."""
        assert self._open is None
        for number in range(self._n_files):
            yield from self._read(number)
        yield from self._in_memory

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield all batches."""
        return (batch for batch, _ in self.known())

    def __reduce__(self) -> tuple[Any, ...]:
        """Be copied as a list in memory, because files go with the run."""
        return list, (list(self),)

    def append(self, batch: pa.RecordBatch, known: Any, weight: int) -> None:
        """Add a batch; what is ``known`` of it is plain values, of which JSON can be made."""
        waiting = [(batch, known)]
        self._weight += weight
        if self._open is None:
            self._in_memory += waiting
            self._bytes += batch.get_total_buffer_size()
            if self.is_in_memory and self._workspace.fits(self._bytes, self._share):
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._open is None:
            return
        if error is None:
            self._complete_file()
        else:
            self._open.__exit__(kind, error, traceback)

    def _complete_file(self) -> None:
        assert self._open is not None
        file, known = self._open, self._known
        self._open, self._known, self._weight = None, [], 0
        with file:
            file.finish(known)
        self._n_files += 1

    def _new_file(self) -> BatchFile:
        assert self._workspace.work is not None
        return BatchFile(self._workspace.work.task(self._task(self._n_files)), _FILE)

    def _read(self, number: int) -> Iterator[tuple[pa.RecordBatch, Any]]:
        work = self._workspace.work
        assert work is not None
        task = self._task(number)
        yield from zip(read_batches(work.path(task, _FILE)), work.result(task), strict=True)

    def _task(self, number: int) -> str:
        return f"{self._name}-{number:05d}"
