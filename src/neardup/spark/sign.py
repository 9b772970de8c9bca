"""The stage sign: executors read and sign; the driver gets what it keeps of each document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError, NeardupError
from neardup.files.ids import choose_id_column
from neardup.files.passes import name_remedy
from neardup.reading.catalogue import Catalogue, make_catalogue
from neardup.reading.sign import SignedBlock, sign_block
from neardup.reading.signed_batches import to_batch
from neardup.runs.exchange import SpilledBatches
from neardup.spark.cluster import Cluster, Failure, Task, cut_tasks
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.rdd import RDD

    from neardup.files.rows import Source
    from neardup.reading.sign import ReadingPlan
    from neardup.runs.work import Workspace

# Rows in blocks of Arrow: on their way to partitions, and to the driver.

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


# Share of the driver's memory for what it keeps of documents, ids among it, and text of the
# documents of a file of them.
_SHARE = 0.3
_FILE_BYTES = 4_000_000_000


@dataclass(frozen=True)
class SignedTasks:
    """Signed documents on executors, a partition a task, and what the driver keeps of them.

    Documents are numbered one collection after the other; those of task k from ``starts[k]`` to
    ``starts[k + 1]``.
    """

    tasks: list[Task]
    rows: RDD[Any]
    starts: Int64s
    catalogues: tuple[Catalogue, ...]


def sign_on_executors(
    collections: Sequence[tuple[Sequence[Source], ReadingPlan]],
    cluster: Cluster,
    workspace: Workspace,
) -> SignedTasks:
    """Read all documents of some collections once; raises as ``sign_collections``."""
    chosen = [
        (sources, replace(plan, columns=choose_id_column(plan.columns, sources)))
        for sources, plan in collections
    ]
    tasks = cut_tasks([sources for sources, _ in chosen], cluster.slots)
    signing = partial(_sign, [plan for _, plan in chosen])
    laid_out = cluster.lay_out(list(enumerate(tasks)))
    rows = cluster.stored(cluster.work(signing, laid_out, is_laid_out=True))
    counts = np.zeros(len(tasks), np.int64)
    lists = [
        SpilledBatches(f"sign-{k}", workspace, share=_SHARE, weight_of_file=_FILE_BYTES)
        for k in range(len(chosen))
    ]
    known = cluster.bring(cluster.work(_for_driver, rows))
    waiting = next(known, None)
    for collection, batches in enumerate(lists):
        with batches:
            while waiting is not None and waiting[0][1] == collection:
                (task, _, facts), data = waiting
                batch = from_bytes(data)
                counts[task] += len(batch)
                batches.append(batch, facts, facts["text_bytes"])
                waiting = next(known, None)
    catalogues = tuple(
        make_catalogue(
            sources,
            plan.columns,
            batches,
            skips_bad=plan.skip_bad,
            with_lengths=plan.with_lengths,
            by=plan.by,
        )
        for (sources, plan), batches in zip(chosen, lists, strict=True)
    )
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return SignedTasks(tasks, rows, starts, catalogues)


def _sign(
    plans: Sequence[ReadingPlan], tasks: Iterator[tuple[int, Task]]
) -> Iterator[tuple[int, int, int, SignedBlock] | Failure]:
    """Sign the blocks of a task; each comes with its task, collection and source."""
    for number, task in tasks:
        piece = None
        try:
            for piece in task:
                for block in piece.blocks():
                    try:
                        demand = piece.source.demand
                        demanded = block if demand is None else demand.block(piece.source, block)
                        signed = sign_block(demanded, plans[piece.collection])
                    except InvalidInputError as error:
                        raise name_remedy(error) from None
                    yield number, piece.collection, piece.number, signed
        except NeardupError as error:
            yield Failure.of(number, piece, error)


def _for_driver(
    rows: Iterator[tuple[int, int, int, SignedBlock] | Failure],
) -> Iterator[tuple[tuple[int, int, dict[str, Any]], bytes] | Failure]:
    """Give what the driver keeps of the documents of each block, and where they are from."""
    for row in rows:
        if isinstance(row, Failure):
            yield row
            continue
        task, collection, source, signed = row
        facts = {"source": source, "text_bytes": signed.text_bytes, "skipped": signed.skipped}
        yield (task, collection, facts), to_bytes(to_batch(signed, with_sketches=False))
