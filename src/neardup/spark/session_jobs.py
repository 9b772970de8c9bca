"""``neardup.spark.align``, ``cut``, ``search_documents`` and ``search_passages``: on a session.

They are the jobs of threads with another engine. Each task opens the index, and looks up the
documents that it reads.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from neardup.documents.index import DocumentHandle
from neardup.documents.lookup import SharedIndex
from neardup.documents.other import index_and_others, resolve_against
from neardup.engine.spark.engine import SparkEngine
from neardup.engine.spark.session import ON_DRIVER, SESSION, SHARED_FILES, cluster_of
from neardup.engine.workspaces import open_workspace
from neardup.files.resolve import resolve_inputs
from neardup.index.handle import SeenFolder
from neardup.jobs.align.align import align_given
from neardup.jobs.align.plan import choose_options
from neardup.jobs.cut.cut import cut_sources
from neardup.jobs.cut.cut_result import CutResult
from neardup.jobs.cut.plan import plan_cut
from neardup.jobs.search import documents, passages
from neardup.options.choices import Data, DataOrIndex, Number
from neardup.options.documents import DocumentSearchOptions, FoundOptions, MostOptions
from neardup.options.groups import (
    AgainstDataOptions,
    ProgressOptions,
    TextReadingOptions,
    WhereOptions,
    WorkspaceOptions,
)
from neardup.options.option import argument, but, option, takes
from neardup.options.passages import (
    AlignSchemeOptions,
    CutOptions,
    IgnoreOptions,
    LookUpOptions,
    SearchOptions,
)
from neardup.options.together import GroupArguments, ReadArgument, RunArgument
from neardup.passages.index import PassageHandle
from neardup.passages.shared import SharedPassages
from neardup.reading.where import Condition, rows_where
from neardup.results import DocumentSearchResult, PassageResult
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.hints import with_warning


class _OfDocuments(
    WhereOptions,
    MostOptions,
    TextReadingOptions,
    ProgressOptions,
    ReadArgument,
    RunArgument,
    kw_only=False,
):
    session: Any = argument(SESSION)
    index: Any = argument(
        "A ``DocumentIndex``, or the path of its folder, which all executors reach."
    )
    queries: Data = argument(SHARED_FILES)
    threshold: Number | None = option(DocumentSearchOptions.known["threshold"], default=None)
    doc_where: str | None = option(FoundOptions.known["doc_where"], default=None)
    with_columns: bool = option(FoundOptions.known["with_columns"], default=False)


@takes(_OfDocuments)
def search_documents(given: _OfDocuments) -> DocumentSearchResult:
    """Find the documents that are similar to texts, as ``DocumentIndex.search``, on executors.

    Rows are the same.

    Returns
    -------
    ``matches`` and a ``summary``, as ``DocumentIndex.search`` does.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or a session without a ``SparkContext``.
    InvalidInputError
        For a bad row, and for data in memory.
    ReadError, IndexFormatError
        For a file or an index that cannot be read, or is damaged.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    Each task opens the index, and looks up what it reads. The driver keeps what is found.
    """
    options = given.part(DocumentSearchOptions)
    condition = None if given.doc_where is None else Condition(given.doc_where)
    handle, _ = index_and_others(given.index)
    if handle is None:
        handle = DocumentHandle(Path(given.index))
    with Runner(None, given.progress, "search") as runner:
        sources = rows_where(resolve_inputs(given.queries, options), options.where)
        index = SharedIndex(handle.folder, handle.view(runner))
        engine = SparkEngine(partial(cluster_of, given.session), runner, IN_MEMORY)
        result = documents.search_documents(
            engine, index, sources, options, condition, with_columns=given.with_columns
        )
        result.summary.update({"engine": engine.name, "workers": engine.workers})
    return with_warning(result)


class _OfPassages(LookUpOptions, ProgressOptions, ReadArgument, RunArgument, kw_only=False):
    session: Any = argument(SESSION)
    index: Any = argument(
        "A ``PassageIndex``, or the path of its folder, which all executors reach."
    )
    queries: Data = argument(SHARED_FILES)
    threshold: Number = option(SearchOptions.known["threshold"], default="0.8")


@takes(_OfPassages)
def search_passages(given: _OfPassages) -> PassageResult:
    """Find the passages that are similar to texts, as ``PassageIndex.search``, on executors.

    Rows are the same.

    Returns
    -------
    ``passages`` and a ``summary``, as ``PassageIndex.search`` does.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or a session without a ``SparkContext``.
    InvalidInputError
        For a bad row, and for data in memory.
    ReadError, IndexFormatError
        For a file or an index that cannot be read, or is damaged.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    Each task opens the index, and looks up what it reads. The driver keeps the passages, some 150
    bytes each, and their texts.
    """
    options = given.part(SearchOptions)
    handle = getattr(given.index, "_handle", None)
    if not isinstance(handle, PassageHandle):
        handle = PassageHandle(Path(given.index))
    with Runner(None, given.progress, "search") as runner:
        sources = rows_where(resolve_inputs(given.queries, options), options.where)
        index = SharedPassages(handle.latest(runner), SeenFolder(handle.folder))
        engine = SparkEngine(partial(cluster_of, given.session), runner, IN_MEMORY)
        result = passages.search_passages(engine, index, sources, options)
        result.summary.update({"engine": engine.name, "workers": engine.workers})
    return with_warning(result)


class _OfAlignment(
    AlignSchemeOptions,
    IgnoreOptions,
    WorkspaceOptions,
    ProgressOptions,
    GroupArguments,
    kw_only=False,
):
    session: Any = argument(SESSION)
    a: Data = argument(SHARED_FILES)
    b: DataOrIndex | None = argument(
        "Other documents, in files as well, or a ``PassageIndex`` or the path of one, which all "
        "executors reach under the same path. None: those of ``a`` are compared with each other, "
        "each pair once; the earlier one is the query.",
        default=None,
    )
    differs = but(**ON_DRIVER)


@takes(_OfAlignment)
def align(given: _OfAlignment) -> PassageResult:
    """Find all passages that two collections share, or one, as ``neardup.align``, on executors.

    Rows are the same.

    Returns
    -------
    ``passages`` and a ``summary``, as ``neardup.align`` does.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or a session without a ``SparkContext``.
    InvalidInputError
        For a bad row or a repeated id, and for data in memory.
    ReadError
        For a file or an index that cannot be read.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    The driver keeps the passages, some 150 bytes each, and their texts; of each document that is
    indexed its id. The files of an index that is made pass through it, 2.3 bytes for each byte of
    text, and each executor has them on its disk. Text that is ignored is read by the driver.
    """
    options, chosen = choose_options(given, ("a", "b"), has_other=given.b is not None)
    workspace = open_workspace(given.memory, given.work)
    with Runner(None, given.progress, "align") as runner, workspace:
        engine = SparkEngine(partial(cluster_of, given.session), runner, workspace)
        result = align_given(engine, given, options, chosen)
        result.summary.update({"engine": engine.name, "workers": engine.workers})
    return with_warning(result)


class _OfCut(
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


@takes(_OfCut)
def cut(given: _OfCut) -> CutResult:
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
    plan = plan_cut(options, has_other=given.against is not None)
    with Runner(None, given.progress, "cut") as runner:
        workspace = open_workspace(given.memory, given.work)
        engine = SparkEngine(partial(cluster_of, given.session), runner, workspace)
        sources = rows_where(resolve_inputs(given.data, options), options.where)
        resolve = partial(resolve_inputs, options=options)
        others = resolve_against(given.against, resolve, options, options.tokenizer)
        result = cut_sources(engine, sources, others, plan)
    return with_warning(result)
