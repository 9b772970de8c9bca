"""Names of types for annotations: what public functions take, return, and have in their results.

Nothing here has to be made by users; what they make or call is a name of ``neardup`` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.lazy import homes_of, load_name

if TYPE_CHECKING:
    from neardup.documents.one_text import Tokens
    from neardup.documents.reading import DeniedDocument
    from neardup.documents.values import Id
    from neardup.jobs.compare.compare_result import (
        Differences,
        Estimated,
        Measured,
        SharedPassage,
        TextSize,
    )
    from neardup.jobs.explain import Comparison, ExplainResult
    from neardup.jobs.index.index import Page
    from neardup.jobs.pairs.find_pairs import Pair
    from neardup.matching.join import FilterCounts
    from neardup.options.choices import (
        Algorithm,
        AlignMeasure,
        AlignmentSummary,
        ArrowStream,
        Clusters,
        ColumnNames,
        CutPreset,
        CutUnit,
        Data,
        DataOrIndex,
        DocumentMeasure,
        DocumentPreset,
        EstimatedMeasure,
        Fingerprint,
        InputFormat,
        InverseFrequency,
        Method,
        Number,
        Occurrences,
        OnError,
        OpenedIndex,
        OutputFormat,
        PairMeasure,
        PairMethod,
        PassageMeasure,
        PassagePresetName,
        Progress,
        Refresh,
        Representative,
        Side,
        SimilarityMeasure,
        SketchKindName,
        TermFrequency,
        TextFormat,
        TokenFunction,
        TokenizerChoice,
        UnicodeForm,
        WindowHash,
    )
    from neardup.outputs.summary_records import (
        Audit,
        ByFile,
        ClusterSummary,
        CompareSummary,
        CutSummary,
        DedupSummary,
        DeniedCounts,
        DocumentSearchSummary,
        EstimateSummary,
        File,
        FileCounts,
        FilePair,
        Filtered,
        Hint,
        MethodChoice,
        OtherGroups,
        PairSummary,
        PassageSummary,
        Preset,
        Reading,
        RepeatedText,
        Scheme,
        SketchSummary,
        Skipped,
        Versions,
    )
    from neardup.reports.examples import Document
    from neardup.reports.page import Report
    from neardup.results import Match, Matches, MatchWithColumns, Result
    from neardup.service.client import RemoteAddition, RemoteIndex
    from neardup.stages.index_changes import (
        AdditionResult,
        CompactionResult,
        DocumentRemovalResult,
        RemovalResult,
    )
    from neardup.text.forms import Normalisation

__all__ = [
    "AdditionResult",
    "Algorithm",
    "AlignMeasure",
    "AlignmentSummary",
    "ArrowStream",
    "Audit",
    "ByFile",
    "ClusterSummary",
    "Clusters",
    "ColumnNames",
    "CompactionResult",
    "CompareSummary",
    "Comparison",
    "CutPreset",
    "CutSummary",
    "CutUnit",
    "Data",
    "DataOrIndex",
    "DedupSummary",
    "DeniedCounts",
    "DeniedDocument",
    "Differences",
    "Document",
    "DocumentMeasure",
    "DocumentPreset",
    "DocumentRemovalResult",
    "DocumentSearchSummary",
    "EstimateSummary",
    "Estimated",
    "EstimatedMeasure",
    "ExplainResult",
    "File",
    "FileCounts",
    "FilePair",
    "FilterCounts",
    "Filtered",
    "Fingerprint",
    "Hint",
    "Id",
    "InputFormat",
    "InverseFrequency",
    "Match",
    "MatchWithColumns",
    "Matches",
    "Measured",
    "Method",
    "MethodChoice",
    "Normalisation",
    "Number",
    "Occurrences",
    "OnError",
    "OpenedIndex",
    "OtherGroups",
    "OutputFormat",
    "Page",
    "Pair",
    "PairMeasure",
    "PairMethod",
    "PairSummary",
    "PassageMeasure",
    "PassagePresetName",
    "PassageSummary",
    "Preset",
    "Progress",
    "Reading",
    "Refresh",
    "RemoteAddition",
    "RemoteIndex",
    "RemovalResult",
    "RepeatedText",
    "Report",
    "Representative",
    "Result",
    "Scheme",
    "SharedPassage",
    "Side",
    "SimilarityMeasure",
    "SketchKindName",
    "SketchSummary",
    "Skipped",
    "TermFrequency",
    "TextFormat",
    "TextSize",
    "TokenFunction",
    "TokenizerChoice",
    "Tokens",
    "UnicodeForm",
    "Versions",
    "WindowHash",
]

_HOMES = homes_of(
    {
        "neardup.documents.one_text": "Tokens",
        "neardup.documents.reading": "DeniedDocument",
        "neardup.documents.values": "Id",
        "neardup.jobs.compare.compare_result": (
            "Differences Estimated Measured SharedPassage TextSize"
        ),
        "neardup.jobs.explain": "Comparison ExplainResult",
        "neardup.jobs.index.index": "Page",
        "neardup.jobs.pairs.find_pairs": "Pair",
        "neardup.matching.join": "FilterCounts",
        "neardup.options.choices": (
            "Algorithm AlignMeasure AlignmentSummary ArrowStream Clusters ColumnNames CutPreset "
            "CutUnit Data DataOrIndex DocumentMeasure DocumentPreset EstimatedMeasure Fingerprint "
            "InputFormat InverseFrequency Method Number Occurrences OnError "
            "OpenedIndex OutputFormat PairMeasure PairMethod PassageMeasure PassagePresetName "
            "Progress Refresh Representative Side SimilarityMeasure SketchKindName "
            "TermFrequency TextFormat TokenFunction TokenizerChoice UnicodeForm "
            "WindowHash"
        ),
        "neardup.outputs.summary_records": (
            "Audit ByFile ClusterSummary CompareSummary CutSummary DedupSummary "
            "DeniedCounts DocumentSearchSummary EstimateSummary File FileCounts FilePair Filtered "
            "Hint MethodChoice OtherGroups PairSummary PassageSummary "
            "Preset Reading RepeatedText Scheme SketchSummary Skipped "
            "Versions"
        ),
        "neardup.reports.page": "Report",
        "neardup.results": "Match MatchWithColumns Matches Result",
        "neardup.service.client": "RemoteAddition RemoteIndex",
        "neardup.reports.examples": "Document",
        "neardup.stages.index_changes": (
            "AdditionResult CompactionResult DocumentRemovalResult RemovalResult"
        ),
        "neardup.text.forms": "Normalisation",
    }
)


def __getattr__(name: str) -> Any:
    """Load a type, and what it needs, on first use."""
    return load_name(globals(), name)


def __dir__() -> list[str]:
    return list(__all__)
