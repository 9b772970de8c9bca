"""``neardup.spark.deduplicate``: near-duplicate documents, found by executors."""

from __future__ import annotations

from typing import Any

from neardup.engine.spark.engine import SparkEngine
from neardup.engine.spark.session import ON_DRIVER, SESSION, SHARED_FILES, cluster_of
from neardup.engine.workspaces import open_workspace
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.dedup.run import DedupJob
from neardup.options.choices import Data
from neardup.options.documents import SparkOptions
from neardup.options.groups import AgainstDataOptions, ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.options.together import GroupArguments
from neardup.runs.runner import Runner
from neardup.stages.hints import with_warning


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
    job = DedupJob.of(given, on_spark=True)
    cluster = cluster_of(given.session)
    with Runner(None, given.progress, "dedup") as runner:
        workspace = open_workspace(given.memory, given.work)
        engine = SparkEngine(lambda: cluster, runner, workspace)
        with job.opened(engine) as other:
            result = job.run(engine, other)
    return with_warning(result)
