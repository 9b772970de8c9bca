"""``neardup.spark.search_documents`` and ``search_passages``: an index searched on executors.

Each task opens the index, and looks up the queries that it reads.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from neardup.documents.index import DocumentHandle
from neardup.documents.lookup import SharedIndex
from neardup.documents.other import index_and_others
from neardup.engine.spark.engine import SparkEngine
from neardup.engine.spark.session import SESSION, SHARED_FILES, cluster_of
from neardup.files.resolve import resolve_inputs
from neardup.jobs.search import documents, passages
from neardup.options.choices import Data, Number
from neardup.options.documents import DocumentSearchOptions, FoundOptions, MostOptions
from neardup.options.groups import ProgressOptions, TextReadingOptions, WhereOptions
from neardup.options.option import argument, option, takes
from neardup.options.passages import LookUpOptions, SearchOptions
from neardup.options.together import ReadArgument, RunArgument
from neardup.passages.index import PassageHandle
from neardup.passages.shared import SeenFolder, SharedPassages
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
