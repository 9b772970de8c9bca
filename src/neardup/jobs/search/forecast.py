"""What a search of an index would take, told from a sample of its queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from neardup.documents.index import OpenDocuments
from neardup.files.inputs import check_effect
from neardup.files.rows import Source
from neardup.jobs.search.documents import measure_of, most_similar
from neardup.jobs.search.passages import Asked, in_threads, plan_search
from neardup.options.documents import DocumentSearchOptions
from neardup.options.passages import SearchOptions
from neardup.passages.documents import PassageReading
from neardup.passages.index import OpenPassages
from neardup.passages.index_size import INDEX_SECONDS, IndexSize, bounds_of_parts
from neardup.passages.lookup import within_memory
from neardup.reading.drawn import draw_tokens
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.bench import try_queries
from neardup.stages.forecasts import Planned, StageForecast, StagesForecast
from neardup.stages.look_ups import (
    OF_TOKEN,
    DocumentLookUp,
    kept_on_executors,
    looked_up_on_executors,
    open_stage,
    passages_looked_up,
    told_between,
)
from neardup.stages.options import columns_of
from neardup.tables import Int64s

# Bytes of a passage while those of a block are put together, and of a row of the table without
# texts.
_TOGETHER, _ROW = 220, 30


def forecast_documents(
    index: OpenDocuments,
    opening: float,
    sources: Sequence[Source],
    options: DocumentSearchOptions,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what a search would take of an index of documents that was opened in some seconds."""
    check_effect(options, sources)
    asked = DocumentLookUp(
        index,
        sources,
        columns_of(options),
        measure_of(index.scheme, options),
        options.skip_bad,
        opening,
        partial(most_similar, limit=options.number),
    )
    return asked.forecast("search", "matches", runner, planned)


def forecast_passages(
    index: OpenPassages,
    opening: float,
    sources: Sequence[Source],
    options: SearchOptions,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what a search would take of an index of passages that was opened in some seconds."""
    check_effect(options, sources)
    plan, columns = plan_search(options, index), columns_of(options)
    drawn = draw_tokens(sources, columns, options.skip_bad, index.scheme.tokenizer, runner)
    size = IndexSize.of(index, planned.memory, planned.workers)
    read = PassageReading(columns, options.skip_bad).for_sources(sources)
    workspace = Workspace(planned.memory)
    searched = within_memory(index, workspace)

    def count(sources: Sequence[Source]) -> Iterator[Int64s]:
        with Runner(planned.workers) as runner:
            asked = Asked(searched, sources, read, plan, options)
            for found in in_threads(asked, workspace, runner):
                yield np.bincount(found.queries, minlength=len(found.sizes))

    tried = try_queries(drawn, read, count, is_kept=size.fits)
    passages = round(tried.results.number)
    again = tried.ready_again * (size.rounds(drawn.tokens) - 1)
    # While one thread makes it ready the others wait.
    work = tried.seconds.plus(planned.workers * tried.ready + again)
    stages = [open_stage(opening)]
    n_parts = 1
    if planned.executors is not None:
        n_tokens = [record.n_tokens for record in index.manifest.segments]
        n_parts = len(bounds_of_parts(n_tokens, planned.executors.slots)) - 1
        making = drawn.scaled(drawn.tokenizing) + INDEX_SECONDS * drawn.tokens
        spread = kept_on_executors([drawn], making, planned, 0.0)
        stages.append(StageForecast("read", 0, 0, 0.0, "queries that are kept", spread))
    looked_up = passages_looked_up(
        "search",
        drawn,
        drawn.under_way(planned.workers, of_token=OF_TOKEN),
        size,
        planned,
        seconds=work.number + drawn.rows.reading,
        passages=passages,
        waiting=_TOGETHER * passages,
        spread=looked_up_on_executors(
            drawn, work.number, size.searched, passages, n_parts, n_parts
        ),
    )
    stages.append(looked_up)
    counts = {"tokens": round(drawn.tokens), "passages": passages}
    between = told_between("passages", tried.results, work, stages, planned)
    return StagesForecast.of(
        [drawn], planned, stages, counts, passages * _ROW, sources, between=between
    )
