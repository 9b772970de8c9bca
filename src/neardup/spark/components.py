"""The stage components: contents meet others of the same band key; the driver joins them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.kernels.common.union_find import find_roots, union_edges
from neardup.matching.buckets import star_edges
from neardup.reading.first_pass import assign_firsts, part_of
from neardup.spark.cluster import Cluster
from neardup.spark.sign import Outbox, SignedTasks, from_bytes, to_bytes
from neardup.stages.contents import Contents, rank_documents
from neardup.stages.plan import DedupPlan
from neardup.tables import Int64s

if TYPE_CHECKING:
    from neardup.matching.keep import KeepPolicy

# The stage copies: documents meet others of the same digest, and the driver hears of those.

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


# Memory of a row, a key of a document, while a partition is worked on.
_BYTES = 100
# The fewest partitions for each slot, so that slots end together.
_PARTITIONS_A_SLOT = 2


def find_components(
    signed: SignedTasks, contents: Contents, plan: DedupPlan, cluster: Cluster
) -> Int64s:
    """Find for each document the first one of its component, itself if it is no content."""
    n_documents = len(contents.firsts)
    n_rows = n_documents * plan.banding.bands
    least = _PARTITIONS_A_SLOT * cluster.slots
    n_partitions = max(least, -(-n_rows * _BYTES // cluster.task_bytes))
    n_ignored = 0 if plan.options.clusters == "components" else len(contents.other)
    is_content = contents.is_content
    payloads = [
        (start, np.packbits(is_content[start:stop]))
        for start, stop in zip(signed.starts[:-1].tolist(), signed.starts[1:].tolist(), strict=True)
    ]
    sending = partial(_send_bands, n_partitions)
    rows = cluster.work(sending, cluster.attach(payloads, signed.rows))
    meeting = partial(_meet_bands, n_ignored)
    edges = cluster.work(meeting, cluster.place(rows, n_partitions))
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    for _, data in cluster.bring_once(edges):
        batch = from_bytes(data)
        first, member = (column.to_numpy() for column in batch.columns)
        union_edges(parents, first, member)
    find_roots(parents)
    return parents


def _send_bands(n_partitions: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send the keys of contents, by parts of the range of keys."""
    import pyarrow as pa

    first, packed = next(rows)
    is_content = np.unpackbits(packed).astype(np.bool_)
    outbox = Outbox()
    done = 0
    for _, _, _, signed in rows:
        n, n_bands = signed.keys.shape
        documents = np.flatnonzero(is_content[done : done + n])
        keys = signed.keys[documents].ravel()
        columns = {
            "band": np.tile(np.arange(n_bands, dtype=np.uint16), len(documents)),
            "document": np.repeat(documents + first + done, n_bands),
            "key": keys,
        }
        partitions = part_of(keys, n_partitions).astype(np.int64)
        yield from outbox.add(pa.RecordBatch.from_pydict(columns), partitions)
        done += n
    yield from outbox.rest()


def _meet_bands(n_ignored: int, rows: Iterator[tuple[int, bytes]]) -> Iterator[tuple[None, bytes]]:
    """Connect documents of the same key in a band; give a forest that connects the same ones.

    Documents below ``n_ignored`` need not meet each other.
    """
    import pyarrow as pa

    batches = [from_bytes(data) for _, data in rows]
    if not batches:
        return
    batch = pa.concat_batches(batches)
    bands, numbers, keys = (column.to_numpy() for column in batch.columns)
    documents, places = np.unique(numbers, return_inverse=True)
    ignored = documents < n_ignored
    parents: Int64s = np.arange(len(documents), dtype=np.int64)
    order = np.argsort(bands, kind="stable")
    bounds = np.searchsorted(bands[order], np.arange(int(bands.max()) + 2))
    for start, stop in pairwise(bounds.tolist()):
        # By document, so that the first of each key is the first of all, whatever came first.
        of_band = order[start:stop]
        of_band = of_band[np.argsort(places[of_band])]
        own = places[of_band]
        are_ignored = ignored[own] if n_ignored else None
        firsts, members = star_edges(keys[of_band], are_ignored=are_ignored)
        union_edges(parents, own[firsts], own[members])
    find_roots(parents)
    joined = np.flatnonzero(parents != np.arange(len(parents)))
    edges = {"first": documents[parents[joined]], "member": documents[joined]}
    yield None, to_bytes(pa.RecordBatch.from_pydict(edges))
