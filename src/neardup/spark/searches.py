"""``neardup.spark.search_documents`` and ``search_passages``: an index searched on executors.

Of an index of documents each task looks up the queries that it reads, in all of it; parts of an
index of passages are tasks of their own, to which queries are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from neardup.documents.index import DocumentHandle
from neardup.documents.lookup import SharedIndex
from neardup.documents.other import index_and_others
from neardup.engine.spark.cluster import Cluster, spark_errors
from neardup.engine.spark.engine import SparkEngine
from neardup.engine.spark.read import count_filtered
from neardup.engine.spark.session import SESSION, SHARED_FILES, cluster_of
from neardup.files.ids import common_id_type
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.search.documents import search_documents as run_search
from neardup.jobs.search.passages import Asked, Searched, search_sources
from neardup.options.choices import Data, Number
from neardup.options.documents import DocumentSearchOptions, FoundOptions, MostOptions
from neardup.options.groups import ProgressOptions, TextReadingOptions, WhereOptions
from neardup.options.option import argument, option, takes
from neardup.options.passages import LookUpOptions, SearchOptions
from neardup.options.together import ReadArgument, RunArgument
from neardup.passages.index import OpenPassages, PassageHandle
from neardup.passages.lookup import find_whole
from neardup.passages.plan import SearchPlan
from neardup.reading.where import Condition, FilteredSource, rows_where
from neardup.results import DocumentSearchResult, PassageResult
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.spark.looked_up_passages import KeptQueries, Looked, Looking, Sending, SentQueries
from neardup.spark.stored_passages import Part, Storing, parts_of, store_on_executors
from neardup.stages.hints import with_warning

# An index of documents.


def search_documents_on_spark(
    current_cluster: Callable[[], Cluster],
    shared: SharedIndex,
    sources: Sequence[Source],
    options: DocumentSearchOptions,
    runner: Runner,
    condition: Condition | None = None,
    *,
    with_columns: bool = False,
) -> DocumentSearchResult:
    """Search an index as ``search_documents``; ``runner`` is the driver's.

    The driver keeps what is reported. Executors are looked for when they are needed.
    """
    engine = SparkEngine(current_cluster, runner, IN_MEMORY)
    with spark_errors():
        result = run_search(engine, shared, sources, options, condition, with_columns=with_columns)
    result.summary.update({"engine": engine.name, "workers": engine.workers})
    return result


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
        result = search_documents_on_spark(
            partial(cluster_of, given.session),
            SharedIndex(handle.folder, handle.view(runner)),
            sources,
            options,
            runner,
            condition,
            with_columns=given.with_columns,
        )
    return with_warning(result)


# An index of passages.


def search_passages_on_spark(
    current_cluster: Callable[[], Cluster],
    folder: Path,
    index: OpenPassages,
    sources: Sequence[Source],
    options: SearchOptions,
    runner: Runner,
    workspace: Workspace = IN_MEMORY,
) -> PassageResult:
    """Search the index in a folder as ``search_sources``; ``runner`` is the driver's.

    The driver keeps the passages. Executors are looked for when they are needed.
    """
    of_session = cache(current_cluster)
    with spark_errors():
        if any(isinstance(source, FilteredSource) for source in sources):
            count_filtered(of_session(), sources)
        find = partial(_find_on_executors, of_session, folder)
        result = search_sources(index, sources, options, runner, workspace, find)
    result.summary.update({"engine": "spark", "workers": of_session().slots})
    return result


def _find_on_executors(
    current_cluster: Callable[[], Cluster], folder: Path, asked: Asked, _: Workspace, __: Runner
) -> Iterator[Searched]:
    """Have executors keep the queries, and look each up in all parts of the index."""
    cluster, index = current_cluster(), asked.index
    # Nobody looks for windows of queries.
    kept = index.scheme.without_hashes()
    how = Storing.by(cluster, kept, index.frequencies, asked.read)
    queries = store_on_executors(asked.sources, how, cluster, are_indexed=False)
    looking = _Searching(
        scheme=index.scheme,
        frequencies=index.frequencies,
        memory=cluster.task_bytes,
        has_texts=asked.options.with_text,
        placer=asked.placer,
        plan=asked.plan,
    )
    try:
        parts = parts_of(index, folder.absolute(), cluster.slots)
        asking = KeptQueries(cluster=cluster, parts=parts, queries=queries)
        starts = queries.starts.tolist()
        sendings = [Sending(range(len(parts)), first) for first in starts[:-1]]
        for number, told in enumerate(asking.find("search", looking, sendings, kept)):
            yield Searched(
                queries.sizes[number],
                common_id_type(queries.id_types[number]),
                told.passages,
                told.places[:, 0] - starts[number],
                queries.skipped[number],
            )
    finally:
        queries.rows.unpersist()


@dataclass(frozen=True, kw_only=True)
class _Searching(Looking):
    """How tasks look for queries as wholes."""

    plan: SearchPlan

    def look_up(
        self,
        part: Part,
        index: OpenPassages,
        queries: Iterable[SentQueries],
        workspace: Workspace,
        runner: Runner,
    ) -> Iterator[Looked]:
        """Find the passages of a part that are similar to queries."""
        for block in queries:
            yield Looked(
                block,
                find_whole(index, block.tokens, self.plan, workspace, runner, lambda _: None),
            )


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
    Executors keep the queries, and look them up in parts of the index. The driver keeps the
    passages, some 150 bytes each, and their texts.
    """
    options = given.part(SearchOptions)
    handle = getattr(given.index, "_handle", None)
    if not isinstance(handle, PassageHandle):
        handle = PassageHandle(Path(given.index))
    with Runner(None, given.progress, "search") as runner:
        sources = rows_where(resolve_inputs(given.queries, options), options.where)
        index = handle.latest(runner)
        of_session = partial(cluster_of, given.session)
        result = search_passages_on_spark(
            of_session, handle.folder, index, sources, options, runner
        )
    return with_warning(result)
