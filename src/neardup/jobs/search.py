"""Search of an index for documents or passages, with tables."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from neardup.documents.open_documents import OpenDocuments, look_up_block
from neardup.engine.engine import Engine, TaskResources, each_block
from neardup.files.arrowcolumns import joined
from neardup.files.documents import choose_id_column, common_id_type
from neardup.files.inputs import passed_over
from neardup.files.rows import Source
from neardup.index.open_index import SharedIndex
from neardup.options.document_options import DocumentSearchOptions
from neardup.options.kinds import exact_fraction
from neardup.options.passage_options import SearchOptions
from neardup.passages.document_blocks import DocumentBlock, DocumentReading
from neardup.passages.open_passages import OpenPassages
from neardup.passages.passage_lookup import WindowCounts, find_whole
from neardup.passages.passage_matches import PassageMatches, Placer, count_marked
from neardup.passages.search_plan import SearchPlan, candidate_probability, make_search_plan
from neardup.reading.sign import describe_filtered
from neardup.results import (
    DocumentSearchResult,
    PassageResult,
    QueryCounts,
    describe_ids,
    describe_skipped,
)
from neardup.stages.options import columns_of, hints_of_letters, hints_of_short
from neardup.stages.passage_queries import Find, query_passages
from neardup.tables import Int64s

_COLUMNS = ["query_id", "doc_id", "similarity"]

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
    measure = index.scheme.measure_at(options.threshold)
    start = time.perf_counter()
    columns, shingles = choose_id_column(columns_of(options), sources), index.scheme.shingles
    look_up = partial(look_up_block, shared, columns, measure, options.limit, options.skip_bad)
    counts, id_types = QueryCounts(), set[pa.DataType]()
    tables, documents = [], [np.empty(0, np.int64)]
    with engine.stage("search") as note:
        for part in engine.stream("search", sources, look_up, each_block):
            hits = part.hits
            counts.add(part.n_tokens, shingles.ngram, hits.queries, part.skipped)
            id_types |= {part.ids.type} if len(part.ids) else set()
            found = part.ids.take(pa.array(hits.queries)), index.ids_of(hits.documents)
            tables.append(pa.table([*found, hits.similarities], _COLUMNS))
            documents.append(hits.documents)
        kinds = common_id_type(id_types), index.id_type, pa.float64()
        schema = pa.schema(list(zip(_COLUMNS, kinds, strict=True)))
        table = pa.concat_tables([schema.empty_table(), *(each.cast(schema) for each in tables)])
        if with_columns:
            table = _with_columns(table, np.concatenate(documents), index)
        note(queries=counts.n_queries, documents=len(table))
    summary = {
        "queries": counts.n_queries,
        "found_queries": counts.n_found,
        "matches": counts.n_results,
        "empty_queries": counts.n_empty,
        "measure": measure.name,
        "threshold": float(measure.threshold),
        "predicted_recall": index.scheme.predicted_recall(measure),
        **describe_skipped(counts.skipped),
        **describe_filtered(sources),
        "seconds": round(time.perf_counter() - start, 3),
        "passed_over": passed_over(sources),
        "hints": hints_of_short(counts.n_queries, counts.n_short, shingles)
        if index.n_documents
        else [],
    }
    summary |= describe_ids(columns) | engine.describe()
    return DocumentSearchResult(table, summary)


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


def _find_whole(plan: SearchPlan, index: OpenPassages, task: TaskResources) -> Find:
    def find(block: DocumentBlock) -> tuple[PassageMatches, WindowCounts]:
        found = find_whole(index, block.tokens, plan, task.workspace, task.runner, task.report)
        return found, WindowCounts()

    return find


def search_passages(
    engine: Engine,
    shared: SharedIndex[OpenPassages],
    sources: Sequence[Source],
    options: SearchOptions,
) -> PassageResult:
    """Look up every document of some sources as a query."""
    start = time.perf_counter()
    scheme = shared.opened.scheme
    threshold = exact_fraction("threshold", options.threshold)
    recall = None if options.recall is None else exact_fraction("recall", options.recall)
    plan = make_search_plan(scheme, threshold, recall, options.most_times)
    # An invalid marker raises before anything is read.
    Placer(options.place_marker)
    reading = DocumentReading(columns_of(options), options.skip_bad).for_sources(sources)
    with engine.stage("search") as note:
        find, least = partial(_find_whole, plan), scheme.least_shingles
        found = query_passages(engine, "search", shared, sources, reading, find, options, least)
        counts, table = found.counts, found.table
        note(queries=counts.n_queries, passages=len(table))
    hints = []
    if shared.opened.n_documents and options.preset is None:
        hints = hints_of_letters(scheme.shingles, sources, reading.columns)
    summary = {
        "queries": counts.n_queries,
        "found_queries": counts.n_found,
        "passages": len(table),
        "empty_queries": counts.n_empty,
        "short_queries": counts.n_short,
        "least_hits": plan.hits,
        "predicted_recall": candidate_probability(scheme.num_perm, plan.hits, threshold),
        **describe_skipped(counts.skipped),
        "seconds": round(time.perf_counter() - start, 3),
        **({} if options.place_marker is None else {"marked_places": count_marked(table)}),
        **options.describe_preset(),
        "passed_over": passed_over(sources),
        **describe_filtered(sources),
        "hints": hints,
        **describe_ids(reading.columns),
        **engine.describe(),
    }
    return PassageResult(table, summary)
