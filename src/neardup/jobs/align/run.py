"""The stages of an alignment in order, from documents to shared passages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.files.ids import common_id_type
from neardup.files.input_options import check_effect
from neardup.files.inputs import passed_over
from neardup.files.passes import ReadingPass
from neardup.files.rows import Source
from neardup.jobs.align.other import NewDocuments, Other, open_other
from neardup.jobs.align.plan import most_documents, plan_alignment, widest_gap
from neardup.options.passages import AlignOptions
from neardup.passages.align import Aligner, AlignmentPlan, certain_length, make_window_scheme
from neardup.passages.document_pairs import (
    PAIR_SCHEMA,
    HiddenText,
    count_pairs,
    order_pairs,
    pair_table,
)
from neardup.passages.documents import ReadOptions, least_run, read_documents, runs_of
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import Later, WindowCounts
from neardup.passages.matches import SCHEMA, SCHEMA_WITH_TEXT, excerpts, match_table, with_id_types
from neardup.passages.search import candidate_probability
from neardup.results import NO_COLUMNS, SkippedRow, describe_ids, describe_skipped
from neardup.runs.runner import Runner
from neardup.stages.found import PassageResult
from neardup.stages.options import columns_of
from neardup.tables import Int64s


def read_templates(
    templates: Sequence[Source],
    other: Other,
    read: ReadOptions,
    min_tokens: int | None,
    runner: Runner,
) -> HiddenText:
    """Read the templates as the texts of an alignment are read, ids apart."""
    if isinstance(other, NewDocuments):
        scheme = make_window_scheme(other.min_tokens, **other.scheme)
    else:
        scheme = other.view(runner).scheme
    length = least_run(scheme.min_tokens if min_tokens is None else min_tokens)
    read = replace(read, columns=read.columns.only_text())
    with runner.stage("ignore") as note:
        reading = ReadingPass("ignore", templates, runner)
        blocks = read_documents(templates, scheme.tokenizer, read, reading)
        runs = runs_of((block.tokens for block in blocks), scheme.count_shingles(length))
        note(runs=sum(len(hashes) for _, hashes in runs.hashes))
    return HiddenText(runs, scheme.tokenizer)


def ignoring(other: Other, hidden: HiddenText) -> Other:
    """Return a collection whose text is read without what is hidden; an index keeps its text."""
    if not isinstance(other, NewDocuments):
        return other
    return replace(other, read=replace(other.read, ignored=hidden.runs))


@dataclass
class AlignCounts:
    """What an alignment has met so far, and how often windows were looked up for it."""

    lookups: WindowCounts
    n_queries: int = 0
    n_empty: int = 0
    n_short: int = 0
    n_aligned: int = 0
    n_pairs: int = 0
    n_ignored: int = 0
    skipped: list[SkippedRow] = field(default_factory=list)


def align_collections(
    sources: Sequence[Source],
    other: Other,
    options: AlignOptions,
    runner: Runner,
    ignore: Sequence[Source] = (),
) -> PassageResult:
    """Find all passages that the documents of some sources share with another collection.

    If that is the same collection, each pair of documents comes once, the earlier as the query.
    Text that a document of ``ignore`` has is taken for not written; in an index it stays.
    """
    is_one = isinstance(other, NewDocuments) and other.is_input
    new = other.sources if isinstance(other, NewDocuments) and not is_one else ()
    check_effect(options, sources, new, ignore)
    start = time.perf_counter()
    read, of_other = (
        ReadOptions(columns_of(options), options.skip_bad).for_sources(sources),
        NO_COLUMNS,
    )
    if isinstance(other, NewDocuments):
        options = options.but(min_tokens=other.min_tokens)
        other = replace(other, read=other.read.for_sources(other.sources))
        of_other = NO_COLUMNS if is_one else other.read.columns
        # What cannot be is refused before anything is read.
        plan_alignment(options, make_window_scheme(other.min_tokens, **other.scheme))
    else:
        options.check_no_other("with an index", "align with documents")
    hidden = None
    if ignore:
        hidden = read_templates(ignore, other, read, options.min_tokens, runner)
        read, other = replace(read, ignored=hidden.runs), ignoring(other, hidden)
    with open_other(other, runner) as (index, skipped), runner.stage("align") as note:
        most = most_documents(options.max_documents, index.n_documents)
        plan = replace(plan_alignment(options, index.scheme), max_documents=most)
        aligner = Aligner(index, plan, runner)
        # A collection that is read twice has each bad row once.
        counts = AlignCounts(aligner.counts, skipped=[] if is_one else skipped)
        id_types: set[pa.DataType] = set()
        tables = [(SCHEMA_WITH_TEXT if options.has_texts else SCHEMA).empty_table()]
        pairs = [PAIR_SCHEMA.empty_table()]
        aligned: list[Int64s] = [np.empty(0, np.int64)]
        reading = ReadingPass("align", sources, runner)
        for block in read_documents(sources, index.scheme.tokenizer, read, reading):
            later = _later(counts.n_queries, len(block), options) if is_one else None
            matches = aligner.align(block.tokens, reading.within, later)
            passages = match_table(matches, block, index, with_text=options.has_texts)
            if options.excerpt is not None:
                passages = excerpts(passages, options.excerpt)
            tables.append(passages)
            counts.n_pairs += count_pairs(matches)
            if options.summary is not None:
                pairs.append(pair_table(matches, passages, block, index, hidden))
            aligned.append(np.unique(matches.queries) + counts.n_queries)
            if is_one:
                aligned.append(np.unique(matches.documents))
            _count(counts, np.diff(block.tokens.offsets), plan.min_tokens)
            counts.n_ignored += block.n_ignored
            counts.skipped.extend(block.skipped)
            id_types |= {block.ids.type} if len(block) else set()
        counts.n_aligned = len(np.unique(np.concatenate(aligned)))
        query_type = common_id_type(id_types)
        table = with_id_types(pa.concat_tables(tables), query_type, index)
        of_documents = None
        if options.summary is not None:
            of_documents = with_id_types(order_pairs(pa.concat_tables(pairs)), query_type, index)
        note(documents=counts.n_queries, windows=aligner.counts.windows, passages=len(table))
        summary = _summary(table, counts, plan, index, time.perf_counter() - start)
        if is_one:
            for name in ("documents", "empty_documents", "short_documents"):
                summary[name] = summary[name][:1]
    summary["gap"] = widest_gap(options)
    summary["passed_over"] = passed_over(sources, new)
    return PassageResult(table, summary | describe_ids(read.columns, of_other), of_documents)


def _later(first: int, n_documents: int, options: AlignOptions) -> Later:
    """Return what documents of a collection find in it: later ones, or themselves, too."""
    own = np.arange(first, first + n_documents, dtype=np.int64)
    return Later(own if options.within else own + 1, np.full(n_documents, options.within))


def _count(counts: AlignCounts, sizes: Int64s, min_tokens: int) -> None:
    """Count documents of INPUT by their numbers of tokens."""
    counts.n_queries += len(sizes)
    counts.n_empty += int((sizes == 0).sum())
    counts.n_short += int(((sizes > 0) & (sizes < min_tokens)).sum())


def _summary(
    table: pa.Table, counts: AlignCounts, plan: AlignmentPlan, index: OpenPassages, seconds: float
) -> dict[str, Any]:
    search, lookups = plan.search, counts.lookups
    recall = candidate_probability(index.scheme.num_perm, search.hits, search.threshold)
    sizes = index.document_sizes()
    return {
        "documents": [counts.n_queries, index.n_documents],
        "empty_documents": [counts.n_empty, int((sizes == 0).sum())],
        "short_documents": [
            counts.n_short,
            int(((sizes > 0) & (sizes < plan.min_tokens)).sum()),
        ],
        "threshold": float(search.threshold),
        "min_tokens": index.scheme.count_tokens(plan.min_tokens),
        "ignored_tokens": counts.n_ignored,
        "aligned_documents": counts.n_aligned,
        "passages": len(table),
        "document_pairs": counts.n_pairs,
        "max_documents": plan.max_documents,
        "windows": lookups.windows,
        "frequent_windows": lookups.frequent_windows,
        "hits": lookups.hits,
        "certain_tokens": index.scheme.count_tokens(certain_length(plan)),
        "predicted_recall": recall,
        **describe_skipped(counts.skipped),
        "seconds": round(seconds, 3),
    }
