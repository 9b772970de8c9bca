"""``neardup.spark.cut``: what texts repeat, found and cut by executors as ``jobs.cut`` does.

Executors read, cut into tokens, sign, and write. What goes is decided by the rules of threads: of
equal units by executors, each of a part of the digests, of all else by the driver, which takes
documents in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from neardup.documents.other import resolve_against
from neardup.engine.spark.cluster import Cluster, spark_errors
from neardup.engine.spark.engine import SparkEngine
from neardup.engine.spark.session import ON_DRIVER, SESSION, SHARED_FILES, cluster_of
from neardup.engine.workspaces import open_workspace
from neardup.errors import InvalidParameterError
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.cut.cut import cut_sources
from neardup.jobs.cut.cut_result import CutResult
from neardup.jobs.cut.plan import CutJobPlan, plan_cut
from neardup.options.choices import Data, Side
from neardup.options.groups import AgainstDataOptions, ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.options.passages import CutOptions
from neardup.options.together import GroupArguments
from neardup.reading.where import rows_where
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.similar_units import find_similar_units
from neardup.stages.hints import with_warning


def plan_on_spark(
    options: CutOptions, *, has_other: bool, is_named: bool = False, side: Side | None = None
) -> CutJobPlan:
    """Check what goes with what, and raise for a table that names what goes."""
    plan = plan_cut(options, has_other=has_other, is_named=is_named, side=side)
    if is_named:
        message = "engine spark cuts what it finds; leave out named_in, or choose engine threads"
        raise InvalidParameterError(message, "engine", "named_in")
    return plan


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
    find = None if plan.units is None else partial(find_similar_units, cluster)
    with spark_errors():
        engine = SparkEngine(lambda: cluster, runner, workspace)
        return cut_sources(engine, sources, against, plan, find)


class _Arguments(
    CutOptions, AgainstDataOptions, WorkspaceOptions, ProgressOptions, GroupArguments, kw_only=False
):
    session: Any = argument(SESSION)
    data: Data = argument(SHARED_FILES)
    differs = but(
        against={
            "python": "Other documents, in files as those of ``data``. They stay, and nothing goes "
            "but what one of them has."
        },
        text_column={
            "python": "Name of the column of the text, or several: their texts are joined with "
            "newlines in that order. Places count in the joined text, and what goes is cut out of "
            "each."
        },
        **ON_DRIVER,
    )


@takes(_Arguments)
def cut(given: _Arguments) -> CutResult:
    """Take repeated passages, paragraphs or lines out of texts, as ``neardup.cut``.

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
        For an option out of range, or a session without a ``SparkContext``.
    InvalidInputError
        For a bad row or a repeated id, and for data in memory or an index.
    ReadError
        For a file that cannot be read.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    The driver keeps some 60 bytes a document, and ids and what goes of equal units, some 50 bytes a
    span, in files once they do not fit; of similar units some 100 bytes each. Of equal passages it
    compares the tokens itself, of documents that share a sample, and keeps 130 bytes for each that
    goes. Of similar ones it has all tokens, in a file once they do not fit, finds what goes, and
    keeps 600 bytes for each; see the page on Spark.
    """
    options = given.part(CutOptions)
    plan = plan_on_spark(options, has_other=given.against is not None)
    cluster = cluster_of(given.session)
    with Runner(None, given.progress, "cut") as runner:
        sources = rows_where(resolve_inputs(given.data, options), options.where)
        resolve = partial(resolve_inputs, options=options)
        others = resolve_against(given.against, resolve, options, options.tokenizer)
        workspace = open_workspace(given.memory, given.work)
        result = cut_on_spark(cluster, sources, others, plan, runner, workspace)
    return with_warning(result)
