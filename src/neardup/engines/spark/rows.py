"""Rows in blocks of Arrow: on their way to partitions, and to the driver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa

# Bytes of rows that wait in a task until they are sent, so that blocks are few.
_WAITING_BYTES = 48_000_000


class Outbox:
    """Rows of a task, gathered by partition.

    Both methods yield blocks with the partitions that they go to, as Spark sends them.
    """

    def __init__(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self._partitions: list[Int64s] = []
        self._bytes = 0

    def add(self, batch: pa.RecordBatch, partitions: Int64s) -> Iterator[tuple[int, bytes]]:
        """Add rows; ``partitions`` has that of each."""
        if len(batch):
            self._batches.append(batch)
            self._partitions.append(partitions)
            self._bytes += batch.nbytes
        if self._bytes >= _WAITING_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[tuple[int, bytes]]:
        """Send what waits."""
        import pyarrow as pa

        if not self._batches:
            return
        partitions = np.concatenate(self._partitions)
        rows = pa.concat_batches(self._batches)
        self._batches, self._partitions, self._bytes = [], [], 0
        order = np.argsort(partitions, kind="stable")
        rows, partitions = rows.take(pa.array(order)), partitions[order]
        starts = np.flatnonzero(np.diff(partitions, prepend=-1))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
            yield int(partitions[start]), to_bytes(rows.slice(start, stop - start))


def to_bytes(batch: pa.RecordBatch) -> bytes:
    """Return a batch as a stream with its schema; of a slice only its rows."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def from_bytes(data: bytes) -> pa.RecordBatch:
    """Return the batch that ``to_bytes`` was given."""
    import pyarrow as pa

    with pa.ipc.open_stream(data) as stream:
        return stream.read_next_batch()
