"""Deduplication on a Spark session: the stages of ``neardup.deduplicate``, on its executors."""

from __future__ import annotations

from typing import Any

from neardup.documents.other import index_among
from neardup.engines.spark.run import deduplicate_on_spark, plan_on_spark
from neardup.engines.spark.session import cluster_of
from neardup.files.resolve import resolve_inputs
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.options.choices import Data
from neardup.options.documents import DedupOptions, SparkOptions
from neardup.options.groups import AgainstDataOptions, ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.runs.runner import Runner
from neardup.stages.workspaces import open_workspace


class _Arguments(
    SparkOptions, AgainstDataOptions, WorkspaceOptions, ProgressOptions, kw_only=False
):
    session: Any = argument("A ``SparkSession``; its executors need the same version of neardup.")
    data: Data = argument(
        "A path, glob or URL as a string, or a list of ``pathlib.Path``; files that all "
        "executors reach under the same paths."
    )
    differs = but(
        against={
            "python": "More documents, as for ``data``. They all stay; what is similar to one of "
            "them goes."
        },
        tokenizer={
            "python": "As for ``neardup.deduplicate``; a function has to be one that Spark can "
            "send to its executors."
        },
        memory={
            "python": "Most memory that the driver uses for what it keeps of documents, in bytes "
            "or as a size such as ``4GB``; None is 60 % of what is free. What does not fit goes to "
            "files."
        },
        work={
            "python": "Folder for these files, on the driver; None is where the system has "
            "temporary files."
        },
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
    handle = None if given.against is None else index_among(given.against, options.tokenizer)
    plan = plan_on_spark(options, has_other=given.against is not None, has_index=handle is not None)
    cluster = cluster_of(given.session)
    with Runner(None, given.progress) as runner:
        sources = resolve_inputs(given.data, options)
        others = resolve_inputs(given.against, options) if given.against is not None else []
        counted = None if given.idf_from is None else resolve_inputs(given.idf_from, options)
        workspace = open_workspace(given.memory, given.work)
        return deduplicate_on_spark(cluster, sources, others, plan, runner, workspace, counted)
