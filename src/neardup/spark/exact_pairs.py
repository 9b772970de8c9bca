"""``neardup.spark.find_pairs``: exact pairs, found in blocks as ``jobs.pairs`` finds them.

Executors read documents and make sets of them, or strings; the driver keeps their digests and sizes
and cuts records into blocks. A task has the records of two blocks and joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.engine.spark.cluster import Cluster, Failure, local_workspace, spark_errors
from neardup.engine.spark.engine import SparkEngine
from neardup.engine.spark.read import (
    Outbox,
    ReadTasks,
    from_bytes,
    read_on_executors,
    to_bytes,
)
from neardup.engine.spark.session import (
    ON_DRIVER,
    SESSION,
    SHARED_FILES,
    check_reads_text,
    cluster_of,
)
from neardup.engine.workspaces import open_workspace
from neardup.errors import NeardupError
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import RowBlock
from neardup.jobs.pairs.blocked import (
    BlockedJoin,
    RecordBlocks,
    RecordSets,
    Unit,
    blocks_for,
    sides_in,
)
from neardup.jobs.pairs.pair_result import PairResult
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import make_records, maker_of
from neardup.jobs.pairs.run import Elsewhere, Found, PairJob, count_outside, find_matches
from neardup.matching.join import Compared, FilterCounts, PartedJoin
from neardup.options.choices import Data, DataOrIndex
from neardup.options.documents import PairOptions
from neardup.options.groups import ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.options.together import GroupArguments
from neardup.reading.first_pass import Signed, sign_with_sets
from neardup.reading.set_exchange import ONE_IN, SetExchange
from neardup.reading.sign import Collections, ReadingPlan, SignedBlock
from neardup.reading.signed_batches import SignedBatches, numbers_of, to_batch
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.stages.hints import with_warning
from neardup.tables import Bytes, Int64s, ScoredPairs, TokenLists, Uint64s

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.rdd import RDD


# Makes of documents' tokens what they are compared by.
_Make = Callable[[TokenLists], Compared]


def find_on_spark(
    cluster: Cluster, job: PairJob, runner: Runner, workspace: Workspace
) -> PairResult:
    """Find the pairs of a job.

    ``runner`` and ``workspace`` are the driver's: it keeps some numbers of each document, and the
    pairs.
    """
    find = _find
    if job.plan is not None and job.plan.banding is not None:
        # Few runs need it.
        from neardup.spark.bucketed_pairs import find_in_buckets as find
    with spark_errors():
        engine = SparkEngine(lambda: cluster, runner, workspace)
        result = job.run(engine, Elsewhere(partial(find, cluster)))
    result.summary |= {"engine": engine.name, "workers": engine.workers}
    return result


def _find(
    cluster: Cluster, collections: Collections, plan: PairPlan, workspace: Workspace, runner: Runner
) -> Found:
    make = maker_of(plan)
    with runner.stage("read") as note:
        looking = partial(_look, make)
        read = read_on_executors(collections, looking, cluster, workspace, tell=_tell)
        batches = SignedBatches(0, read.batches)
        keys = batches.blocking_keys()
        n_outside = count_outside(read.catalogues, keys, plan.options.blocking_columns)
        records = make_records(
            Signed(read.catalogues, batches),
            _SetsOnExecutors(make, read),
            plan,
            workspace,
            partial(_spread, make, cluster, read, workspace),
        )
        note(documents=sum(map(len, read.catalogues)), records=len(records))
    with runner.stage("join") as note:
        matches = find_matches(records, plan.options, workspace, runner)
        read.rows.unpersist()
        note(pairs=matches.n_pairs)
    return read.catalogues, matches, n_outside


# Documents on executors, as they are compared.


@dataclass(frozen=True, kw_only=True)
class _SetBlock(SignedBlock):
    """A block's documents, and rows of what they are compared by, which count them from 0.

    ``sizes`` and ``extents`` are those of the documents, ``sample`` one in ``ONE_IN`` of all
    elements.
    """

    sets: pa.RecordBatch
    sizes: Int64s
    extents: Int64s
    sample: Uint64s


def _look(make: _Make, block: RowBlock, reading: ReadingPlan) -> _SetBlock:
    exchange = SetExchange(make, IN_MEMORY)
    signed, [((sets, _), n_documents)] = sign_with_sets(block, reading, exchange)
    sizes, extents, sample = exchange.measure_rows([sets], n_documents)
    return _SetBlock(**vars(signed), sets=sets, sizes=sizes, extents=extents, sample=sample)


def _tell(found: _SetBlock) -> tuple[pa.RecordBatch, dict[str, Any]]:
    """Tell what documents there are, their digests and sizes."""
    import pyarrow as pa

    batch = to_batch(found)
    for name in _MEASURED:
        batch = batch.append_column(name, pa.array(getattr(found, name)))
    return batch, {"sample": found.sample.tolist()}


_MEASURED = ("sizes", "extents")


class _SetsOnExecutors(SetExchange):
    """What documents are compared by, of which the driver knows the sizes."""

    def __init__(self, make: _Make, read: ReadTasks) -> None:
        super().__init__(make, IN_MEMORY)
        self._read = read

    def measure(self, n_documents: int) -> tuple[Int64s, Int64s, int]:
        """Return the size and the extent of each document, and about how many elements differ."""
        sizes, extents = np.empty(n_documents, np.int64), np.empty(n_documents, np.int64)
        done, samples = 0, [np.empty(0, np.uint64)]
        for batch, known in chain.from_iterable(own.known() for own in self._read.batches):
            rows = slice(done, done + len(batch))
            sizes[rows], extents[rows] = (numbers_of(batch, name) for name in _MEASURED)
            samples.append(np.array(known["sample"], np.uint64))
            done += len(batch)
        return sizes, extents, ONE_IN * len(np.unique(np.concatenate(samples)))


def _renumbered(sets: pa.RecordBatch, documents: Int64s) -> pa.RecordBatch:
    import pyarrow as pa

    place = sets.schema.get_field_index("document")
    return sets.set_column(place, "document", pa.array(documents))


# Records in blocks, of which tasks have two.


class _SpreadUnit(NamedTuple):
    """A unit of the join, its records, ascending, and the part of each."""

    unit: Unit
    records: Int64s
    parts: Bytes


@dataclass(frozen=True)
class _SpreadJoin(BlockedJoin):
    """A join of which each unit is a task's; ``sent`` has its sets at the partition of a unit.

    Steps of higher thresholds join the same units, because any two similar records are in one.
    """

    make: _Make
    cluster: Cluster
    chosen: list[_SpreadUnit]
    sent: RDD[Any]

    @cached_property
    def units(self) -> list[Unit]:
        """What is joined at the same time."""
        return [each.unit for each in self.chosen]

    def run_units(
        self, first: int, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> Iterator[tuple[ScoredPairs, FilterCounts]]:
        """Join all units on executors, and yield what is found by those from this one on."""
        sets = self.blocks.sets
        tasks = [
            _Task(
                sets.sizes[records],
                sets.extents[records],
                None if sets.keys is None else sets.keys[records],
                sides_in(unit, records, parts, sides),
            )
            for unit, records, parts in self.chosen
        ]
        alone = self.whole.of(self.make(_NO_TOKENS), None)
        joining = partial(_join, self.make, alone, limit, self.cluster.task_bytes)
        cluster = self.cluster
        attached = cluster.attach(list(enumerate(tasks)), self.sent)
        keep = "join", cluster.task_bytes
        found = cluster.bring_once(cluster.work(joining, attached, keep=keep))
        for number, ((_, records, _), (counts, data)) in enumerate(
            zip(self.chosen, found, strict=True), 1
        ):
            runner.report("join", number, len(tasks))
            if number > first:
                batch = from_bytes(data)
                left, right, scores = (column.to_numpy() for column in batch.columns)
                yield ScoredPairs(records[left], records[right], scores), self.counted(*counts)


_NO_TOKENS = TokenLists(np.empty(0, np.uint64), np.zeros(1, np.int64))


def _spread(
    make: _Make,
    cluster: Cluster,
    read: ReadTasks,
    workspace: Workspace,
    sets: RecordSets,
    whole: PartedJoin,
    n_distinct: int,
) -> _SpreadJoin:
    """Cut records into blocks of which two fit into a task, enough of them that all slots work."""
    # Bounds of blocks are the driver's, and the memory in which they are joined a task's.
    memory = replace(workspace, memory=cluster.task_bytes)
    least = blocks_for(cluster.slots)
    blocks = RecordBlocks.cut(sets, whole.costs, n_distinct, memory, least=least)
    units = blocks.units(whole)
    chosen = [_SpreadUnit(unit, *blocks.records_of(unit, whole)) for unit in units]
    none = np.empty(0, np.int64)
    documents = np.concatenate([none, *(sets.documents[each.records] for each in chosen)])
    numbers = np.repeat(np.arange(len(chosen)), [len(each.records) for each in chosen])
    places = np.concatenate([none, *(np.arange(len(each.records)) for each in chosen)])
    order = np.argsort(documents, kind="stable")
    documents = documents[order]
    bounds = np.searchsorted(documents, read.starts).tolist()
    payloads = []
    for (start, _), first, stop in zip(read.ranges, bounds, bounds[1:], strict=False):
        rows = order[first:stop]
        payloads.append((documents[first:stop] - start, numbers[rows], places[rows]))
    attached = cluster.attach(payloads, read.rows)
    sent = cluster.place(cluster.work(_send_sets, attached), len(chosen))
    return _SpreadJoin(whole, blocks, make, cluster, chosen, sent)


def _send_sets(rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send sets to all units that have their records, with their places there."""
    import pyarrow as pa

    documents, units, places = next(rows)
    outbox = Outbox()
    done = 0
    for row in rows:
        n_documents = len(row.found.numbers)
        start, stop = np.searchsorted(documents, [done, done + n_documents])
        own = numbers_of(row.found.sets, "document")
        row_of = np.full(n_documents, -1, np.int64)
        row_of[own] = np.arange(len(own))
        sets = row.found.sets.take(pa.array(row_of[documents[start:stop] - done]))
        yield from outbox.add(_renumbered(sets, places[start:stop]), units[start:stop])
        done += n_documents
    yield from outbox.rest()


