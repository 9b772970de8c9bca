"""Search of an index for documents or passages, with tables."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.lookup import (
    LookedUp,
    OpenDocuments,
    look_up_block,
)
from neardup.documents.scheme import DocumentScheme
from neardup.engine.engine import Engine, Means, each_block
from neardup.files.arrowcolumns import joined
from neardup.files.documents import choose_id_column, common_id_type
from neardup.files.inputs import passed_over
from neardup.files.rows import Source
from neardup.index.index import SharedIndex
from neardup.matching.measures import Measure
from neardup.options.documents import DocumentSearchOptions
from neardup.options.kinds import exact_fraction
from neardup.options.passages import SearchOptions
from neardup.passages.documents import DocumentBlock, PassageReading, gather, read_document_block
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import find_whole, tokens_at_a_time, within_memory
from neardup.passages.matches import Placer, count_marked, match_table, schema_of, with_id_types
from neardup.passages.plan import SearchPlan, candidate_probability, make_search_plan
from neardup.reading.sign import describe_filtered
from neardup.results import (
    DocumentSearchResult,
    PassageResult,
    QueryCounts,
    SkippedRow,
    describe_ids,
    describe_skipped,
)
from neardup.runs.runner import release_memory
from neardup.stages.options import columns_of, hints_of_letters, hints_of_short
from neardup.tables import Int64s

# Documents whose columns are read at once.
_READ_AT_ONCE = 1024


def search_documents(
    engine: Engine,
    shared: SharedIndex[OpenDocuments],
    sources: Sequence[Source],
    options: DocumentSearchOptions,
    *,
    with_columns: bool = False,
) -> DocumentSearchResult:
    """Look up source documents among the documents of an index."""
    index = shared.opened
    measure = measure_of(index.scheme, options)
    start = time.perf_counter()
    columns = choose_id_column(columns_of(options), sources)
    shingles = index.scheme.shingles
    look_up = partial(look_up_block, shared, columns, measure, options.number, options.skip_bad)
    with engine.stage("search") as note:
        found = engine.stream("search", sources, look_up, each_block)
        table, counts, least = _collect(found, index, options, with_columns=with_columns)
        note(queries=counts.n_queries, documents=len(table))
    summary = {
        **_describe(counts, least, index.scheme, options),
        **describe_skipped(counts.skipped),
        **describe_filtered(sources),
        "seconds": round(time.perf_counter() - start, 3),
        "passed_over": passed_over(sources),
        "hints": hints_of_short(
            counts.n_queries, counts.n_short, shingles, noun="queries", is_of_index=True
        )
        if index.n_documents
        else [],
    }
    summary |= describe_ids(columns) | engine.describe_cluster()
    return DocumentSearchResult(table, summary)


def _collect(
    found: Iterable[LookedUp],
    index: OpenDocuments,
    options: DocumentSearchOptions,
    *,
    with_columns: bool,
) -> tuple[pa.Table, QueryCounts, float]:
    """Return the table of all matches, the counts, and the least similarity."""
    n_asked = 0 if options.top is None else min(options.top, index.n_documents)
    counts, id_types, least = QueryCounts(n_asked), set[pa.DataType](), 1.0
    tables: list[pa.Table] = []
    documents: list[Int64s] = [np.empty(0, np.int64)]
    for part in found:
        hits = part.hits
        counts.add(part.n_tokens, index.scheme.shingles.ngram, hits.queries, part.skipped)
        least = float(hits.similarities.min(initial=least))
        id_types |= {part.ids.type} if len(part.ids) else set()
        columns = {
            "query_id": part.ids.take(pa.array(hits.queries)),
            "doc_id": index.ids_of(hits.documents),
            "similarity": hits.similarities,
        }
        tables.append(pa.table(columns))
        documents.append(hits.documents)
    schema = pa.schema(
        [
            ("query_id", common_id_type(id_types)),
            ("doc_id", index.id_type),
            ("similarity", pa.float64()),
        ]
    )
    table = pa.concat_tables([schema.empty_table(), *(each.cast(schema) for each in tables)])
    if with_columns:
        table = _with_columns(table, np.concatenate(documents), index)
    return table, counts, least


def measure_of(scheme: DocumentScheme, options: DocumentSearchOptions) -> Measure:
    """Return the measure of a search, at its threshold."""
    if options.top is not None:
        return scheme.measure_of_top(options.threshold)
    return scheme.measure_at(options.threshold)


def _describe(
    counts: QueryCounts, least: float, scheme: DocumentScheme, options: DocumentSearchOptions
) -> dict[str, Any]:
    """Describe options, results, and the recall at the least guaranteed similarity."""
    measure = measure_of(scheme, options)
    summary: dict[str, Any] = {
        "queries": counts.n_queries,
        "found_queries": counts.n_found,
        "matches": counts.n_results,
        "empty_queries": counts.n_empty,
        "measure": measure.name,
        "threshold": float(measure.threshold),
        "predicted_recall": scheme.predicted_recall(measure),
    }
    if options.top is not None:
        # Missed documents of a full query are less similar than its last one; for a query with
        # fewer documents, their similarity is unknown.
        least = least if counts.n_results else float(scheme.measure.threshold)
        least = max(math.floor(least * 1000), 1) / 1000
        summary |= {
            "top": options.top,
            "threshold": 0.0 if options.threshold is None else summary["threshold"],
            "least_similarity": least,
            "incomplete_queries": counts.n_incomplete,
            "predicted_recall": scheme.predicted_recall(type(measure).parse(least)),
        }
    return summary


def _with_columns(table: pa.Table, documents: Int64s, index: OpenDocuments) -> pa.Table:
    names = list(index.columns)
    distinct, places = np.unique(documents, return_inverse=True)
    parts = [pa.table({name: pa.nulls(0) for name in names})]
    for start in range(0, len(distinct), _READ_AT_ONCE):
        # The texts are read with them, and dropped.
        parts.append(index.read_rows(distinct[start : start + _READ_AT_ONCE]).select(names))
    columns = joined(parts)
    for name in names:
        table = table.append_column(f"doc_{name}", columns[name].take(pa.array(places)))
    return table


def _plan_search(options: SearchOptions, index: OpenPassages) -> SearchPlan:
    threshold = exact_fraction("threshold", options.threshold)
    recall = None if options.recall is None else exact_fraction("recall", options.recall)
    return make_search_plan(index.scheme, threshold, recall, options.most_times)


@dataclass(frozen=True)
class Searched:
    """Queries in input order, and the passages found for them.

    ``sizes`` are their numbers of tokens. ``queries`` numbers each passage's query among these.
    """

    sizes: Int64s
    id_type: pa.DataType
    passages: pa.Table
    queries: Int64s
    skipped: Sequence[SkippedRow]


def _find_passages(
    shared: SharedIndex[OpenPassages],
    plan: SearchPlan,
    placer: Placer | None,
    with_text: bool,
    blocks: Iterator[DocumentBlock],
    means: Means,
) -> Iterator[Searched]:
    workspace, runner = means.workspace, means.runner
    index = within_memory(shared.opened, workspace)
    for block in gather(blocks, tokens_at_a_time([index], workspace, runner)):
        found = find_whole(index, block.tokens, plan, workspace, runner, means.report)
        passages = match_table(found, block, index, with_text=with_text, placer=placer)
        sizes = np.diff(block.tokens.offsets)
        yield Searched(sizes, block.ids.type, passages, found.queries, block.skipped)
        if index.gives_back:
            release_memory()


def search_passages(
    engine: Engine,
    shared: SharedIndex[OpenPassages],
    sources: Sequence[Source],
    options: SearchOptions,
) -> PassageResult:
    """Look up every document of some sources as a query."""
    start = time.perf_counter()
    index = shared.opened
    plan = _plan_search(options, index)
    placer = Placer(options.place_marker) if options.has_places else None
    counts = QueryCounts()
    id_types: set[pa.DataType] = set()
    reading = PassageReading(columns_of(options), options.skip_bad).for_sources(sources)
    schema = schema_of(with_text=options.with_text, with_places=options.has_places)
    tables = [schema.empty_table()]
    read = partial(read_document_block, tokenizer=index.scheme.tokenizer, options=reading)
    find = partial(_find_passages, shared, plan, placer, options.with_text)
    with engine.stage("search") as note:
        for found in engine.stream("search", sources, read, find):
            tables.append(found.passages)
            id_types |= {found.id_type} if len(found.sizes) else set()
            counts.add(found.sizes, index.scheme.least_shingles, found.queries, found.skipped)
        table = with_id_types(pa.concat_tables(tables), common_id_type(id_types), index.id_type)
        note(queries=counts.n_queries, passages=len(table))
    summary = _summary(table, counts, plan, index, time.perf_counter() - start)
    if options.place_marker is not None:
        summary["marked_places"] = count_marked(table)
    summary |= options.describe_preset() | {"passed_over": passed_over(sources)}
    summary |= describe_filtered(sources)
    summary["hints"] = []
    if index.n_documents and options.preset is None:
        shingles = index.scheme.shingles
        summary["hints"] = hints_of_letters(shingles, sources, reading.columns, is_of_index=True)
    summary |= describe_ids(reading.columns) | engine.describe_cluster()
    return PassageResult(table, summary)


def _summary(
    table: pa.Table, counts: QueryCounts, plan: SearchPlan, index: OpenPassages, seconds: float
) -> dict[str, Any]:
    return {
        "queries": counts.n_queries,
        "found_queries": counts.n_found,
        "passages": len(table),
        "empty_queries": counts.n_empty,
        "short_queries": counts.n_short,
        "least_hits": plan.hits,
        "predicted_recall": candidate_probability(index.scheme.num_perm, plan.hits, plan.threshold),
        **describe_skipped(counts.skipped),
        "seconds": round(seconds, 3),
    }
