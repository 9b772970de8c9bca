"""``align``: passages shared by two collections, or within one.

Windows of documents are looked up, their hits chained, and the ends of passages refined.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.other import resolve_other
from neardup.engine.engine import Engine, Means
from neardup.engine.opening import key_of, key_with_index, open_engine
from neardup.files.documents import ReadingPass, common_id_type, keep_extracted
from neardup.files.inputs import Inputs, passed_over, resolve_inputs
from neardup.files.rows import Source
from neardup.index.index import SharedIndex
from neardup.jobs.align_other import (
    NewDocuments,
    Other,
    choose_options,
    choose_other,
    describe_choices,
    most_documents,
    open_other,
    plan_alignment,
    recall_of,
    usual_of,
)
from neardup.options.choices import (
    AlignmentSummary,
    Data,
    DataOrIndex,
    Number,
    PassageMeasure,
    PassagePresetName,
)
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.options.option import merge
from neardup.options.passages import AlignOptions, AlignSchemeOptions
from neardup.passages.align import Aligner, AlignmentPlan, certain_length
from neardup.passages.documents import (
    DocumentBlock,
    IgnoredRuns,
    PassageReading,
    gather,
    least_run,
    read_document_block,
    read_documents,
    runs_of,
)
from neardup.passages.index import OpenPassages, PassageHandle
from neardup.passages.lookup import Later, WindowCounts, tokens_at_a_time, within_memory
from neardup.passages.matches import (
    Extents,
    Placer,
    count_marked,
    extents_of,
    match_table,
    pair_table,
    schema_of,
    with_id_types,
)
from neardup.passages.windows import PassageScheme
from neardup.reading.sign import describe_filtered, rows_where
from neardup.results import (
    NO_COLUMNS,
    PassageResult,
    QueryCounts,
    SkippedRow,
    describe_ids,
    describe_skipped,
)
from neardup.runs.runner import Runner, release_memory
from neardup.stages.options import columns_of, has_chosen, hints_of_letters, with_warning
from neardup.tables import Int64s


@dataclass(frozen=True)
class Aligned:
    """Queries in input order, and their passages shared with documents.

    ``sizes`` are their numbers of tokens, without the ``n_ignored`` ones. ``pairs`` are rows of
    query and document; queries are counted among these, documents through the collection.
    ``extents`` exist if pairs of documents are requested.
    """

    sizes: Int64s
    id_type: pa.DataType
    passages: pa.Table
    pairs: Int64s
    extents: Extents | None
    n_ignored: int
    skipped: Sequence[SkippedRow]
    counts: WindowCounts


@dataclass(frozen=True)
class Queries:
    """Aligner of queries with the documents of an index.

    With ``is_one``, the queries are these documents themselves. ``placer`` names the beginnings of
    passages, if requested.
    """

    shared: SharedIndex[OpenPassages]
    plan: AlignmentPlan
    options: AlignOptions
    placer: Placer | None
    is_one: bool

    def align(self, blocks: Iterator[DocumentBlock], means: Means) -> Iterator[Aligned]:
        """Yield the passages of queries, in batches of suitable size."""
        workspace, runner, options = means.workspace, means.runner, self.options
        index = within_memory(self.shared.opened, workspace)
        aligner = Aligner(index, self.plan, workspace, runner)
        for block in gather(blocks, tokens_at_a_time([index], workspace, runner)):
            later = None
            if self.is_one:
                later = later_than(index.documents_of_ids(block.ids), options)
            matches = aligner.align(block.tokens, means.report, later)
            passages = match_table(
                matches, block, index, with_text=options.with_text, placer=self.placer
            )
            pairs = np.stack([matches.queries, matches.documents], axis=1)
            extents = None
            if options.summary is not None:
                extents = extents_of(matches, block, index)
            yield Aligned(
                np.diff(block.tokens.offsets),
                block.ids.type,
                passages,
                pairs,
                extents,
                block.n_ignored,
                block.skipped,
                aligner.take_counts(),
            )
            # Free memory before the next batch.
            del block, matches, passages, pairs, extents
            if index.gives_back:
                release_memory()


def later_than(own: Int64s, options: AlignOptions) -> Later:
    """Return the later, or all other, documents that queries ``own`` may find."""
    nobody = np.zeros(len(own), np.bool_)
    if options.most_times:
        # Containment is not symmetric, so both directions are searched.
        return Later(own, nobody, finds_before=True)
    return Later(own, ~nobody) if options.within else Later(own + 1, nobody)


def read_templates(
    templates: Sequence[Source],
    other: Other,
    read: PassageReading,
    min_tokens: int | None,
    runner: Runner,
) -> IgnoredRuns:
    """Read the texts of templates in this process, without ids."""
    if isinstance(other, NewDocuments):
        scheme = other.window_scheme
    else:
        scheme = other.view(runner).scheme
    length = least_run(scheme.min_tokens if min_tokens is None else min_tokens)
    read = replace(read, columns=read.columns.only_text())
    with runner.stage("ignore") as note:
        reading = ReadingPass("ignore", templates, runner)
        blocks = read_documents(templates, scheme.tokenizer, read, reading)
        runs = runs_of((block.tokens for block in blocks), scheme.count_shingles(length))
        note(runs=sum(len(hashes) for _, hashes in runs.hashes))
    return runs


class AlignJob:
    """Alignment by checked options, with resolved inputs.

    ``names`` are those of both collections in the caller's spelling. ``named`` is the value of
    ``against`` if it may name an index.
    """

    def __init__(
        self,
        given: AlignSchemeOptions,
        resolve: Callable[[Any, AlignSchemeOptions], Inputs],
        data: Any,
        against: Any = None,
        ignore: Any = None,
        *,
        named: Any = None,
        names: tuple[str, str] = ("data", "against"),
    ) -> None:
        self.options, chosen = choose_options(given, names, has_other=against is not None)
        self.sources = rows_where(resolve(data, given), self.options.where)
        self.templates: Sequence[Source] = () if ignore is None else resolve(ignore, given)

        def resolve_named(named: Any) -> Inputs:
            return resolve_other(named, lambda _: resolve(against, given), given.tokenizer)

        named = against if named is None else named
        self.other = choose_other(named, resolve_named, self.options, chosen, self.sources)

    @property
    def folder(self) -> Path | None:
        """Folder of the index, None for documents."""
        return self.other.folder if isinstance(self.other, PassageHandle) else None

    def key(self, runner: Runner) -> dict[str, Any] | None:
        """Return the inputs that identify the passages, None if unidentifiable."""
        files = {"inputs": self.sources, "ignore": self.templates}
        other = self.other
        if isinstance(other, PassageHandle):
            return key_with_index("align", self.options, other.view(runner), other.folder, **files)
        scheme = other.window_scheme.describe() | {"idf_of_few": other.idf_of_few}
        against = [] if other.is_input else other.sources
        return key_of("align", self.options, scheme, **files, against=against)

    def run(self, engine: Engine) -> PassageResult:
        """Find all passages that documents share with another collection."""
        result = find_shared(engine, self.sources, self.other, self.options, self.templates)
        if self.options.place_marker is not None:
            result.summary["marked_places"] = count_marked(result.passages)
        return result


def find_shared(
    engine: Engine,
    sources: Sequence[Source],
    other: Other,
    options: AlignOptions,
    ignore: Sequence[Source] = (),
) -> PassageResult:
    """Find all shared passages of two collections.

    In one collection, each pair of documents comes once, with the earlier as query; contained
    passages are searched in both directions. Text of ``ignore`` is removed, but not from an index.
    """
    read = PassageReading(columns_of(options), options.skip_bad)
    is_one = isinstance(other, NewDocuments) and other.is_input
    new = other.sources if isinstance(other, NewDocuments) and not is_one else ()
    if is_one:
        keep_extracted(engine.workspace, sources)
    # An invalid marker raises before anything is read.
    placer = Placer(options.place_marker) if options.has_places else None
    start = time.perf_counter()
    hints: list[dict[str, Any]] = []
    read, of_other = read.for_sources(sources), NO_COLUMNS
    if isinstance(other, NewDocuments):
        options = options.but(min_tokens=other.min_tokens)
        other = replace(other, read=other.read.for_sources(other.sources))
        of_other = NO_COLUMNS if is_one else other.read.columns
        # Invalid options raise before anything is read.
        scheme = other.window_scheme
        plan_alignment(options, scheme)
        if not has_chosen(options) and not {"tokenizer", "ngram"} & other.scheme.keys():
            hints = hints_of_letters(scheme.shingles, sources, read.columns, is_early=True)
    else:
        options.check_no_other("with an index", "align with documents")
    if ignore:
        ignored = read_templates(ignore, other, read, options.min_tokens, engine.runner)
        read = replace(read, ignored=ignored)
        # An index keeps its text.
        if isinstance(other, NewDocuments):
            other = replace(other, read=replace(other.read, ignored=ignored))
    with open_other(engine, other) as (shared, skipped), engine.stage("align") as note:
        index = shared.opened
        sizes = index.document_sizes()
        most = most_documents(options.max_documents, len(sizes))
        plan = replace(plan_alignment(options, index.scheme), max_documents=most)
        # A collection that is read twice lists each bad row once.
        counts = QueryCounts(skipped=[] if is_one else list(skipped))
        windows, n_ignored = WindowCounts(), 0
        id_types: set[pa.DataType] = set()
        schema = schema_of(with_text=options.with_text, with_places=options.has_places)
        tables = [schema.empty_table()]
        extents: list[Extents] = [np.empty((0, 6), np.int64)]
        pairs: list[Int64s] = [np.empty((0, 2), np.int64)]
        queries = Queries(shared, plan, options, placer, is_one)
        parse = partial(read_document_block, tokenizer=index.scheme.tokenizer, options=read)
        for aligned in engine.stream("align", sources, parse, queries.align):
            tables.append(aligned.passages)
            pairs.append(aligned.pairs + np.array([counts.n_queries, 0]))
            extents += [] if aligned.extents is None else [aligned.extents]
            counts.add(aligned.sizes, plan.min_tokens, aligned.pairs[:, 0], aligned.skipped)
            windows += aligned.counts
            n_ignored += aligned.n_ignored
            id_types |= {aligned.id_type} if len(aligned.sizes) else set()
        table = with_id_types(pa.concat_tables(tables), common_id_type(id_types), index.id_type)
        note(documents=counts.n_queries, windows=windows.windows, passages=len(table))
        found = np.concatenate(pairs)
        aligned_documents = np.unique(found if is_one else found[:, 0])
        numbers = found[:, 0] * len(sizes) + found[:, 1]
        n_found = {
            "ignored_tokens": n_ignored,
            "aligned_documents": len(aligned_documents),
            "passages": len(table),
            "document_pairs": len(np.unique(numbers)),
        }
        summary = _summary(n_found, counts, windows, plan, index.scheme, sizes)
        summary["seconds"] = round(time.perf_counter() - start, 3)
        if is_one:
            for name in ("documents", "empty_documents", "short_documents"):
                summary[name] = summary[name][:1]
    summary["gap"] = usual_of(options).gap
    summary["hints"] = hints
    summary |= describe_filtered(sources) | engine.describe_cluster()
    summary["passed_over"] = passed_over(sources, new)
    summary |= describe_choices(options, other.scheme if isinstance(other, NewDocuments) else {})
    summary |= describe_ids(read.columns, of_other)
    document_pairs = None
    if options.summary is not None:
        document_pairs = pair_table(table, numbers, np.concatenate(extents))
    return PassageResult(table, summary, document_pairs)


def _summary(
    n_found: dict[str, int],
    counts: QueryCounts,
    windows: WindowCounts,
    plan: AlignmentPlan,
    scheme: PassageScheme,
    sizes: Int64s,
) -> dict[str, Any]:
    return {
        "documents": [counts.n_queries, len(sizes)],
        "empty_documents": [counts.n_empty, int((sizes == 0).sum())],
        "short_documents": [
            counts.n_short,
            int(((sizes > 0) & (sizes < plan.min_tokens)).sum()),
        ],
        "threshold": float(plan.threshold),
        "min_tokens": scheme.count_tokens(plan.min_tokens),
        **n_found,
        "max_documents": plan.max_documents,
        **vars(windows),
        "window_tokens": scheme.count_tokens(plan.length),
        "window_threshold": float(plan.search.threshold),
        "certain_tokens": scheme.count_tokens(certain_length(plan)),
        "predicted_recall": recall_of(plan),
        **describe_skipped(counts.skipped),
    }


def align(
    data: Data,
    against: DataOrIndex | None = None,
    *,
    threshold: Number | None = None,
    measure: PassageMeasure = "jaccard",
    min_tokens: int | None = None,
    preset: PassagePresetName | None = None,
    max_documents: int | str | None = None,
    within: bool = False,
    summary: AlignmentSummary | None = None,
    ignore: Data | None = None,
    recall: Number | None = None,
    places: bool = False,
    place_marker: str | None = None,
    with_text: bool = False,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> PassageResult:
    """Find all shared passages of two collections, or of one.

    Parameters
    ----------
    data
        Documents, in any form that ``deduplicate`` takes: the queries.
    against
        Other documents, or an index of passages; documents are indexed in memory or in temporary
        files. None: pairs of documents of ``data``, each once; the earlier one is the query.
    threshold
        Least similarity of passages, in (0, 1], an exact decimal. None: 0.5, 0.65 by containment.
    measure
        ``jaccard``; or ``containment``, the share of the query's passage that the document's has,
        so that this may be longer. ``threshold`` and ``min_tokens`` apply to the query's passage.
    min_tokens
        Tokens of the shortest passage, in either text. Passages of this length (one and a half
        times ``min_tokens`` of an existing index) contain a window that is looked up. None: 50, 40
        by containment, or the value of the index.
    preset
        ``ocr``, ``code``, ``editions``, ``quotations`` or ``rewording``: defaults for such texts.
        An index has its own except for threshold and recall.
    max_documents
        Ignore windows that more documents of ``against``, or else of ``data``, share, such as
        licences; ``"10%"`` is a share of the documents, two at least.
    within
        Without ``against``: also find non-overlapping repeats within one document.
    summary
        ``"documents"``: report also the shared amount per pair of documents, as ``document_pairs``.
    ignore
        Documents, in any form, whose text is ignored, such as the template of a form: their runs of
        tokens are removed from ``data``, and passages continue after them. A run has a tenth of the
        tokens of the shortest passage, four at least.
    recall
        Least probability of finding a passage of ``min_tokens`` at the threshold, if its words were
        changed independently; it determines the threshold of windows. None: windows are looked up
        at the threshold, by containment with 0.95, by a preset with its own.
    places
        Add ``query_place`` and ``doc_place``, line and column of the passages' beginnings.
    place_marker
        Cite passages by the last match of this regular expression (RE2) at or before them, or its
        first group; ``^`` is the beginning of a line.
    with_text
        Add the columns ``query_text`` and ``doc_text``.
    text, read, run
        Tokens and shingles, input, and threads, memory or Spark.

    Returns
    -------
    ``passages`` and a ``summary`` with the counts, the skipped rows and the predicted recall.
    Passages are ``query_id, query_start, query_end, doc_id, doc_start, doc_end, similarity``:
    places in characters of the original texts, ends exclusive; in the order of the documents of
    ``data`` and of places in them. The similarity is that of the two whole passages, and the true
    one; copies of a token count in it, with tf ``binary`` too.
    Rows of ``document_pairs`` are ``query_id, doc_id, passages, longest, query_shared, doc_shared,
    query_share, doc_share``: the number of passages, the tokens of the longest, the tokens of
    either text that are in one, and which part of it that is, without ignored ones; the pairs of
    which one has the greatest part from the other come first.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.

    Notes
    -----
    The passages do not depend on ``memory``; they take about 150 bytes each in addition to it, and
    their texts. Indexed documents take 2.3 bytes of files per byte of text.

    Examples
    --------
    >>> import neardup
    >>> old = "It was the best of times, it was the worst of times, it was the age of wisdom"
    >>> new = "He wrote: it was the best of days, it was the worst of days, it was the age of fools"
    >>> found = neardup.align([new], [old], min_tokens=10)
    >>> found.passages.select(["query_start", "query_end", "doc_start", "doc_end"]).to_pylist()
    [{'query_start': 10, 'query_end': 78, 'doc_start': 0, 'doc_end': 70}]
    """
    given = merge(
        AlignSchemeOptions,
        *(text, read),
        threshold=threshold,
        measure=measure,
        min_tokens=min_tokens,
        preset=preset,
        max_documents=max_documents,
        within=within,
        summary=summary,
        recall=recall,
        places=places,
        place_marker=place_marker,
        with_text=with_text,
    )
    job = AlignJob(given, resolve_inputs, data, against, ignore)
    with open_engine(run, "align", job.sources) as engine:
        result = job.run(engine)
    return with_warning(result)
