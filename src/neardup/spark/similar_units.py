"""Similar lines and paragraphs on executors, which go as documents go: by the stages of ``dedup``.

Executors find the units of the documents that they read, and sign them at once. The driver keeps
where units are. Of those that share a bucket executors read the documents again, and compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engine.spark.cluster import Cluster
from neardup.engine.spark.engine import SparkEngine
from neardup.engine.spark.read import (
    ReadBlock,
    ReadParts,
    ReadTasks,
    from_bytes,
    read_on_executors,
    to_bytes,
)
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.tableblocks import TableBlock
from neardup.jobs.cut.passages import FoundSpans, change_of
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import keep_ranks, read_collections
from neardup.jobs.cut.units import (
    TEXT,
    ListedUnits,
    UnitCollector,
    find_units,
    plan_of_units,
    spans_of,
)
from neardup.reading.sign import ListedBlock, ReadingPlan, SignedBlock, listed, sign_block
from neardup.reading.signed_batches import numbers_of
from neardup.runs.work import Workspace
from neardup.stages.contents import find_contents
from neardup.stages.decide import assign, choose_by_buckets
from neardup.tables import Texts, offsets_of


@dataclass(frozen=True, kw_only=True)
class _UnitBlock(ListedBlock):
    """A block's documents, their units, which count them from 0, and these signed as documents."""

    units: ListedUnits
    signed: SignedBlock


def find_similar_units(
    cluster: Cluster,
    engine: SparkEngine,
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
) -> FoundSpans:
    """Find the paragraphs or lines that go for a similar one."""
    workspace, runner = engine.workspace, engine.runner
    with runner.stage("read") as note:
        collections = read_collections(sources, against, plan)
        read = read_on_executors(collections, partial(_sign_units, plan), cluster, workspace)
        other, own = read.catalogues
        units, signed = _units_of(read, plan, cluster, workspace)
        note(documents=len(own), units=len(units))
    with runner.stage("cut") as note:
        how = plan_of_units(plan)
        found = engine.read_of(signed, how.reading)
        contents = find_contents(engine, found, how.keep)
        decision = choose_by_buckets(engine, found, contents, how)
        spans = spans_of(assign(contents, decision), units, plan.options.min_documents)
        read.rows.unpersist()
        note(units=len(spans))
    return FoundSpans(other, own, spans, None, change_of(own, spans, plan))


def _sign_units(plan: CutJobPlan, block: RowBlock, reading: ReadingPlan) -> _UnitBlock:
    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    texts = Texts.from_arrow(parsed.text, block.language)
    n_tokens, units, _, _ = find_units(texts, plan)
    texts = texts.parts(units.documents, units.first_bytes, units.last_bytes)
    table = TableBlock(pa.table({TEXT: texts.to_arrow()}), 1)
    table.language = block.language
    signed = sign_block(table, replace(plan_of_units(plan).reading, columns=ColumnNames(TEXT)))
    known = listed(block, parsed, n_tokens, with_lengths=reading.with_lengths)
    return _UnitBlock(**vars(known), units=units, signed=signed)


def _units_of(
    read: ReadTasks, plan: CutJobPlan, cluster: Cluster, workspace: Workspace
) -> tuple[ListedUnits, ReadParts]:
    """List the units of documents that were read, and return them as documents themselves."""
    other, own = read.catalogues
    counts: list[int] = [0] * len(read.tasks)
    n_tokens = [np.empty(0, np.int64)]
    # What is compared with another collection is equal.
    assert not len(other)
    telling = cluster.work(_tell_units, cluster.attach(read.starts[:-1].tolist(), read.rows))
    with UnitCollector(workspace) as collector:
        for task, data in cluster.bring(telling):
            batch = from_bytes(data)
            columns = [numbers_of(batch, field.name) for field in fields(ListedUnits)]
            collector.add(ListedUnits(*columns), 0)
            counts[task] += len(batch)
            n_tokens.append(numbers_of(batch, "n_tokens"))
    units = collector.units
    catalogue = replace(
        own,
        sources=[],
        source_starts=np.zeros(1, np.int64),
        numbers=np.arange(len(units), dtype=np.int64),
        n_tokens=np.concatenate(n_tokens),
        lengths=None,
        ids=None,
        order=pa.array(keep_ranks(own, plan.keep)[units.documents]),
    )
    signed = ReadParts(
        tasks=read.tasks,
        rows=cluster.work(_only_units, read.rows, is_laid_out=True),
        starts=offsets_of(counts),
        catalogues=(other, catalogue),
        whole=read,
        documents=units.documents,
        first_bytes=units.first_bytes,
        last_bytes=units.last_bytes,
    )
    return units, signed


def _tell_units(rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Give the driver the units of the documents of a task, of which the first is known."""
    done = next(rows)
    for row in rows:
        found: _UnitBlock = row.found
        units = vars(found.units) | {"documents": found.units.documents + done}
        batch = pa.RecordBatch.from_pydict(units | {"n_tokens": found.signed.n_tokens})
        yield row.task, to_bytes(batch)
        done += len(found.numbers)


def _only_units(rows: Iterator[ReadBlock]) -> Iterator[ReadBlock]:
    """Take the units of a block for documents."""
    for row in rows:
        yield row._replace(found=row.found.signed, place=None)
