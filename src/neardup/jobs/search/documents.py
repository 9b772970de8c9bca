"""Search: queries read, looked up in an index of documents, and reported as a table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from neardup.documents.index import OpenDocuments
from neardup.documents.lookup import Hits, in_rank_order, look_up
from neardup.files.ids import choose_id_column, common_id_type
from neardup.files.inputs import check_effect, passed_over
from neardup.files.rows import Source
from neardup.options.documents import DocumentSchemeOptions, DocumentSearchOptions
from neardup.reading.where import describe_filtered
from neardup.results import DocumentSearchResult, SkippedRow, describe_ids, describe_skipped
from neardup.runs.runner import Runner
from neardup.stages.hints import Beginnings, Remedies, hints_of_documents
from neardup.stages.options import columns_of
from neardup.tables import Int64s

if TYPE_CHECKING:
    from neardup.outputs.summary_records import DocumentSearchSummary


@dataclass
class _Counts:
    """What a search has met so far."""

    n_queries: int = 0
    n_empty: int = 0
    n_short: int = 0
    n_found: int = 0
    skipped: list[SkippedRow] = field(default_factory=list)


def search_documents(
    index: OpenDocuments,
    sources: Sequence[Source],
    options: DocumentSearchOptions,
    runner: Runner,
) -> DocumentSearchResult:
    """Look up every document of some sources as a query."""
    check_effect(options, sources)
    measure = index.scheme.measure_at(options.threshold)
    start = time.perf_counter()
    columns = choose_id_column(columns_of(options), sources)
    counts, id_types = _Counts(), set()
    shingles = index.scheme.shingles
    ngram = shingles.ngram
    tables: list[pa.Table] = []
    with runner.stage("search") as note:
        skip_bad = options.skip_bad
        for found in look_up(index, sources, columns, measure, runner, skip_bad=skip_bad):
            rows, hits = found.rows, in_rank_order(found.hits)
            hits = hits.take(first_of_each(hits.queries, options.limit))
            counts.n_queries += len(rows)
            counts.n_empty += int((found.n_tokens == 0).sum())
            is_short = (found.n_tokens > 0) & (found.n_tokens < ngram)
            counts.n_short += int(is_short.sum())
            counts.n_found += len(np.unique(hits.queries))
            counts.skipped += rows.skipped
            id_types |= {rows.ids.type} if len(rows) else set()
            tables.append(_table(rows.ids, hits, index))
        table = _join(tables, common_id_type(id_types), index)
        note(queries=counts.n_queries, documents=len(table))
    summary = {
        "queries": counts.n_queries,
        "found_queries": counts.n_found,
        "matches": len(table),
        "empty_queries": counts.n_empty,
        "measure": measure.name,
        "threshold": float(measure.threshold),
        "predicted_recall": index.scheme.predicted_recall(measure),
        **describe_skipped(counts.skipped),
        **describe_filtered(sources),
        "seconds": round(time.perf_counter() - start, 3),
        "passed_over": passed_over(sources),
        "hints": hints_of_documents(
            Remedies.of_index(DocumentSchemeOptions, shingles, index.scheme.usual_ngram, "queries"),
            Beginnings(sources, columns),
            n_documents=counts.n_queries,
            n_short=counts.n_short,
            shingles=shingles,
        )
        if index.n_documents
        else [],
    }
    summary |= describe_ids(columns)
    return DocumentSearchResult(table, cast("DocumentSearchSummary", summary))


def first_of_each(queries: Int64s, limit: int | None) -> Int64s:
    """Return the places of the first rows of each query, at most so many; queries ascend."""
    if limit is None:
        return np.arange(len(queries))
    starts = np.searchsorted(queries, queries)
    return np.flatnonzero(np.arange(len(queries)) - starts < limit)


def _table(ids: pa.Array, hits: Hits, index: OpenDocuments) -> pa.Table:
    return pa.table(
        {
            "query_id": ids.take(pa.array(hits.queries)),
            "doc_id": index.ids_of(hits.documents),
            "similarity": hits.similarities,
        }
    )


def _join(tables: Sequence[pa.Table], id_type: pa.DataType, index: OpenDocuments) -> pa.Table:
    schema = pa.schema(
        [("query_id", id_type), ("doc_id", index.id_type), ("similarity", pa.float64())]
    )
    return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in tables)])
