"""``neardup.spark.deduplicate``: the stages in order, as ``jobs.dedup`` has them in threads."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.documents.other import index_among
from neardup.errors import InvalidParameterError
from neardup.files.inputs import check_effect
from neardup.files.resolve import resolve_inputs
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.dedup.run import DedupJob
from neardup.jobs.dedup.summary import summarise
from neardup.options.choices import Data
from neardup.options.documents import DedupOptions, SparkOptions
from neardup.options.groups import AgainstDataOptions, ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.reading.sign import sign_block
from neardup.reading.signed_batches import count_shingles, with_frequencies
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.cluster import Cluster, spark_errors
from neardup.spark.decide import (
    decide_on_executors,
    exchange_keys,
    find_components,
    find_contents,
    sieve,
)
from neardup.spark.read import ReadTasks, read_on_executors
from neardup.spark.session import (
    ON_DRIVER,
    SESSION,
    SHARED_FILES,
    check_reads_text,
    cluster_of,
    no_index,
)
from neardup.spark.write import write_on_executors
from neardup.stages.components import pack_components
from neardup.stages.decide import Decision, assign
from neardup.stages.hints import with_warning
from neardup.stages.options import other_columns_of, to_be_counted
from neardup.stages.plan import DedupPlan, plan_deduplication
from neardup.stages.workspaces import open_workspace

if TYPE_CHECKING:
    from neardup.stages.contents import Contents

# Share of a task's memory for what is compared at the same time.
_PARTITION_SHARE = 0.4

# Partitions a slot at least; fewer than for a thread, because a task costs more.
_PARTITIONS_A_SLOT = 4


def plan_on_spark(options: DedupOptions, *, has_other: bool, has_index: bool) -> DedupPlan:
    """Check what goes with what, and raise for options that need all documents in one place."""
    if has_index:
        raise no_index()
    plan = plan_deduplication(options, has_other=has_other)
    for name, is_given in (
        ("method", plan.options.method != "minhash"),
        ("audit", plan.options.audit is not None),
    ):
        if is_given:
            message = (
                f"{name} needs all documents in one memory, and cannot be had with engine spark; "
                "leave it out, or choose engine threads"
            )
            raise InvalidParameterError(message, name, "engine")
    check_reads_text(plan.options)
    return plan


def run_on_spark(
    cluster: Cluster, job: DedupJob, runner: Runner, workspace: Workspace
) -> DeduplicationResult:
    """Run all stages but the writing, which the result does.

    ``runner`` and ``workspace`` are the driver's: it keeps some numbers of each document.
    """
    assert job.plan is not None
    plan, sources, against, counted = job.plan, job.sources, job.others, job.counted
    check_effect(plan.options, sources, against, counted or ())
    with spark_errors():
        if plan.reading.needs_frequencies:
            with runner.stage("count"):
                collections = to_be_counted(plan.options, sources, against, counted)
                frequencies = count_shingles(collections, plan.reading, runner)
            plan = replace(plan, reading=with_frequencies(plan.reading, frequencies))
        with runner.stage("read") as note:
            others = plan.reading.for_other(other_columns_of(plan.options))
            both = [(against, others), (sources, plan.reading)]
            signed = read_on_executors(both, sign_block, cluster, workspace)
            contents = find_contents(signed, plan.keep, cluster)
            note(documents=len(contents.firsts), distinct_texts=contents.count())
        try:
            decision = _choose(signed, contents, plan, cluster, runner)
        finally:
            signed.rows.unpersist()
    assignment = assign(contents, decision)
    summary = summarise(
        contents,
        decision,
        assignment,
        plan,
        "minhash",
        None,
        None,
        runner,
        engine="spark",
        workers=cluster.slots,
    )
    result = DeduplicationResult(contents.own, contents.other, assignment, summary)
    result.written_by(partial(write_on_executors, cluster=cluster))
    return result


def _choose(
    signed: ReadTasks, contents: Contents, plan: DedupPlan, cluster: Cluster, runner: Runner
) -> Decision:
    """Decide contents that share a bucket."""
    with runner.stage("bucket") as note:
        roots = find_components(signed, contents, plan, cluster)
        room = int(cluster.task_bytes * _PARTITION_SHARE)
        n_least = max(1, _PARTITIONS_A_SLOT * cluster.slots)
        partitions = pack_components(roots, contents, plan.reading, room, n_least)
        note(candidates=len(partitions.documents))
    if not len(partitions):
        return Decision.of_all([])
    with runner.stage("sieve") as note:
        exchanged = exchange_keys(signed, contents, partitions, cluster)
        components = sieve(exchanged, partitions, plan, cluster)
        note(candidates=int(np.count_nonzero(components >= 0)))
    with runner.stage("choose") as note:
        decision = Decision.of_all(
            decide_on_executors(exchanged, signed, contents, partitions, components, plan, cluster)
        )
        note(compared=decision.n_compared, similar=decision.n_verified)
    return decision


class _Arguments(
    SparkOptions, AgainstDataOptions, WorkspaceOptions, ProgressOptions, kw_only=False
):
    session: Any = argument(SESSION)
    data: Data = argument(SHARED_FILES)
    differs = but(
        against={
            "python": "More documents, as for ``data``. They all stay; what is similar to one of "
            "them goes."
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
    ReadError
        For a file that cannot be read.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    The driver keeps some 60 bytes a document, and ids in files; see the page on Spark.
    """
    options = given.part(DedupOptions)
    index = None if given.against is None else index_among(given.against, options.tokenizer)
    job = DedupJob(
        options,
        resolve_inputs,
        given.data,
        given.against,
        given.idf_from,
        index=index,
        make_plan=plan_on_spark,
    )
    cluster = cluster_of(given.session)
    with Runner(None, given.progress) as runner, job.opened(runner):
        result = run_on_spark(cluster, job, runner, open_workspace(given.memory, given.work))
    return with_warning(result)