class _Task(NamedTuple):
    """What the driver knows of the records of a unit, arrays with an item for each."""

    sizes: Int64s
    extents: Int64s
    keys: Uint64s | None
    sides: Bytes | None


def _join(
    make: _Make, join: PartedJoin, limit: int | None, memory: int, rows: Iterator[Any]
) -> Iterator[tuple[list[int], bytes] | Failure]:
    """Join a unit, of which records come in any order behind what is known of them."""
    import pyarrow as pa

    number: int
    task: _Task
    for number, task in islice(rows, 1):
        with local_workspace(memory) as workspace, Runner(1) as runner:
            exchange = SetExchange(make, workspace)
            shuffle = exchange.rows.shuffle
            with shuffle:
                for _, data in rows:
                    batch = from_bytes(data)
                    shuffle.add(batch, np.zeros(len(batch), np.int64))
            everything = np.arange(len(task.sizes))
            records = RecordSets(exchange, everything, task.sizes, task.extents, task.keys)
            sets, keys = records.read(everything, runner, are_all=True)
            try:
                pairs, counts = join.of(sets, keys).run(task.sides, limit, runner)
            except NeardupError as error:
                yield Failure.of(number, None, error)
                return
        columns = {"left": pairs.left, "right": pairs.right, "score": pairs.scores}
        yield list(vars(counts).values()), to_bytes(pa.RecordBatch.from_pydict(columns))


