"""``align``: passages shared by two collections, or within one.

Windows of documents are looked up, their hits chained, and the ends of passages refined.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neardup.documents.other import resolve_other
from neardup.engine.engine import Engine, Means
from neardup.engine.opening import key_of, key_with_index, open_engine
from neardup.files.documents import ReadingPass, keep_extracted
from neardup.files.inputs import Inputs, passed_over, resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.align_other import (
    NewDocuments,
    Other,
    choose_other,
    describe_choices,
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
from neardup.options.kinds import percent_of
from neardup.options.option import merge, no_effect
from neardup.options.passages import AlignOptions, PassageTokenOptions
from neardup.passages.align import Aligner, AlignmentPlan, certain_length
from neardup.passages.documents import (
    DocumentBlock,
    IgnoredRuns,
    PassageReading,
    least_run,
    read_documents,
    runs_of,
)
from neardup.passages.index import OpenPassages, PassageHandle
from neardup.passages.lookup import Later, WindowCounts
from neardup.passages.matches import PassageMatches, Placer, count_marked, pair_table
from neardup.reading.sign import describe_filtered, rows_where
from neardup.results import NO_COLUMNS, PassageResult, describe_ids, describe_skipped
from neardup.runs.runner import Runner
from neardup.stages.options import columns_of, has_chosen, hints_of_letters, with_warning
from neardup.stages.passage_queries import Find, query_passages


def _find_windows(
    plan: AlignmentPlan, options: AlignOptions, is_one: bool, index: OpenPassages, means: Means
) -> Find:
    aligner = Aligner(index, plan, means.workspace, means.runner)

    def find(block: DocumentBlock) -> tuple[PassageMatches, WindowCounts]:
        later = None
        if is_one:
            own, within = index.documents_of_ids(block.ids), options.within
            # Containment is not symmetric, so both directions are searched.
            is_both = options.most_times > 0
            firsts = own if within or is_both else own + 1
            later = Later(firsts, np.full(len(own), within), finds_before=is_both)
        return aligner.align(block.tokens, means.report, later), aligner.take_counts()

    return find


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
        given: AlignOptions,
        resolve: Callable[[Any, AlignOptions], Inputs],
        data: Any,
        against: Any = None,
        ignore: Any = None,
        *,
        named: Any = None,
        names: tuple[str, str] = ("data", "against"),
    ) -> None:
        self.options, has_other = given, against is not None
        self.options.check_other(names[1], is_given=has_other)
        if self.options.within and has_other:
            raise no_effect("within", f"with {names[1]}", f"align {names[0]} alone", names[1])
        # Options of a new index. Not by ==, because 0 == False.
        chosen = {
            name: getattr(given, name)
            for name, option in PassageTokenOptions.known.items()
            if getattr(given, name) is not option.default
        }
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
        """Find all shared passages.

        In one collection, each pair of documents comes once, with the earlier as query; contained
        passages are searched in both directions. Text of templates is removed, but not from an
        index.
        """
        options, other, sources = self.options, self.other, self.sources
        read = PassageReading(columns_of(options), options.skip_bad)
        is_one = isinstance(other, NewDocuments) and other.is_input
        new = other.sources if isinstance(other, NewDocuments) and not is_one else ()
        if is_one:
            keep_extracted(engine.workspace, sources)
        # An invalid marker raises before anything is read.
        Placer(options.place_marker)
        start = time.perf_counter()
        hints: list[dict[str, str]] = []
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
        if self.templates:
            ignored = read_templates(self.templates, other, read, options.min_tokens, engine.runner)
            read = replace(read, ignored=ignored)
            # An index keeps its text.
            if isinstance(other, NewDocuments):
                other = replace(other, read=replace(other.read, ignored=ignored))
        with open_other(engine, other) as (shared, skipped), engine.stage("align") as note:
            index = shared.opened
            sizes = index.document_sizes()
            most = options.max_documents
            if isinstance(most, str):
                most = max(int(percent_of(most) * len(sizes)), 2)
            plan = replace(plan_alignment(options, index.scheme), max_documents=most)
            found = query_passages(
                *(engine, "align", shared, sources, read),
                *(partial(_find_windows, plan, options, is_one), options, plan.min_tokens),
            )
            counts, table, pairs = found.counts, found.table, found.pairs
            # A collection that is read twice lists each bad row once.
            counts.skipped = [*(() if is_one else skipped), *counts.skipped]
            note(documents=counts.n_queries, windows=found.windows.windows, passages=len(table))
            numbers = pairs[:, 0] * len(sizes) + pairs[:, 1]
            scheme = index.scheme
            summary = {
                "documents": [counts.n_queries, len(sizes)],
                "empty_documents": [counts.n_empty, int((sizes == 0).sum())],
                "short_documents": [
                    counts.n_short,
                    int(((sizes > 0) & (sizes < plan.min_tokens)).sum()),
                ],
                "threshold": float(plan.threshold),
                "min_tokens": scheme.count_tokens(plan.min_tokens),
                "ignored_tokens": found.n_ignored,
                "aligned_documents": len(np.unique(pairs if is_one else pairs[:, 0])),
                "passages": len(table),
                "document_pairs": len(np.unique(numbers)),
                "max_documents": plan.max_documents,
                **vars(found.windows),
                "window_tokens": scheme.count_tokens(plan.length),
                "window_threshold": float(plan.search.threshold),
                "certain_tokens": scheme.count_tokens(certain_length(plan)),
                "predicted_recall": recall_of(plan),
                **describe_skipped(counts.skipped),
                "seconds": round(time.perf_counter() - start, 3),
            }
            if is_one:
                for name in ("documents", "empty_documents", "short_documents"):
                    summary[name] = summary[name][:1]
        summary["gap"] = usual_of(options).gap
        summary["hints"] = hints
        summary |= describe_filtered(sources) | engine.describe()
        summary["passed_over"] = passed_over(sources, new)
        summary |= describe_choices(
            options, other.scheme if isinstance(other, NewDocuments) else {}
        )
        summary |= describe_ids(read.columns, of_other)
        if options.place_marker is not None:
            summary["marked_places"] = count_marked(table)
        document_pairs = None
        if options.summary is not None:
            document_pairs = pair_table(table, numbers, found.extents)
        return PassageResult(table, summary, document_pairs)


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
    given = merge(AlignOptions, locals())
    job = AlignJob(given, resolve_inputs, data, against, ignore)
    with open_engine(run, job.sources) as engine:
        result = job.run(engine)
    return with_warning(result)
