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
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.forecasts import Planned, StagesForecast
from neardup.stages.look_ups import DocumentLookUp, PassageLookUp
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
    plan = plan_search(options, index)
    read = PassageReading(columns_of(options), options.skip_bad).for_sources(sources)

    def look_up(
        index: OpenPassages, sources: Sequence[Source], workspace: Workspace, runner: Runner
    ) -> Iterator[tuple[Int64s, int]]:
        asked = Asked(index, sources, read, plan, options)
        for found in in_threads(asked, workspace, runner):
            yield np.bincount(found.queries, minlength=len(found.sizes)), len(found.queries)

    asked = PassageLookUp(
        index, sources, read, opening, look_up, _TOGETHER, _ROW, has_hits=plan.hits > 0
    )
    return asked.forecast("search", runner, planned)
