"""Record batches in a file, one after the other, each of which may have a schema of its own.

A file is a sequence of Arrow IPC streams of one batch each. It is written once, from start to end,
and mapped to be read: only the columns that are looked at are loaded, and nothing stays in memory
when the last array of a file is let go.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import ReadError

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa

    from neardup.storage.task_files import TaskFiles


class BatchWriter:
    """Writes batches to a new file.

    Parameters
    ----------
    path
        The file.
    compression
        ``lz4`` or ``zstd`` for columns of text; None where files are mapped for a few columns.

    Raises
    ------
    OSError
        If the file cannot be written, for example on a full disk; it names the file.
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class BatchFile:
    """The file of batches that a task of a work folder writes.

    Used in a ``with`` block, or left by ``__exit__``: the task is then done, or given up after an
    error.

    Parameters
    ----------
    task
        What ``WorkFolder.task`` returns.
    name
        Of the file.
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
        """Note what is stored with the task; nothing is written any more."""
        self._files.result = result

    def __enter__(self) -> BatchFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, traceback)


def read_batches(
    path: Path,
    start: int = 0,
    stop: int | None = None,
    is_wanted: Callable[[pa.RecordBatch], bool] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Map a file and yield its batches; those between two bytes at which batches begin.

    ``is_wanted`` decides by the first column alone whether the others of a batch are read.

    Raises
    ------
    ReadError
        If the file cannot be read, or holds something else.
    """
    place, end = start, _size_of(path) if stop is None else stop
    while place < end:
        # Mapped anew for each batch: what was looked at leaves the memory with it.
        batches, place = _read_at(path, place, is_wanted)
        yield from batches
        del batches


def _read_at(
    path: Path, place: int, is_wanted: Callable[[pa.RecordBatch], bool] | None
) -> tuple[list[pa.RecordBatch], int]:
    """Return the batches at a place, none if they are not wanted, and where the next ones are."""
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
    """Let the operating system's errors name the file; Arrow's do not."""
    try:
        yield
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error
