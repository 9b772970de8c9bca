"""Count the documents that contain each token, on executors.

Each task counts its documents; counts are summed by ranges of tokens, so that the driver receives
them in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.engine.spark.cluster import Cluster, Failure, Piece, Task, cut_tasks
from neardup.engine.spark.read import Outbox, TaskReading, from_bytes, to_bytes
from neardup.errors import NeardupError
from neardup.reading.passes import part_of
from neardup.reading.sign import Counted, ListTokens, numbers_of
from neardup.tables import Int64s
from neardup.text.weighting import DocumentFrequencies, count_documents

if TYPE_CHECKING:
    from neardup.files.rows import RowBlock
    from neardup.tables import TokenLists


def count_on_executors(
    stage: str,
    collections: Counted,
    cluster: Cluster,
) -> DocumentFrequencies:
    """Count the documents of some collections, as ``Engine.count``.

    The driver holds 16 bytes per distinct token, a task the tokens of its documents.
    """
    tasks = cut_tasks([sources for sources, _ in collections], cluster.slots)
    counting = partial(_count, [look for _, look in collections], cluster.slots)
    counts = cluster.work(counting, cluster.lay_out(list(enumerate(tasks))), keep=(stage,))
    summed = cluster.work(_sum, cluster.place(counts, cluster.slots))
    hashes, numbers = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    n_documents = 0
    for n, data in cluster.bring_once(summed):
        batch = from_bytes(data)
        n_documents += n
        hashes.append(numbers_of(batch, "hash"))
        numbers.append(numbers_of(batch, "count"))
    return DocumentFrequencies(np.concatenate(hashes), np.concatenate(numbers), n_documents)


def _count(
    looks: Sequence[ListTokens],
    n_partitions: int,
    tasks: Iterator[tuple[int, Task]],
) -> Iterator[tuple[int, tuple[int, bytes] | Failure]]:
    """Send the counts of a task's documents by ranges of tokens."""
    import pyarrow as pa

    def look_at(piece: Piece, block: RowBlock) -> TokenLists:
        return looks[piece.collection](piece.source, block)

    for number, task in tasks:
        reading = TaskReading(number, task)
        try:
            found = count_documents(lists for _, lists in reading.map(look_at))
        except NeardupError as error:
            yield 0, reading.failure(error)
            continue
        batch = pa.RecordBatch.from_pydict({"hash": found.hashes, "count": found.counts})
        partitions: Int64s = part_of(found.hashes, n_partitions).astype(np.int64)
        outbox = Outbox()
        # Count each document once, whatever its tokens are.
        yield 0, (found.n_documents, to_bytes(batch.slice(0, 0)))
        for sent in (outbox.add(batch, partitions), outbox.rest()):
            yield from ((partition, (0, data)) for partition, data in sent)


def _sum(rows: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, bytes] | Failure]:
    import pyarrow as pa

    n_documents, batches = 0, []
    for _, row in rows:
        if isinstance(row, Failure):
            yield row
            continue
        n_documents += row[0]
        batches.append(from_bytes(row[1]))
    if not batches:
        return
    batch = pa.concat_batches(batches)
    hashes, places = np.unique(numbers_of(batch, "hash"), return_inverse=True)
    counts: Int64s = np.zeros(len(hashes), np.int64)
    np.add.at(counts, places, numbers_of(batch, "count"))
    summed = pa.RecordBatch.from_pydict({"hash": hashes, "count": counts})
    yield n_documents, to_bytes(summed)
