"""``neardup.spark.align``: shared passages, looked up as ``jobs.align`` looks them up in threads.

Executors read documents and keep them as segments of an index, those of a task in a partition,
which are the parts that queries are looked up in. With an index these are parts of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engine.spark.cluster import Cluster, Failure, spark_errors
from neardup.engine.spark.counts import count_on_executors
from neardup.engine.spark.read import Outbox, count_filtered, from_bytes
from neardup.engine.spark.session import ON_DRIVER, SESSION, SHARED_FILES, cluster_of
from neardup.errors import NeardupError
from neardup.files.ids import common_id_type
from neardup.files.rows import RowBlock, Source
from neardup.jobs.align.align import align_collections, align_given
from neardup.jobs.align.looked_up import Aligned, Asked, LookUp, later_than
from neardup.jobs.align.other import (
    Made,
    Other,
)
from neardup.options.choices import Data, DataOrIndex
from neardup.options.groups import ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.options.passages import AlignOptions, AlignSchemeOptions, IgnoreOptions
from neardup.options.together import GroupArguments
from neardup.passages.align import Aligner, AlignmentPlan, make_window_scheme
from neardup.passages.documents import PassageReading, read_document_block
from neardup.passages.index import OpenPassages, PassageHandle
from neardup.passages.scheme import PassageScheme
from neardup.reading.signed_batches import numbers_of
from neardup.reading.where import FilteredSource
from neardup.results import PassageResult
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.looked_up_passages import (
    KeptQueries,
    Looked,
    Looking,
    Sending,
    SentQueries,
    asked_in,
)
from neardup.spark.stored_passages import (
    NO_SIZES,
    Part,
    StoredDocuments,
    Storing,
    parts_of,
    store_on_executors,
)
from neardup.stages.hints import with_warning
from neardup.tables import Int64s, TokenLists, offsets_of
from neardup.text.weighting import DocumentFrequencies


def align_on_spark(
    current_cluster: Callable[[], Cluster],
    sources: Sequence[Source],
    other: Other,
    options: AlignOptions,
    workspace: Workspace,
    runner: Runner,
    ignore: Sequence[Source] = (),
) -> PassageResult:
    """Align as ``align_collections``; ``runner`` and ``workspace`` are the driver's.

    The driver reads the text that is ignored, and keeps all passages. Executors are looked for when
    they are needed.
    """
    of_session = cache(current_cluster)
    on_executors = partial(_on_executors, of_session)
    with spark_errors():
        if any(isinstance(source, FilteredSource) for source in sources):
            count_filtered(of_session(), sources)
        result = align_collections(sources, other, options, workspace, runner, ignore, on_executors)
    result.summary.update({"engine": "spark", "workers": of_session().slots})
    return result


# The look-up.


@dataclass(frozen=True, kw_only=True)
class _Aligning(Looking):
    """How tasks align queries with a part: those of the very documents with later ones alone."""

    plan: AlignmentPlan
    options: AlignOptions
    is_one: bool

    def look_up(
        self,
        part: Part,
        index: OpenPassages,
        queries: Iterable[SentQueries],
        workspace: Workspace,
        runner: Runner,
    ) -> Iterator[Looked]:
        """Align queries with the documents of a part."""
        aligner = Aligner(index, self.plan, workspace, runner)
        for block in queries:
            before, later = aligner.counts.hits, None
            if self.is_one:
                later = later_than(block.numbers - part.first, self.options)
            matches = aligner.align(block.tokens, lambda _: None, later, block.are_frequent)
            yield Looked(block, matches, aligner.counts.hits - before)


@contextmanager
def _on_executors(
    current_cluster: Callable[[], Cluster], asked: Asked, workspace: Workspace, runner: Runner
) -> Iterator[LookUp]:
    """Have executors read all documents, as far as they are not in an index."""
    cluster, other = current_cluster(), asked.other
    kept: list[StoredDocuments] = []
    try:
        if isinstance(other, PassageHandle):
            index = other.view(runner)
            parts = parts_of(index, other.folder.absolute(), cluster.slots)
            scheme, frequencies, sizes = index.scheme, index.frequencies, index.document_sizes()
            id_type, made = index.id_type, Made()
        else:
            scheme, frequencies = make_window_scheme(other.min_tokens, **other.scheme), None
            if scheme.weighting.idf != "unary":
                with runner.stage("count"):
                    listing = partial(_list_tokens, scheme, other.read)
                    frequencies = count_on_executors("count", [(other.sources, listing)], cluster)
            with runner.stage("read") as note:
                how = Storing.by(cluster, scheme, frequencies, other.read)
                indexed = store_on_executors(other.sources, how, cluster, are_indexed=True)
                kept.append(indexed)
                sizes = np.concatenate([NO_SIZES, *indexed.sizes])
                note(documents=len(sizes), tokens=int(sizes.sum()))
            parts = [Part(first) for first in indexed.starts[:-1].tolist()]
            id_type = common_id_type(set().union(*indexed.id_types))
            made = indexed.made
            idf = other.idf_for(len(sizes))
            scheme = scheme if idf is None else scheme.weighed_by(idf)
        if not asked.is_one:
            # Nobody looks for their windows.
            how = Storing.by(cluster, scheme.without_hashes(), frequencies, asked.read)
            kept.append(store_on_executors(asked.sources, how, cluster, are_indexed=False))
        stored = None if isinstance(other, PassageHandle) else kept[0].rows
        queries = KeptQueries(cluster=cluster, parts=parts, queries=kept[-1], stored=stored)
        yield _OnExecutors(
            scheme, sizes, id_type, made, asked=asked, frequencies=frequencies, kept=queries
        )
    finally:
        for documents in kept:
            documents.rows.unpersist()


def _list_tokens(
    scheme: PassageScheme, read: PassageReading, source: Source, block: RowBlock
) -> TokenLists:
    return read_document_block(source, block, scheme.tokenizer, read).tokens


@dataclass(kw_only=True)
class _OnExecutors(LookUp):
    """Queries and what they are looked up in, as executors keep them."""

    asked: Asked
    frequencies: DocumentFrequencies | None
    kept: KeptQueries

    def find(self, plan: AlignmentPlan) -> Iterator[Aligned]:
        """Look all queries up, and bring what is found."""
        asked, queries, options = self.asked, self.kept.queries, self.asked.options
        how = _Aligning(
            scheme=self.scheme,
            frequencies=self.frequencies,
            memory=self.kept.cluster.task_bytes,
            windows=plan.windows,
            has_texts=options.with_text,
            placer=asked.placer,
            has_extents=options.summary is not None,
            hidden=asked.hidden,
            plan=plan,
            options=options,
            is_one=asked.is_one,
        )
        sizes = [plan.windows.count_windows(each) for each in queries.sizes]
        n_windows = np.array([each.sum() for each in sizes], np.int64)
        self.counts.windows = int(n_windows.sum())
        frequent: Sequence[bytes | None] = [None] * len(n_windows)
        if plan.max_documents is not None:
            frequent = self._find_frequent(how, n_windows)
        # Queries of another collection have been stored without.
        scheme = self.scheme if asked.is_one else self.scheme.without_hashes()
        sendings = self._sendings(n_windows, frequent)
        for number, told in enumerate(self.kept.find("align", how, sendings, scheme)):
            self.counts.hits += told.n_hits
            yield Aligned(
                queries.sizes[number],
                common_id_type(queries.id_types[number]),
                told.passages,
                told.places,
                told.extents if how.has_extents else None,
                queries.n_ignored[number],
                queries.skipped[number],
            )

    def _sendings(
        self, n_windows: Int64s, frequent: Sequence[bytes | None], *, everywhere: bool = False
    ) -> list[Sending]:
        """Say which parts may have something for the queries of each task."""
        n = len(self.kept.parts)
        # What stands before a document of one collection does not find it.
        only_later = self.asked.is_one and not self.asked.options.most_times and not everywhere
        firsts = (np.cumsum(n_windows) - n_windows).tolist()
        starts = self.kept.queries.starts[:-1].tolist()
        return [
            Sending(range(number if only_later else 0, n), first, first_window, bits)
            for number, (first, first_window, bits) in enumerate(
                zip(starts, firsts, frequent, strict=True)
            )
        ]

    def _find_frequent(self, how: _Aligning, n_windows: Int64s) -> list[bytes]:
        """Return for the windows of each task, as bits, which of them too many documents have."""
        cluster = self.kept.cluster
        bounds = offsets_of(n_windows)
        nothing = [None] * len(n_windows)
        sent = self.kept.sent(how.windows, self._sendings(n_windows, nothing, everywhere=True))
        keep = "align", cluster.task_bytes
        counts = cluster.work(partial(_count_documents, how, bounds), sent, keep=keep)
        ranges = list(pairwise(bounds.tolist()))
        placed = cluster.attach(ranges, cluster.place(counts, len(ranges)))
        assert how.plan.max_documents is not None
        summing = partial(_sum_documents, how.plan.max_documents)
        bits = []
        for n_frequent, data in cluster.bring_once(cluster.work(summing, placed)):
            self.counts.frequent_windows += n_frequent
            bits.append(data)
        return bits


def _count_documents(
    how: _Aligning, bounds: Int64s, rows: Iterator[Any]
) -> Iterator[tuple[int, bytes | Failure]]:
    """Send in how many documents of a part windows are found; ``bounds`` are those of tasks."""
    number, part = next(rows)
    outbox = Outbox()
    try:
        with asked_in(how, part, rows) as (index, queries, workspace, runner):
            aligner = Aligner(index, how.plan, workspace, runner)
            for block in queries:
                counts = aligner.count_documents(block.tokens)
                n_windows = how.plan.windows.count_windows(np.diff(block.tokens.offsets))
                starts = np.cumsum(n_windows) - n_windows
                windows = np.arange(len(counts)) + np.repeat(
                    block.first_windows - starts, n_windows
                )
                found = np.flatnonzero(counts)
                columns = {"window": windows[found], "documents": counts[found]}
                tasks = np.searchsorted(bounds, windows[found], side="right") - 1
                yield from outbox.add(pa.RecordBatch.from_pydict(columns), tasks)
            yield from outbox.rest()
    except NeardupError as error:
        yield 0, Failure.of(number, None, error)


def _sum_documents(most: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes] | Failure]:
    """Give which windows of a task are found in too many documents of all parts, as bits."""
    start, stop = next(rows)
    counts: Int64s = np.zeros(stop - start, np.int64)
    for _, data in rows:
        if isinstance(data, Failure):
            yield data
            continue
        batch = from_bytes(data)
        np.add.at(counts, numbers_of(batch, "window") - start, numbers_of(batch, "documents"))
    are_frequent = counts > most
    yield int(are_frequent.sum()), np.packbits(are_frequent).tobytes()


class _Arguments(
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


@takes(_Arguments)
def align(given: _Arguments) -> PassageResult:
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
    indexed its id. Text that is ignored is read by it, too, wherever that is.
    """
    run = partial(align_on_spark, partial(cluster_of, given.session))
    return with_warning(align_given(given, None, run))
