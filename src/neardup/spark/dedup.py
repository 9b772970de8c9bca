"""``neardup.spark.deduplicate``: the stages in order, as ``jobs.dedup`` has them in threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from neardup.documents.additions import Adding
from neardup.documents.index import OpenDocuments
from neardup.engine.spark.cluster import Cluster, spark_errors
from neardup.engine.spark.engine import SparkEngine
from neardup.engine.spark.read import read_on_executors
from neardup.engine.spark.session import (
    ON_DRIVER,
    SESSION,
    SHARED_FILES,
    check_reads_text,
    cluster_of,
)
from neardup.engine.workspaces import open_workspace
from neardup.errors import InvalidParameterError
from neardup.files.inputs import check_effect
from neardup.files.rows import ColumnNames, Source
from neardup.jobs.dedup.against import Other
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.dedup.run import DedupJob, conclude
from neardup.options.choices import Data
from neardup.options.documents import DedupOptions, SparkOptions
from neardup.options.groups import AgainstDataOptions, ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.options.together import GroupArguments
from neardup.reading.sign import ReadingPlan, sign_block
from neardup.reading.signed_batches import CountShingles, SignedBatches, with_frequencies
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.spark.against import LookUpOnExecutors, read_on_executors_again, tell_looked_up
from neardup.spark.decide import choose_by_buckets, find_contents
from neardup.stages.contents import Earlier
from neardup.stages.frequencies import count_frequencies
from neardup.stages.hints import with_warning
from neardup.stages.options import other_columns_of, to_be_counted
from neardup.stages.plan import DedupPlan, plan_deduplication
from neardup.stages.selection import write_rows_by
from neardup.text.weighting import DocumentFrequencies


def plan_on_spark(options: DedupOptions, *, has_other: bool, has_index: bool) -> DedupPlan | None:
    """Check what goes with what, and raise for options that need all documents in one place.

    With an index that is what decides the plan.
    """
    if has_index and has_other:
        message = "engine spark compares against an index alone; run once for each"
        raise InvalidParameterError(message, "engine")
    plan = None if has_index else plan_deduplication(options, has_other=has_other)
    chosen = options if plan is None else plan.options
    for name, is_given in (
        ("method", chosen.method != "minhash"),
        ("audit", chosen.audit is not None),
        ("clusters", has_index and chosen.clusters == "components"),
    ):
        if is_given:
            message = (
                f"{name} needs all documents in one memory, and cannot be had with engine spark; "
                "leave it out, or choose engine threads"
            )
            raise InvalidParameterError(message, name, "engine")
    check_reads_text(chosen)
    return plan


def count_with(current_cluster: Callable[[], Cluster]) -> CountShingles:
    """Return what counts shingles on executors, which are looked for when they are needed."""

    def count(
        collections: Sequence[tuple[Sequence[Source], ColumnNames]],
        plan: ReadingPlan,
        runner: Runner,
    ) -> DocumentFrequencies:
        with spark_errors():
            engine = SparkEngine(current_cluster, runner, IN_MEMORY)
            return count_frequencies(engine, collections, plan)

    return count


def run_on_spark(
    cluster: Cluster, job: DedupJob, other: Other, runner: Runner, workspace: Workspace
) -> DeduplicationResult:
    """Run all stages but the writing, which the result does, against what was opened.

    ``runner`` and ``workspace`` are the driver's: it keeps some numbers of each document.
    """
    with spark_errors():
        result = job.run(other, runner, workspace, partial(_deduplicate, cluster, job))
    write_rows_by(result, SparkEngine(lambda: cluster, runner, workspace).write)
    return result


def _deduplicate(
    cluster: Cluster,
    job: DedupJob,
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: DedupPlan,
    runner: Runner,
    workspace: Workspace,
    index: OpenDocuments | None,
    new: Adding | None,
) -> DeduplicationResult:
    check_effect(plan.options, sources, against)
    if plan.reading.needs_frequencies:
        with runner.stage("count"):
            engine = SparkEngine(lambda: cluster, runner, workspace)
            collections = to_be_counted(plan.options, sources, against)
            frequencies = count_frequencies(engine, collections, plan.reading)
        plan = replace(plan, reading=with_frequencies(plan.reading, frequencies))
    tell = partial(tell_looked_up, new is not None)
    if index is not None:
        assert job.index is not None
        look_up = LookUpOnExecutors(job.index.folder, index, plan.measure)
        plan = replace(plan, reading=replace(plan.reading, look_up=look_up))
    with runner.stage("read") as note:
        others = plan.reading.for_other(other_columns_of(plan.options))
        both = [(against, others), (sources, plan.reading)]
        signed = read_on_executors(both, sign_block, cluster, workspace, tell=tell)
        batches = SignedBatches(0, signed.batches)
        earlier = None if index is None else Earlier.of(batches, index.first_denied)
        contents = find_contents(signed, plan.keep, cluster, earlier)
        note(documents=len(contents.firsts), distinct_texts=contents.count())
    try:
        decision = choose_by_buckets(signed, contents, plan, cluster, runner)
        return conclude(
            contents,
            decision,
            plan,
            batches,
            runner,
            index,
            new,
            has_files=bool(against),
            read=partial(read_on_executors_again, signed, cluster),
            engine="spark",
            workers=cluster.slots,
        )
    finally:
        signed.rows.unpersist()


class _Arguments(
    SparkOptions,
    AgainstDataOptions,
    WorkspaceOptions,
    ProgressOptions,
    GroupArguments,
    kw_only=False,
):
    session: Any = argument(SESSION)
    data: Data = argument(SHARED_FILES)
    differs = but(
        against={
            "python": "More documents, as for ``data``, or an index of documents: a "
            "``DocumentIndex``, or the path of its folder, which all executors reach. They all "
            "stay; what is similar to one of them goes."
        },
        **ON_DRIVER,
    )


@takes(_Arguments)
def deduplicate(given: _Arguments) -> DeduplicationResult:
    """Find near-duplicate documents as ``neardup.deduplicate``, on the executors of a session.

    The result is the same, byte by byte. It needs the session until it has been written, which
    executors do as well, to a folder that all of them reach under the same path.

    Returns
    -------
    The result: ``removed``, ``clusters`` (Arrow tables), ``summary`` and ``write()``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or a session without a ``SparkContext``.
    InvalidInputError
        For a bad row or a repeated id, and for data in memory.
    ReadError, IndexFormatError
        For a file that cannot be read, or an index that is damaged.
    IndexLockedError, WriteError
        If another writer is at work on the index, or it cannot be written.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    The driver keeps some 60 bytes a document, and ids in files, with ``add`` digests, too; it
    writes what is added. See the page on Spark.
    """
    job = DedupJob.of(given, make_plan=plan_on_spark)
    cluster = cluster_of(given.session)
    with (
        Runner(None, given.progress, "dedup") as runner,
        job.opened(runner, count_with(lambda: cluster)) as other,
    ):
        workspace = open_workspace(given.memory, given.work)
        result = run_on_spark(cluster, job, other, runner, workspace)
    return with_warning(result)
