"""Search: queries read, looked up, and told as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa

from neardup.files.rows import Source
from neardup.jobs.document_options import ReadingOptions
from neardup.options.choices import Report
from neardup.options.jobs import FUNCTIONS
from neardup.options.kinds import exact_fraction
from neardup.passages.documents import DocumentBlock, ReadOptions, read_documents
from neardup.passages.index import OpenIndex
from neardup.passages.lookup import Lookup
from neardup.passages.matches import SCHEMA, SCHEMA_WITH_TEXT, Matches, match_table
from neardup.passages.query import make_queries
from neardup.passages.recall import candidate_probability
from neardup.passages.search import SearchPlan, make_search_plan
from neardup.passages.windows_table import WINDOW_SCHEMA, window_table
from neardup.runtime.progress import Progress


@dataclass(frozen=True, kw_only=True)
class SearchOptions(ReadingOptions):
    """What decides the result of a search; see ``PassageIndex.search`` for the meanings."""

    known = FUNCTIONS["PassageIndex.search"]

    threshold: str | float | Decimal | Fraction = "0.8"
    recall: str | float | Decimal | Fraction = "0.99"
    report: Report = "best"
    with_text: bool = False

    @property
    def read(self) -> ReadOptions:
        """How queries are read."""
        return ReadOptions(self.columns, self.skip_bad)


@dataclass
class SearchSummary:
    """What a search did."""

    n_queries: int = 0
    n_empty: int = 0
    n_short: int = 0
    n_found: int = 0
    n_passages: int = 0
    least_hits: int = 0
    predicted_recall: float = 1.0
    skipped: list[tuple[str, int, str]] = field(default_factory=list)


def make_plan(options: SearchOptions, index: OpenIndex) -> SearchPlan:
    """Work out what a search has to look for in an index."""
    threshold = exact_fraction("threshold", options.threshold)
    recall = exact_fraction("recall", options.recall)
    return make_search_plan(index.scheme, threshold, recall, options.report)


def search_sources(
    index: OpenIndex,
    sources: Sequence[Source],
    options: SearchOptions,
    workers: int,
    progress: Progress,
) -> tuple[pa.Table, SearchSummary]:
    """Look up every document of some sources as a query."""
    plan = make_plan(options, index)
    lookup = Lookup(index, workers)
    summary = SearchSummary(
        least_hits=plan.hits,
        predicted_recall=candidate_probability(index.scheme.num_perm, plan.hits, plan.threshold),
    )
    tables = []
    queries = read_documents(
        sources, index.scheme.tokenizer, options.read, workers=workers, progress=progress
    )
    for block in queries:
        _count(summary, block, index)
        made = list(make_queries(block.tokens, index.scheme, index.frequencies))
        if options.report == "windows":
            tables.append(window_table(lookup.windows(made, plan), block, index))
        else:
            found = lookup.find(made, plan)
            sizes = np.diff(block.tokens.offsets)
            matches = Matches(
                found.queries,
                np.zeros(len(found), np.int64),
                sizes[found.queries],
                found.documents,
                found.starts,
                found.stops,
                found.similarities,
            )
            tables.append(match_table(matches, block, index, with_text=options.with_text))
        summary.n_found += len(tables[-1]["query_id"].unique())
        progress("search", summary.n_queries, None)
    schema = SCHEMA_WITH_TEXT if options.with_text else SCHEMA
    empty = (WINDOW_SCHEMA if options.report == "windows" else schema).empty_table()
    table = pa.concat_tables([empty, *tables])
    summary.n_passages = len(table)
    return table, summary


def _count(summary: SearchSummary, block: DocumentBlock, index: OpenIndex) -> None:
    sizes = np.diff(block.tokens.offsets)
    summary.n_queries += len(block)
    summary.n_empty += int((sizes == 0).sum())
    summary.n_short += int(((sizes > 0) & (sizes < index.scheme.min_tokens)).sum())
    summary.skipped.extend(block.skipped)
