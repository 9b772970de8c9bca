"""Equal lines and paragraphs on executors: units meet by their digests, as they do in threads.

What goes stays with the executors: it is brought to the tasks that write, and the driver keeps it
only for the table of what went.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.engine.spark.cluster import Cluster, local_workspace
from neardup.engine.spark.read import Outbox, ReadTasks, from_bytes, read_on_executors, to_bytes
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.cut_result import take_out
from neardup.jobs.cut.equal_units import (
    RANK,
    ExchangedSpans,
    UnitRules,
    count_passes,
    list_units,
    part_documents,
    partitions_of,
    units_in,
)
from neardup.jobs.cut.passages import FoundSpans, Repeated
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import keep_ranks
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.signed_batches import numbers_of
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.spans import Writing, planned_collections
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.rdd import RDD

    from neardup.reading.write_pass import Change

# Partitions by digest a slot at least, so that slots end together; bytes of a unit's row, and of so
# many times those a task has room.
_PARTITIONS_A_SLOT, _UNIT_BYTES, _SETTLING = 2, 48, 8


@dataclass(frozen=True, kw_only=True)
class _UnitBlock(ListedBlock):
    """A block's documents and a row for each of their units, which count documents from 0."""

    units: pa.RecordBatch


def find_equal_units(
    cluster: Cluster,
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[FoundSpans, Writing]:
    """Find the paragraphs or lines that go for an equal one, and say how they are cut."""
    with runner.stage("read") as note:
        collections = planned_collections(sources, against, plan)
        read = read_on_executors(collections, partial(_list_units, plan), cluster, workspace)
        other, own = read.catalogues
        note(documents=len(own))
    with runner.stage("cut") as note:
        gone = _settle_on_executors(read, plan, cluster)
        bounds = part_documents(own, plan.min_tokens)
        shuffle = ExchangedSpans.shuffle_in(workspace, bounds)
        settled = ((from_bytes(data), most, True) for most, data in cluster.bring(gone))
        spans, most = ExchangedSpans.gather(settled, shuffle, bounds)
        read.rows.unpersist()
        note(units=len(spans))
    columns, replacement = own.columns.texts, plan.options.replacement
    writing = Writing(
        partial(_bring_gone, cluster, gone),
        partial(_cutting, bounds, columns, replacement, cluster.task_bytes),
    )
    return (other, own, spans, most), writing


def _list_units(plan: CutJobPlan, block: RowBlock, reading: ReadingPlan) -> _UnitBlock:
    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    n_tokens, units = list_units(parsed.text, plan)
    known = listed(block, parsed, n_tokens, with_lengths=reading.with_lengths)
    return _UnitBlock(**vars(known), units=units)


def _settle_on_executors(read: ReadTasks, plan: CutJobPlan, cluster: Cluster) -> RDD[Any]:
    """Bring equal units together, and keep on executors what goes of each partition."""
    other, own = read.catalogues
    n_most = int(np.maximum(own.n_tokens, 0).sum() + np.maximum(other.n_tokens, 0).sum())
    n_bytes = n_most // plan.min_tokens * _UNIT_BYTES
    least = _PARTITIONS_A_SLOT * cluster.slots
    n_partitions = max(least, -(-n_bytes * _SETTLING // cluster.task_bytes))
    ranks = None if plan.keep.rule == "first" else keep_ranks(own, plan.keep)
    # There are ranks only without another collection.
    payloads = [
        (start, None if ranks is None else ranks[start:stop]) for start, stop in read.ranges
    ]
    sending = partial(_send_units, n_partitions)
    units = cluster.place(cluster.work(sending, cluster.attach(payloads, read.rows)), n_partitions)
    rules = UnitRules(len(other), plan.options.min_documents)
    return cluster.stored(cluster.work(partial(_settle, rules, cluster.task_bytes), units))


def _send_units(n_partitions: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send units, with the numbers of their documents, to where equal ones meet."""
    import pyarrow as pa

    first, ranks = next(rows)
    outbox = Outbox()
    done = 0
    for row in rows:
        units = row.found.units
        documents = numbers_of(units, "document") + done
        place = units.schema.get_field_index("document")
        batch = units.set_column(place, "document", pa.array(documents + first))
        if ranks is not None:
            batch = batch.append_column(RANK, pa.array(ranks[documents]))
        yield from outbox.add(batch, partitions_of(batch, n_partitions))
        done += len(row.found.numbers)
    yield from outbox.rest()


def _settle(
    rules: UnitRules, memory: int, rows: Iterator[tuple[int, bytes]]
) -> Iterator[tuple[list[Repeated], bytes]]:
    """Settle a partition, of which units come in any order."""
    with local_workspace(memory) as workspace:
        with units_in(workspace) as units:
            for _, data in rows:
                batch = from_bytes(data)
                units.add(batch, np.zeros(len(batch), np.int64))
        n_passes = count_passes(units, 0, workspace)
        for number in range(n_passes):
            gone, most = rules.settle(units.read(0), number, n_passes)
            yield most, to_bytes(gone)


def _bring_gone(cluster: Cluster, gone: RDD[Any], starts: Int64s) -> RDD[Any]:
    """Bring what goes to the tasks that write its documents; ``starts`` are their first ones."""
    return cluster.place(cluster.work(partial(_send_gone, starts), gone), len(starts))


def _send_gone(
    starts: Int64s, rows: Iterator[tuple[list[Repeated], bytes]]
) -> Iterator[tuple[int, bytes]]:
    outbox = Outbox()
    for _, data in rows:
        batch = from_bytes(data)
        documents = numbers_of(batch, "document")
        yield from outbox.add(batch, np.searchsorted(starts, documents, side="right") - 1)
    yield from outbox.rest()


@contextmanager
def _cutting(
    bounds: Int64s,
    columns: tuple[str, ...],
    replacement: str,
    memory: int,
    rows: Iterator[tuple[int, bytes]],
) -> Iterator[Change]:
    """Give what cuts blocks of the documents of a task, of which spans come in any order."""
    with local_workspace(memory) as workspace:
        shuffle = ExchangedSpans.shuffle_in(workspace, bounds)
        batches = (from_bytes(data) for _, data in rows)
        spans, _ = ExchangedSpans.gather(((batch, [], True) for batch in batches), shuffle, bounds)
        yield partial(take_out, spans, columns, replacement)
