"""Equal passages on executors: they sample, let samples meet, and read again what is compared.

The driver compares the tokens of the documents that share a sample, as it does after threads have
read them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.engine.spark.cluster import Cluster
from neardup.engine.spark.read import Outbox, from_bytes, read_on_executors
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.equal_passages import (
    DOCUMENT,
    cut_equal_passages,
    sample_texts,
    samples_in,
)
from neardup.jobs.cut.passages import FoundSpans
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans
from neardup.passages.repeats import Samples
from neardup.reading.first_pass import part_of
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.signed_batches import numbers_of
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.spans import (
    Writing,
    cutting,
    planned_collections,
    read_again_on_executors,
)

T = TypeVar("T")

# Partitions by hash a slot at least; bytes of a sample, and of so many times those a task has room.
_PARTITIONS_A_SLOT, _SAMPLE_BYTES, _MEETING = 2, 16, 10


@dataclass(frozen=True, kw_only=True)
class _SampleBlock(ListedBlock):
    """A block's documents and a row for each of their samples, which count documents from 0."""

    samples: pa.RecordBatch


def find_equal_passages(
    cluster: Cluster,
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[FoundSpans, Writing]:
    """Find the passages that go for an equal one, and say how they are cut."""
    read = partial(_ReadOnExecutors, cluster)
    found = cut_equal_passages(sources, against, plan, workspace, runner, read)
    _, own, spans, _ = found
    assert isinstance(spans, CutSpans)
    return found, cutting(cluster, spans, own.columns.texts, plan)


class _ReadOnExecutors:
    """Reads documents on the executors of a session: ``jobs.cut.equal_passages.Reading``."""

    def __init__(
        self,
        cluster: Cluster,
        sources: Sequence[Source],
        against: Sequence[Source],
        plan: CutJobPlan,
        workspace: Workspace,
        _: Runner,
    ) -> None:
        collections = planned_collections(sources, against, plan)
        self._cluster = cluster
        self._read = read_on_executors(
            collections, partial(_list_samples, plan), cluster, workspace
        )
        self.read_again = partial(read_again_on_executors, self._read, plan, cluster)
        self.catalogues = self._read.catalogues[0], self._read.catalogues[1]
        n_tokens = sum(int(np.maximum(each.n_tokens, 0).sum()) for each in self.catalogues)
        n_bytes = 4 * n_tokens // plan.min_tokens * _SAMPLE_BYTES
        least = _PARTITIONS_A_SLOT * cluster.slots
        n_partitions = max(least, -(-n_bytes * _MEETING // cluster.task_bytes))
        payloads = [start for start, _ in self._read.ranges]
        sent = cluster.work(
            partial(_send_samples, n_partitions), cluster.attach(payloads, self._read.rows)
        )
        self._samples = cluster.stored(cluster.place(sent, n_partitions))
        self.n_samples = sum(
            n for n, _ in cluster.bring(cluster.work(_count_samples, self._samples))
        )
        self._read.rows.unpersist()

    def each_part(self, look: Callable[[Samples], T]) -> Iterator[T]:
        """Look at the samples of each partition."""
        looked = self._cluster.work(partial(_look_at, look), self._samples)
        for _, data in self._cluster.bring_once(looked):
            yield pickle.loads(data)


def _list_samples(plan: CutJobPlan, block: RowBlock, reading: ReadingPlan) -> _SampleBlock:
    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    n_tokens, ((samples, _), _) = sample_texts(parsed.text, plan)
    known = listed(block, parsed, n_tokens, with_lengths=reading.with_lengths)
    return _SampleBlock(**vars(known), samples=samples)


def _send_samples(n_partitions: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send samples, with the numbers of their documents, to where equal ones meet."""
    done = next(rows)
    outbox = Outbox()
    for row in rows:
        samples = row.found.samples
        place = samples.schema.get_field_index(DOCUMENT)
        documents = numbers_of(samples, DOCUMENT) + done
        samples = samples.set_column(place, DOCUMENT, pa.array(documents))
        partitions = part_of(samples_in([samples]).hashes, n_partitions)
        yield from outbox.add(samples, partitions.astype(np.int64))
        done += len(row.found.numbers)
    yield from outbox.rest()


def _count_samples(rows: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    yield sum(len(from_bytes(data)) for _, data in rows), b""


def _look_at(
    look: Callable[[Samples], Any], rows: Iterator[tuple[int, bytes]]
) -> Iterator[tuple[None, bytes]]:
    samples = samples_in(from_bytes(data) for _, data in rows)
    yield None, pickle.dumps(look(samples))