class _Arguments(PairOptions, WorkspaceOptions, ProgressOptions, GroupArguments, kw_only=False):
    session: Any = argument(SESSION)
    left: Data = argument(SHARED_FILES)
    right: DataOrIndex | None = argument(
        "A second collection, in files as well: pairs are of one document of each. None: pairs "
        "within ``left``. In an index of documents, in a folder that all executors reach, "
        "documents are looked up, as ``neardup.find_pairs`` does.",
        default=None,
    )
    differs = but(**ON_DRIVER)


@takes(_Arguments)
def find_pairs(given: _Arguments) -> PairResult:
    """Find all pairs of similar documents, as ``neardup.find_pairs``, on executors of a session.

    Rows are the same.

    Returns
    -------
    ``pairs`` (Arrow table: id_a, id_b, similarity, and overlap or distance, but for
    ``weighted-jaccard``), ``counts`` (what the filters did) and ``summary``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or a session without a ``SparkContext``.
    InvalidInputError
        For a bad row or a repeated id, and for data in memory.
    ReadError
        For a file that cannot be read.
    ResultLimitError
        At more than ``limit`` pairs.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    The driver keeps about 80 bytes a document, and the pairs, in files where they do not fit; sets
    stay on executors. By the exact method records go to blocks of which two fit into a task, and
    each two blocks meet that may have similar records. Of an index each task looks up what it
    reads. Values of columns, for ``with_columns`` and ``also``, are read by the driver.
    """
    job = PairJob(
        given.part(PairOptions),
        resolve_inputs,
        given.left,
        given.right,
        given.idf_from,
        other="right",
    )
    check_reads_text(job.options)
    cluster = cluster_of(given.session)
    with Runner(None, given.progress, "pairs") as runner:
        # Inputs are found before a folder is made.
        _ = job.left, job.right, job.counted
        workspace = open_workspace(given.memory, given.work)
        result = find_on_spark(cluster, job, runner, workspace)
    return with_warning(result)
