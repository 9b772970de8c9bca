"""``neardup.spark.find_pairs``: pairs that executors of a session find, as ``jobs.pairs`` says."""

from __future__ import annotations

from typing import Any

from neardup.engine.spark.cluster import check_reached
from neardup.engine.spark.engine import SparkEngine
from neardup.engine.spark.session import (
    ON_DRIVER,
    SESSION,
    SHARED_FILES,
    check_reads_text,
    cluster_of,
)
from neardup.engine.workspaces import open_workspace
from neardup.files.resolve import resolve_inputs
from neardup.jobs.pairs.pair_result import PairResult
from neardup.jobs.pairs.run import PairJob
from neardup.options.choices import Data, DataOrIndex
from neardup.options.documents import PairOptions
from neardup.options.groups import ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.options.together import GroupArguments
from neardup.runs.runner import Runner
from neardup.stages.hints import with_warning


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
        check_reached([*job.left, *(job.right or ()), *(job.counted or ())])
        workspace = open_workspace(given.memory, given.work)
        result = job.run(SparkEngine(lambda: cluster, runner, workspace))
    return with_warning(result)
