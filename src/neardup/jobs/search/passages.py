"""Search: queries read, looked up, and reported as a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.files.ids import common_id_type
from neardup.files.inputs import check_effect, passed_over
from neardup.files.passes import ReadingPass, keep_extracted
from neardup.files.rows import Source
from neardup.options.kinds import exact_fraction
from neardup.options.passages import PassageOptions, SearchOptions
from neardup.passages.documents import DocumentBlock, PassageReading, read_documents
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import (
    WINDOW_SCHEMA,
    Asked,
    find_passages,
    find_windows,
    window_table,
)
from neardup.passages.matches import SCHEMA, SCHEMA_WITH_TEXT, Matches, match_table, with_id_types
from neardup.passages.places import Marker, PlacedInIndex, PlacedInSources, with_places
from neardup.passages.search import SearchPlan, candidate_probability, make_search_plan
from neardup.passages.windows import gather_queries, make_queries
from neardup.reading.where import describe_filtered
from neardup.results import PassageResult, SkippedRow, describe_ids, describe_skipped
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.hints import (
    Beginnings,
    Remedies,
    hints_of_passages,
    hints_of_short,
)
from neardup.stages.options import columns_of
from neardup.tables import Int64s

if TYPE_CHECKING:
    from neardup.outputs.summary_records import Hint, PassageSummary


@dataclass
class SearchCounts:
    """What a search has met so far."""

    n_queries: int = 0
    n_empty: int = 0
    n_short: int = 0
    n_found: int = 0
    n_tokens: int = 0
    skipped: list[SkippedRow] = field(default_factory=list)


def plan_search(options: SearchOptions, index: OpenPassages) -> SearchPlan:
    """Work out what a search has to look for in an index."""
    threshold = exact_fraction("threshold", options.threshold)
    recall = None if options.recall is None else exact_fraction("recall", options.recall)
    plan = make_search_plan(
        index.scheme, threshold, recall, options.report, options.hits, options.most_times
    )
    if options.report == "windows" and not plan.hits:
        message = (
            "windows are found by the min-hashes that they have in common with the query; ask for "
            "a recall below 1, in an index that has min-hashes"
        )
        raise InvalidParameterError(message, "maximal", "recall", "num_perm")
    return plan


def search_sources(
    index: OpenPassages, sources: Sequence[Source], options: SearchOptions, runner: Runner
) -> PassageResult:
    """Look up every document of some sources as a query."""
    check_effect(options, sources)
    start = time.perf_counter()
    plan = plan_search(options, index)
    marker = None if options.place_marker is None else Marker(options.place_marker)
    if options.has_places:
        keep_extracted(IN_MEMORY, sources)
    counts = SearchCounts()
    # Which query each passage is of, and in which document it is.
    numbers = [np.empty((0, 2), np.int64)]
    id_types: set[pa.DataType] = set()
    read = PassageReading(columns_of(options), options.skip_bad).for_sources(sources)
    tables = [_schema(options).empty_table()]
    reading = ReadingPass("search", sources, runner)
    with runner.stage("search") as note:
        for block in read_documents(sources, index.scheme.tokenizer, read, reading):
            found, numbers_here = _search_block(index, block, options, plan, runner, reading.within)
            tables.append(found)
            numbers.append(numbers_here + np.array([counts.n_queries, 0]))
            _count(counts, block, index)
            counts.n_found += len(tables[-1]["query_id"].unique())
            id_types |= {block.ids.type} if len(block) else set()
        table = with_id_types(pa.concat_tables(tables), common_id_type(id_types), index.id_type)
        note(queries=counts.n_queries, passages=len(table))
    marked: dict[str, Any] = {}
    if options.has_places:
        queries, documents = np.concatenate(numbers).T
        placed = PlacedInSources(sources, read), PlacedInIndex(index)
        table, marked = with_places(table, *placed, (queries, documents), marker, runner)
    summary = _summary(table, counts, plan, index, time.perf_counter() - start) | marked
    summary |= options.describe_preset() | {"passed_over": passed_over(sources)}
    summary |= describe_filtered(sources)
    beginnings = Beginnings(sources, read.columns)
    summary["hints"] = _hints(beginnings, counts, plan, index, options) if index.n_documents else []
    summary |= describe_ids(read.columns)
    return PassageResult(table, cast("PassageSummary", summary))


def _search_block(
    index: OpenPassages,
    block: DocumentBlock,
    options: SearchOptions,
    plan: SearchPlan,
    runner: Runner,
    report: Callable[[float], None],
) -> tuple[pa.Table, Int64s]:
    """Return passages or windows, and the numbers of query and document of each passage."""
    if options.report == "windows":
        singly = list(make_queries(block.tokens, index.scheme, index.frequencies))
        windows = window_table(find_windows(index, singly, plan), block, index)
        return windows, np.empty((0, 2), np.int64)
    offsets = block.tokens.offsets
    queries = gather_queries(
        block.tokens.values, offsets[:-1], offsets[1:], index.scheme, index.frequencies
    )
    (found,) = find_passages(index, [Asked(queries)], plan, IN_MEMORY, runner, report)
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
    passages = match_table(matches, block, index, with_text=options.with_text)
    return passages, np.stack([matches.queries, matches.documents], axis=1)


def _hints(
    beginnings: Beginnings,
    counts: SearchCounts,
    plan: SearchPlan,
    index: OpenPassages,
    options: SearchOptions,
) -> list[Hint]:
    scheme = index.scheme
    remedies = Remedies.of_index(PassageOptions, scheme.shingles, 1, "queries")
    hints = hints_of_short(
        remedies,
        n_documents=counts.n_queries,
        # Somewhat short queries are found in passages that are longer.
        n_short=0 if 2 * counts.n_found > counts.n_queries else counts.n_short,
        n_tokens=counts.n_tokens,
        min_tokens=scheme.min_tokens,
        ngram=scheme.shingles.ngram,
    )
    if hints or options.preset is not None:
        return hints
    return hints_of_passages(
        remedies,
        beginnings,
        shingles=scheme.shingles,
        threshold=0 if options.most_times else float(plan.threshold),
    )


def _schema(options: SearchOptions) -> pa.Schema:
    if options.report == "windows":
        return WINDOW_SCHEMA
    return SCHEMA_WITH_TEXT if options.with_text else SCHEMA


def _count(counts: SearchCounts, block: DocumentBlock, index: OpenPassages) -> None:
    sizes = np.diff(block.tokens.offsets)
    counts.n_queries += len(block)
    counts.n_tokens += int(sizes.sum())
    counts.n_empty += int((sizes == 0).sum())
    counts.n_short += int(((sizes > 0) & (sizes < index.scheme.least_shingles)).sum())
    counts.skipped.extend(block.skipped)


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
