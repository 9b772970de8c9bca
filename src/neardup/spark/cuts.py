"""``neardup.spark.cut``: what is equal, as ``jobs.cut`` cuts it in threads; lines, paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.documents.other import resolve_against
from neardup.errors import InvalidParameterError
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.cut import cut_sources
from neardup.jobs.cut.cut_result import CutResult, take_out
from neardup.jobs.cut.equal_passages import cut_equal_passages
from neardup.jobs.cut.equal_units import (
    RANK,
    ExchangedSpans,
    FoundEqual,
    UnitRules,
    count_passes,
    list_units,
    part_documents,
    partitions_of,
    units_in,
)
from neardup.jobs.cut.passages import Repeated
from neardup.jobs.cut.plan import CutJobPlan, plan_cut
from neardup.jobs.cut.spans import CutSpans, keep_ranks
from neardup.options.choices import Data, Side
from neardup.options.groups import AgainstDataOptions, ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.options.passages import CutOptions
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.signed_batches import numbers_of
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.cluster import Cluster, local_workspace, spark_errors
from neardup.spark.equal_passages import ReadOnExecutors, cutting_spans, send_spans
from neardup.spark.read import Outbox, ReadTasks, from_bytes, read_on_executors, to_bytes
from neardup.spark.session import ON_DRIVER, SESSION, SHARED_FILES, cluster_of
from neardup.spark.write import write_on_executors
from neardup.stages.hints import with_warning
from neardup.stages.options import other_columns_of
from neardup.stages.workspaces import open_workspace
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.rdd import RDD

    from neardup.reading.write_pass import Change

# Partitions by digest a slot at least, so that slots end together; bytes of a unit's row, and of so
# many times those a task has room.
_PARTITIONS_A_SLOT, _UNIT_BYTES, _SETTLING = 2, 48, 8


def plan_on_spark(
    options: CutOptions, *, has_other: bool, is_named: bool = False, side: Side | None = None
) -> CutJobPlan:
    """Check what goes with what, and raise for cuts that need all texts in one place."""
    plan = plan_cut(options, has_other=has_other, is_named=is_named, side=side)
    for name, is_given in (("named_in", is_named), ("exact", not options.exact)):
        if is_given:
            message = "engine spark cuts what is equal; choose exact, or engine threads"
            raise InvalidParameterError(message, "engine", name)
    return plan


@dataclass(frozen=True, kw_only=True)
class _UnitBlock(ListedBlock):
    """A block's documents and a row for each of their units, which count documents from 0."""

    units: pa.RecordBatch


def cut_on_spark(
    cluster: Cluster,
    sources: Sequence[Source],
    against: Sequence[Source] | None,
    plan: CutJobPlan,
    runner: Runner,
    workspace: Workspace,
) -> CutResult:
    """Run all stages but the writing, which the result does.

    ``runner`` and ``workspace`` are the driver's: it keeps some numbers of each document, and what
    goes.
    """
    plain = write = partial(write_on_executors, cluster=cluster)

    def find(
        sources: Sequence[Source],
        against: Sequence[Source],
        plan: CutJobPlan,
        workspace: Workspace,
        runner: Runner,
    ) -> FoundEqual:
        nonlocal write
        replacement = plan.options.replacement
        if plan.unit == "passages":
            read_passages = partial(ReadOnExecutors, cluster)
            found = cut_equal_passages(sources, against, plan, workspace, runner, read_passages)
            _, own, spans, _ = found
            assert isinstance(spans, CutSpans)
            columns = own.columns.texts
            write = partial(
                plain,
                send=partial(send_spans, cluster, spans),
                open_change=partial(cutting_spans, columns, replacement),
            )
            return found
        with runner.stage("read") as note:
            read = _list_on_executors(sources, against, plan, cluster, workspace)
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
        columns = own.columns.texts
        write = partial(
            plain,
            send=partial(_bring_gone, cluster, gone),
            open_change=partial(_cutting, bounds, columns, replacement, cluster.task_bytes),
        )
        return other, own, spans, most

    with spark_errors():
        result = cut_sources(sources, against, plan, runner, workspace, find_equal=find)
    # Stages take a collection against one without documents for one by itself, of which all stay.
    result.written_by(write if result.summary["spans"] else plain)
    result.summary |= {"engine": "spark", "workers": cluster.slots}
    return result


def _list_on_executors(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    cluster: Cluster,
    workspace: Workspace,
) -> ReadTasks:
    """Read all documents once, and list their units."""
    other = plan.reading.for_other(other_columns_of(plan.options))
    collections = [(against, other), (sources, plan.reading)]
    return read_on_executors(collections, partial(_list_units, plan), cluster, workspace)


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


class _Arguments(CutOptions, AgainstDataOptions, WorkspaceOptions, ProgressOptions, kw_only=False):
    session: Any = argument(SESSION)
    data: Data = argument(SHARED_FILES)
    differs = but(
        against={
            "python": "Other documents, in files as those of ``data``. They stay, and nothing goes "
            "but what one of them has."
        },
        exact={"python": "Has to be True: only what is equal token by token goes."},
        text_column={
            "python": "Name of the column of the text, or several: their texts are joined with "
            "newlines in that order. Places count in the joined text, and what goes is cut out of "
            "each."
        },
        **ON_DRIVER,
    )


@takes(_Arguments)
def cut(given: _Arguments) -> CutResult:
    """Take equal passages, paragraphs or lines out of texts, as ``neardup.cut``.

    Executors of a session do it. The result is the same, byte by byte. It needs the session until
    it has been written, which executors do as well, to a folder that all of them reach under the
    same path.

    Returns
    -------
    The result: ``kept``, all rows with shorter texts, ``removed``, a row for each span that went,
    ``summary`` and ``write()``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, for one that says what is similar, or a session without a
        ``SparkContext``.
    InvalidInputError
        For a bad row or a repeated id, and for data in memory or an index.
    ReadError
        For a file that cannot be read.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    The driver keeps some 60 bytes a document, and ids and what goes, some 50 bytes a span, in
    files once they do not fit. Of passages it compares the tokens itself, of documents that share a
    sample, and keeps 130 bytes for each that goes; see the page on Spark.
    """
    options = given.part(CutOptions)
    plan = plan_on_spark(options, has_other=given.against is not None)
    cluster = cluster_of(given.session)
    with Runner(None, given.progress) as runner:
        sources = resolve_inputs(given.data, options)
        others = None
        if given.against is not None:
            resolve = partial(resolve_inputs, options=options)
            others = resolve_against(given.against, resolve, options, options.tokenizer)
        workspace = open_workspace(given.memory, given.work)
        result = cut_on_spark(cluster, sources, others, plan, runner, workspace)
    return with_warning(result)
