"""Classes of results, and the type of collections, for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.lazy import load_name

if TYPE_CHECKING:
    from neardup.index.index import CompactionResult, RemovalResult
    from neardup.jobs.compare_result import CompareResult
    from neardup.jobs.cut.cut import CutResult
    from neardup.jobs.dedup.deduplication_result import DeduplicationResult
    from neardup.jobs.estimate import ClusterResult, EstimateResult
    from neardup.jobs.index.index import AdditionResult, Page
    from neardup.jobs.pairs.find_pairs import Pair
    from neardup.jobs.pairs.rows import PairResult
    from neardup.jobs.similarity import Extracted
    from neardup.options.choices import Data
    from neardup.reports.page import Report
    from neardup.results import (
        DocumentSearchResult,
        Match,
        Matches,
        MatchWithColumns,
        PassageResult,
    )
    from neardup.service.client import RemoteIndex

__all__ = [
    "AdditionResult",
    "ClusterResult",
    "CompactionResult",
    "CompareResult",
    "CutResult",
    "Data",
    "DeduplicationResult",
    "DocumentSearchResult",
    "EstimateResult",
    "Extracted",
    "Match",
    "MatchWithColumns",
    "Matches",
    "Page",
    "Pair",
    "PairResult",
    "PassageResult",
    "RemoteIndex",
    "RemovalResult",
    "Report",
]

_HOMES = {
    "AdditionResult": "neardup.jobs.index.index",
    "ClusterResult": "neardup.jobs.estimate",
    "CompactionResult": "neardup.index.index",
    "CompareResult": "neardup.jobs.compare_result",
    "CutResult": "neardup.jobs.cut.cut",
    "Data": "neardup.options.choices",
    "DeduplicationResult": "neardup.jobs.dedup.deduplication_result",
    "DocumentSearchResult": "neardup.results",
    "EstimateResult": "neardup.jobs.estimate",
    "Extracted": "neardup.jobs.similarity",
    "Match": "neardup.results",
    "MatchWithColumns": "neardup.results",
    "Matches": "neardup.results",
    "Page": "neardup.jobs.index.index",
    "Pair": "neardup.jobs.pairs.find_pairs",
    "PairResult": "neardup.jobs.pairs.rows",
    "PassageResult": "neardup.results",
    "RemoteIndex": "neardup.service.client",
    "RemovalResult": "neardup.index.index",
    "Report": "neardup.reports.page",
}


def __getattr__(name: str) -> Any:
    """Load a class on first use."""
    return load_name(globals(), name)


def __dir__() -> list[str]:
    return list(__all__)
