"""The stage copies: documents meet others of the same digest, and the driver hears of those."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.engines.spark.cluster import Cluster
from neardup.engines.spark.rows import Outbox, from_bytes, to_bytes
from neardup.engines.spark.sign import SignedTasks
from neardup.jobs.dedup.contents import Contents, rank_documents
from neardup.reading.copies import assign_firsts, part_of
from neardup.tables import Int64s

if TYPE_CHECKING:
    from neardup.clustering.keep import KeepPolicy

# Rows of a partition, at most, on average, and their bytes in memory while they are sorted.
_ROWS = 2_000_000


def find_contents(signed: SignedTasks, keep: KeepPolicy, cluster: Cluster) -> Contents:
    """Find each content's first document in keep order."""
    other, own = signed.catalogues
    n_documents = len(other) + len(own)
    n_partitions = max(cluster.slots, -(-n_documents // _ROWS))
    starts = signed.starts[:-1].tolist()
    rows = cluster.work(partial(_send, n_partitions), cluster.attach(starts, signed.rows))
    met = cluster.work(_meet, cluster.place(rows, n_partitions))
    copies, heads = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for _, data in cluster.bring_once(met):
        batch = from_bytes(data)
        copies.append(batch.column("document").to_numpy().copy())
        heads.append(batch.column("head").to_numpy().copy())
    ranks = rank_documents(own, other, keep)
    is_filled = np.concatenate([other.n_tokens, own.n_tokens]) > 0
    firsts: Int64s = np.where(is_filled, np.arange(n_documents), -1)
    found, labels = np.unique(np.concatenate(heads), return_inverse=True)
    members = np.concatenate([found, *copies])
    assign_firsts(members, np.concatenate([np.arange(len(found)), labels]), ranks, firsts)
    return Contents(own, other, firsts, ranks)


def _send(n_partitions: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send digests, and the numbers of their documents, by parts of the range of digests."""
    import pyarrow as pa

    first: int = next(rows)
    outbox = Outbox()
    for _, _, _, signed in rows:
        filled = np.flatnonzero(signed.digests.is_filled)
        low, high = signed.digests.values[filled].T.copy()
        batch = pa.RecordBatch.from_pydict({"document": filled + first, "low": low, "high": high})
        yield from outbox.add(batch, part_of(low, n_partitions).astype(np.int64))
        first += len(signed.numbers)
    yield from outbox.rest()


def _meet(rows: Iterator[tuple[int, bytes]]) -> Iterator[tuple[None, bytes]]:
    """Give for each document but the first of a digest that first one."""
    import pyarrow as pa

    batches = [from_bytes(data) for _, data in rows]
    if not batches:
        return
    batch = pa.concat_batches(batches)
    documents, low, high = (column.to_numpy() for column in batch.columns)
    order = np.lexsort((documents, high, low))
    documents, low, high = documents[order], low[order], high[order]
    is_same = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    starts_run = np.concatenate([[True], ~is_same])
    heads = documents[starts_run][np.cumsum(starts_run) - 1]
    copies = ~starts_run
    found = {"document": documents[copies], "head": heads[copies]}
    yield None, to_bytes(pa.RecordBatch.from_pydict(found))
