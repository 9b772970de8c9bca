"""Record batches in a file, one after the other, each of which may have a schema of its own.

A file is a sequence of Arrow IPC streams of one batch each. It is written once, from start to end,
and mapped to be read: only the columns that are looked at are loaded, and nothing stays in memory
when the last array of a file is let go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import ReadError
from neardup.storage.files import translated

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa


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
    WriteError
        If the file cannot be written, for example on a full disk.
    """

    def __init__(self, path: Path, compression: str | None = None) -> None:
        import pyarrow as pa

        self._path = path
        self._options = pa.ipc.IpcWriteOptions(compression=compression)
        self.n_batches = 0
        with translated(path):
            self._sink = pa.OSFile(str(path), "wb")

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch."""
        import pyarrow as pa

        with (
            translated(self._path),
            pa.ipc.new_stream(self._sink, batch.schema, options=self._options) as stream,
        ):
            stream.write_batch(batch)
        self.n_batches += 1

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return int(self._sink.tell())

    def close(self) -> None:
        """Complete the file."""
        with translated(self._path):
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
    place, end = start, path.stat().st_size if stop is None else stop
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
        message = f"a file of a run under way cannot be read: {error}"
        raise ReadError(message, path=str(path)) from error
