"""Classes of results, and the type of collections, for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.lazy import load_name

if TYPE_CHECKING:
    from neardup.index.open_index import CompactionResult as CompactionResult
    from neardup.index.open_index import RemovalResult as RemovalResult
    from neardup.jobs.compare import CompareResult as CompareResult
    from neardup.jobs.cut.cut import CutResult as CutResult
    from neardup.jobs.dedup.deduplication_result import DeduplicationResult as DeduplicationResult
    from neardup.jobs.estimate import ClusterResult as ClusterResult
    from neardup.jobs.estimate import EstimateResult as EstimateResult
    from neardup.jobs.index.base_index import AdditionResult as AdditionResult
    from neardup.jobs.pairs.pair_rows import PairResult as PairResult
    from neardup.jobs.similarity import Extracted as Extracted
    from neardup.options.choices import Data as Data
    from neardup.reports.page import Report as Report
    from neardup.results import DocumentSearchResult as DocumentSearchResult
    from neardup.results import Match as Match
    from neardup.results import Matches as Matches
    from neardup.results import PassageResult as PassageResult
    from neardup.service.client import RemoteIndex as RemoteIndex

_HOMES = {
    "AdditionResult": "neardup.jobs.index.base_index",
    "ClusterResult": "neardup.jobs.estimate",
    "CompactionResult": "neardup.index.open_index",
    "CompareResult": "neardup.jobs.compare",
    "CutResult": "neardup.jobs.cut.cut",
    "Data": "neardup.options.choices",
    "DeduplicationResult": "neardup.jobs.dedup.deduplication_result",
    "DocumentSearchResult": "neardup.results",
    "EstimateResult": "neardup.jobs.estimate",
    "Extracted": "neardup.jobs.similarity",
    "Match": "neardup.results",
    "Matches": "neardup.results",
    "PairResult": "neardup.jobs.pairs.pair_rows",
    "PassageResult": "neardup.results",
    "RemoteIndex": "neardup.service.client",
    "RemovalResult": "neardup.index.open_index",
    "Report": "neardup.reports.page",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Load a class on first use."""
    return load_name(globals(), name)


def __dir__() -> list[str]:
    return __all__
