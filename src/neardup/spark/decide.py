"""What pairs by buckets need on executors: contents meet, and go to partitions with their texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.engine.partitions import Partitions
from neardup.engine.spark.cluster import Cluster, Failure, Task
from neardup.engine.spark.read import Outbox, ReadTasks, TaskReading, Wanted, from_bytes, to_bytes
from neardup.errors import NeardupError
from neardup.kernels.common.union_find import find_roots, union_edges
from neardup.matching.buckets import star_edges
from neardup.reading.first_pass import assign_firsts, part_of
from neardup.reading.signed_batches import numbers_of
from neardup.runs.arrays import AnyArray
from neardup.runs.exchange import Shuffle
from neardup.runs.work import Workspace
from neardup.stages.components import NumberedContents, candidate_rows
from neardup.tables import TEXT_COLUMNS, Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.rdd import RDD

    from neardup.files.rows import ColumnNames

# The stage copies: documents meet others of the same digest, and the driver hears of those.

# Rows of a partition, at most, on average, and their bytes in memory while they are sorted.
_ROWS = 2_000_000


def find_firsts(
    signed: ReadTasks, ranks: Int64s | None, is_filled: Bools, cluster: Cluster
) -> Int64s:
    """Find for each document the first one of its digest, as ``find_copies`` does in threads.

    It is -1 for one that is not filled, of which no digest was sent.
    """
    n_documents = len(is_filled)
    n_partitions = max(cluster.slots, -(-n_documents // _ROWS))
    starts = signed.starts[:-1].tolist()
    rows = cluster.work(partial(_send, n_partitions), cluster.attach(starts, signed.rows))
    met = cluster.work(_meet, cluster.place(rows, n_partitions))
    copies, heads = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for _, data in cluster.bring_once(met):
        batch = from_bytes(data)
        copies.append(batch.column("document").to_numpy().copy())
        heads.append(batch.column("head").to_numpy().copy())
    firsts: Int64s = np.where(is_filled, np.arange(n_documents), -1)
    found, labels = np.unique(np.concatenate(heads), return_inverse=True)
    members = np.concatenate([found, *copies])
    assign_firsts(members, np.concatenate([np.arange(len(found)), labels]), ranks, firsts)
    return firsts


def _send(n_partitions: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send digests, and the numbers of their documents, by parts of the range of digests."""
    import pyarrow as pa

    first: int = next(rows)
    outbox = Outbox()
    for _, _, _, signed, _ in rows:
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
    signed: ReadTasks,
    contents: NumberedContents,
    n_bands: int,
    are_ignored: Bools,
    cluster: Cluster,
) -> Int64s:
    """Find for each document the first one of its component, itself if it is no content.

    Documents that ``are_ignored`` need not meet each other.
    """
    n_documents = len(contents.firsts)
    n_rows = n_documents * n_bands
    least = _PARTITIONS_A_SLOT * cluster.slots
    n_partitions = max(least, -(-n_rows * _BYTES // cluster.task_bytes))
    is_content = contents.is_content
    payloads = [
        (start, np.packbits(is_content[start:stop]), np.packbits(are_ignored[start:stop]))
        for start, stop in signed.ranges
    ]
    sending = partial(_send_bands, n_partitions)
    rows = cluster.work(sending, cluster.attach(payloads, signed.rows))
    edges = cluster.work(_meet_bands, cluster.place(rows, n_partitions))
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

    first, *packed = next(rows)
    is_content, are_ignored = (np.unpackbits(bits).astype(np.bool_) for bits in packed)
    outbox = Outbox()
    done = 0
    for _, _, _, signed, _ in rows:
        n, n_bands = signed.keys.shape
        documents = np.flatnonzero(is_content[done : done + n])
        keys = signed.keys[documents].ravel()
        columns = {
            "is_ignored": np.repeat(are_ignored[documents + done], n_bands),
            "band": np.tile(np.arange(n_bands, dtype=np.uint16), len(documents)),
            "document": np.repeat(documents + first + done, n_bands),
            "key": keys,
        }
        partitions = part_of(keys, n_partitions).astype(np.int64)
        yield from outbox.add(pa.RecordBatch.from_pydict(columns), partitions)
        done += n
    yield from outbox.rest()


def _meet_bands(rows: Iterator[tuple[int, bytes]]) -> Iterator[tuple[None, bytes]]:
    """Connect documents of the same key in a band; give a forest that connects the same ones.

    Those that are ignored need not meet each other.
    """
    import pyarrow as pa

    batches = [from_bytes(data) for _, data in rows]
    if not batches:
        return
    batch = pa.concat_batches(batches)
    bands, numbers, keys = (numbers_of(batch, name) for name in ("band", "document", "key"))
    documents, heads, places = np.unique(numbers, return_index=True, return_inverse=True)
    ignored = batch.column("is_ignored").to_numpy(zero_copy_only=False)[heads]
    parents: Int64s = np.arange(len(documents), dtype=np.int64)
    order = np.argsort(bands, kind="stable")
    bounds = np.searchsorted(bands[order], np.arange(int(bands.max()) + 2))
    for start, stop in pairwise(bounds.tolist()):
        # By document, so that the first of each key is the first of all, whatever came first.
        of_band = order[start:stop]
        of_band = of_band[np.argsort(places[of_band])]
        own = places[of_band]
        firsts, members = star_edges(keys[of_band], are_ignored=ignored[own])
        union_edges(parents, own[firsts], own[members])
    find_roots(parents)
    joined = np.flatnonzero(parents != np.arange(len(parents)))
    edges = {"first": documents[parents[joined]], "member": documents[joined]}
    yield None, to_bytes(pa.RecordBatch.from_pydict(edges))


# Share of a task's memory in which texts wait to be written to its local disk.
_WAITING_SHARE = 0.2
# Share that the sets take which are compared.
_SETS_SHARE = 0.4


def exchange_keys(
    signed: ReadTasks,
    contents: NumberedContents,
    partitions: Partitions,
    need_not_meet: Bools,
    cluster: Cluster,
) -> RDD[Any]:
    """Bring keys and filters of candidates to their partitions, each with its component."""
    places = contents.places_of(partitions.documents)
    payloads = []
    for start, stop in signed.ranges:
        own = places[start:stop]
        rows = np.flatnonzero(own >= 0)
        are_fixed = need_not_meet[rows + start]
        payloads.append((rows, own[rows], partitions.components[own[rows]], are_fixed))
    sending = partial(_send_keys, partitions.bounds)
    rows_sent = cluster.work(sending, cluster.attach(payloads, signed.rows))
    return cluster.place(rows_sent, len(partitions))


def _send_keys(bounds: Int64s, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    import pyarrow as pa

    wanted, places, components, are_fixed = next(rows)
    outbox = Outbox()
    done = 0
    for _, _, _, signed, _ in rows:
        start, stop = np.searchsorted(wanted, [done, done + len(signed.numbers)])
        own = places[start:stop]
        batch = candidate_rows(own, wanted[start:stop] - done, signed.keys, signed.filters)
        batch = batch.append_column("component", pa.array(components[start:stop]))
        batch = batch.append_column("is_fixed", pa.array(are_fixed[start:stop]))
        yield from outbox.add(batch, np.searchsorted(bounds, own, side="right") - 1)
        done += len(signed.numbers)
    yield from outbox.rest()


def by_place(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Put the rows of a partition into the order of their places, however they came."""
    import pyarrow as pa

    batch = pa.concat_batches(batches)
    return batch.take(pa.array(np.argsort(batch.column("place").to_numpy())))


# Of documents that are decided: their places, components, numbers of tokens, and numbers.
_FACTS = ("place", "component", "n_tokens", "document")


def exchange_texts(
    signed: ReadTasks,
    contents: NumberedContents,
    partitions: Partitions,
    components: Int64s,
    are_wanted: Bools,
    skip_bad: bool,
    cluster: Cluster,
) -> RDD[Any]:
    """Read the texts of some candidates again and bring them to their partitions."""
    places = contents.places_of(partitions.documents)
    is_live = np.zeros(len(contents.firsts), np.bool_)
    is_live[partitions.documents[are_wanted]] = True
    payloads = []
    columns = [catalogue.columns.only_text() for catalogue in contents.catalogues]
    for number, (task, (start, stop)) in enumerate(zip(signed.tasks, signed.ranges, strict=True)):
        documents = np.flatnonzero(is_live[start:stop]) + start
        own = places[documents]
        known = own, components[own], contents.n_tokens_of(documents), documents
        facts: dict[str, Any] = dict(zip(_FACTS, known, strict=True))
        payloads.append((task, signed.wanted(number, documents), facts))
    sending = partial(_send_texts, partitions.bounds, columns, skip_bad)
    rows_sent = cluster.work(sending, cluster.lay_out(list(enumerate(payloads))))
    return cluster.place(rows_sent, len(partitions))


def _send_texts(
    bounds: Int64s,
    columns: Sequence[ColumnNames],
    skip_bad: bool,
    payloads: Iterator[tuple[int, tuple[Task, Wanted, dict[str, Any]]]],
) -> Iterator[tuple[int, bytes | Failure]]:
    import pyarrow as pa

    outbox = Outbox()
    for number, (task, wanted, facts) in payloads:
        if not len(wanted.documents):
            continue
        reading = TaskReading(number, task)
        try:
            again = reading.again(wanted, columns, skip_bad=skip_bad)
            for _, rows, texts in again:
                known = {name: fact[rows] for name, fact in facts.items()}
                batch = pa.RecordBatch.from_pydict(known | texts.columns())
                partitions = np.searchsorted(bounds, known["place"], side="right") - 1
                yield from outbox.add(batch, partitions)
            yield from outbox.rest()
        except NeardupError as error:
            failure = reading.failure(error)
            # To all, because none has all of its texts then.
            yield from ((partition, failure) for partition in range(len(bounds) - 1))


class Received(NamedTuple):
    """What comes to a partition, in any order: keys, what is known of documents, and texts."""

    partition: int
    keys: list[pa.RecordBatch]
    known: list[pa.RecordBatch]
    texts: Shuffle
    failures: list[Failure]


def receive(rows: Iterator[tuple[int, bytes | Failure]], workspace: Workspace) -> Received:
    """Take what ``exchange_keys`` and ``exchange_texts`` have sent to a partition."""
    texts = Shuffle("texts", workspace, 1, in_memory=False, share=_WAITING_SHARE)
    received = Received(-1, [], [], texts, [])
    with texts:
        for partition, data in rows:
            received = received._replace(partition=partition)
            if isinstance(data, Failure):
                received.failures.append(data)
                continue
            batch = from_bytes(data)
            if "text" not in batch.schema.names:
                received.keys.append(batch.select(["place", "keys"]))
                continue
            received.known.append(batch.drop_columns(list(TEXT_COLUMNS)))
            here = np.zeros(len(batch), np.int64)
            texts.add(batch.select(["place", *TEXT_COLUMNS]), here, weight=batch.nbytes)
    return received


def pack_arrays(arrays: Mapping[str, AnyArray]) -> bytes:
    """Return some arrays of any lengths as a message."""
    import pyarrow as pa

    lists = {
        name: pa.array([array], pa.large_list(pa.from_numpy_dtype(array.dtype)))
        for name, array in arrays.items()
    }
    return to_bytes(pa.RecordBatch.from_pydict(lists))


def unpack_arrays(data: bytes) -> dict[str, AnyArray]:
    """Return what ``pack_arrays`` was given."""
    batch = from_bytes(data)
    return {name: batch.column(name).flatten().to_numpy() for name in batch.schema.names}
