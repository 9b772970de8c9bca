"""The stage sign: executors read and sign; the driver gets what it keeps of each document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.engines.spark.cluster import Cluster
from neardup.engines.spark.failures import Failure
from neardup.engines.spark.rows import from_bytes, to_bytes
from neardup.engines.spark.tasks import Task, cut_tasks
from neardup.errors import InvalidInputError, NeardupError
from neardup.files.ids import choose_id_column
from neardup.files.passes import name_remedy
from neardup.reading.catalogue import Catalogue
from neardup.reading.catalogue_parts import make_catalogue
from neardup.reading.sign import SignedBlock, sign_block
from neardup.reading.signed_batches import to_batch
from neardup.storage.spilled import SpilledBatches
from neardup.tables import Int64s

if TYPE_CHECKING:
    from pyspark.rdd import RDD

    from neardup.files.rows import Source
    from neardup.reading.plan import ReadingPlan
    from neardup.storage.workspace import Workspace

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
