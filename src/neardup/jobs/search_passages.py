"""Search of passages: read queries, look them up in an index, make a table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engine.engine import Engine, Means
from neardup.files.ids import common_id_type
from neardup.files.inputs import check_effect, passed_over
from neardup.files.rows import Source
from neardup.options.kinds import exact_fraction
from neardup.options.passages import SearchOptions
from neardup.passages.additions import gather
from neardup.passages.documents import DocumentBlock, PassageReading, read_document_block
from neardup.passages.index import OpenPassages, SharedPassages
from neardup.passages.lookup import find_whole, tokens_at_a_time, within_memory
from neardup.passages.matches import Placer, count_marked, match_table, schema_of, with_id_types
from neardup.passages.plan import SearchPlan, candidate_probability, make_search_plan
from neardup.reading.where import describe_filtered
from neardup.results import (
    PassageResult,
    SkippedRow,
    describe_ids,
    describe_skipped,
)
from neardup.runs.runner import release_memory
from neardup.stages.options import columns_of, hints_of_letters
from neardup.tables import Int64s


@dataclass
class SearchCounts:
    """Counts of a search."""

    n_queries: int = 0
    n_empty: int = 0
    n_short: int = 0
    n_found: int = 0
    skipped: list[SkippedRow] = field(default_factory=list)

    def add(self, found: Searched, least_shingles: int) -> None:
        """Count queries, also with results."""
        self.n_queries += len(found.sizes)
        self.n_empty += int((found.sizes == 0).sum())
        self.n_short += int(((found.sizes > 0) & (found.sizes < least_shingles)).sum())
        self.n_found += len(np.unique(found.queries))
        self.skipped.extend(found.skipped)


def _plan_search(options: SearchOptions, index: OpenPassages) -> SearchPlan:
    threshold = exact_fraction("threshold", options.threshold)
    recall = None if options.recall is None else exact_fraction("recall", options.recall)
    return make_search_plan(index.scheme, threshold, recall, options.hits, options.most_times)


@dataclass(frozen=True)
class Searched:
    """Some queries in input order, and the passages found for them.

    ``sizes`` are their numbers of tokens. ``queries`` has the number of each passage's query among
    these.
    """

    sizes: Int64s
    id_type: pa.DataType
    passages: pa.Table
    queries: Int64s
    skipped: Sequence[SkippedRow]


@dataclass(frozen=True)
class _Search:
    """Lookup of queries in an index; ``placer`` names the beginnings of passages, if requested."""

    shared: SharedPassages
    plan: SearchPlan
    placer: Placer | None
    with_text: bool

    def find(self, blocks: Iterator[DocumentBlock], means: Means) -> Iterator[Searched]:
        workspace, runner = means.workspace, means.runner
        index = within_memory(self.shared.opened, workspace)
        for block in gather(blocks, tokens_at_a_time([index], workspace, runner)):
            found = find_whole(index, block.tokens, self.plan, workspace, runner, means.report)
            passages = match_table(
                found, block, index, with_text=self.with_text, placer=self.placer
            )
            sizes = np.diff(block.tokens.offsets)
            yield Searched(sizes, block.ids.type, passages, found.queries, block.skipped)
            if index.gives_back:
                release_memory()


def search_passages(
    engine: Engine, shared: SharedPassages, sources: Sequence[Source], options: SearchOptions
) -> PassageResult:
    """Look up every document of some sources as a query."""
    check_effect(options, sources)
    start = time.perf_counter()
    index = shared.opened
    plan = _plan_search(options, index)
    placer = Placer(options.place_marker) if options.has_places else None
    counts = SearchCounts()
    id_types: set[pa.DataType] = set()
    reading = PassageReading(columns_of(options), options.skip_bad).for_sources(sources)
    schema = schema_of(with_text=options.with_text, with_places=options.has_places)
    tables = [schema.empty_table()]
    read = partial(read_document_block, tokenizer=index.scheme.tokenizer, options=reading)
    search = _Search(shared, plan, placer, options.with_text)
    with engine.stage("search") as note:
        for found in engine.stream("search", sources, read, search.find):
            tables.append(found.passages)
            id_types |= {found.id_type} if len(found.sizes) else set()
            counts.add(found, index.scheme.least_shingles)
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
    table: pa.Table, counts: SearchCounts, plan: SearchPlan, index: OpenPassages, seconds: float
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
