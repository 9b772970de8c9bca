"""Find text that is nearly the same: documents, records, and passages inside long documents.

The public names, and where they live:

- ``deduplicate`` (jobs.dedup): near-duplicate documents, each removal verified.
- ``choose`` (jobs.choose): the same by pairs that were found before; ``DeduplicationResult``
  (jobs.dedup) is the result of both.
- ``find_pairs`` (jobs.pairs): all similar pairs, exactly; ``PairResult`` is its result;
  ``iter_pairs`` goes through them.
- ``report`` (jobs.report): one page that shows what any of these has found, and why.
- ``review`` (jobs.review): a page on which people judge pairs.
- ``compare`` (jobs.compare): everything about two texts; ``CompareResult``
  (jobs.compare) is its result.
- ``similarity`` of two texts, and ``extract`` (jobs.similarity), the most similar of a list, in
  rows of ``Extracted``.
- ``align`` (jobs.align): all passages that two collections share, or the documents of one.
- ``cut`` (jobs.cut): texts without the passages, paragraphs or lines that they repeat; its
  ``CutResult`` says what went, and where it stays.
- ``DocumentIndex`` (jobs.index): documents, found by similarity to a text;
  ``DocumentSearchResult`` is what many queries return.
- ``PassageIndex`` (jobs.index): passages of documents, found by similarity;
  ``PassageResult`` is what it and ``align`` return. ``open_index`` (jobs.index) opens an index of
  either kind.
- ``sketch`` (jobs.sketch): sketches of documents, ``Sketches`` (stages.sketches), and
  ``estimate`` (jobs.estimate), which compares them; ``EstimateResult`` is its result;
  ``cluster_sketches`` (jobs.estimate) groups them, into a ``ClusterResult``.
- ``Banding`` and ``choose_banding`` (matching.bands).
- ``connect`` (service.client): an index that `neardup serve` serves elsewhere.
- ``TextOptions``, ``ReadOptions`` and ``RunOptions`` (options.groups): options that many calls
  have in common, as one value.
- the errors (errors), and ``neardup.types``: names for annotations.

Algorithms live in rooms of their own, in the order of the data: files, text, sketches, matching,
passages, outputs; ``jobs`` runs them by stages, ``cli`` is the command line, ``kernels`` holds the
compiled loops. Importing this package loads neither Numba nor Arrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup import types
from neardup.errors import (
    DeniedError,
    EngineError,
    IndexFormatError,
    IndexLockedError,
    InvalidInputError,
    InvalidParameterError,
    MissingExtraError,
    NeardupError,
    NeardupHint,
    OutputExistsError,
    ReadError,
    ResultLimitError,
    ServiceError,
    SketchFormatError,
    SketchMismatchError,
    WriteError,
)
from neardup.lazy import load_name
from neardup.version import __version__

if TYPE_CHECKING:
    from neardup.jobs.align.align import align
    from neardup.jobs.choose import choose
    from neardup.jobs.compare.compare import compare
    from neardup.jobs.compare.compare_result import CompareResult
    from neardup.jobs.cut.cut import cut
    from neardup.jobs.cut.cut_result import CutResult
    from neardup.jobs.dedup.deduplication_result import DeduplicationResult
    from neardup.jobs.dedup.run import deduplicate
    from neardup.jobs.estimate.clusters import ClusterResult, cluster_sketches
    from neardup.jobs.estimate.estimate import EstimateResult, estimate
    from neardup.jobs.index.documents import DocumentIndex
    from neardup.jobs.index.open import open_index
    from neardup.jobs.index.passages import PassageIndex
    from neardup.jobs.pairs.find_pairs import find_pairs, iter_pairs
    from neardup.jobs.pairs.pair_result import PairResult
    from neardup.jobs.report import report
    from neardup.jobs.review import review
    from neardup.jobs.similarity import Extracted, extract, similarity
    from neardup.jobs.sketch import sketch
    from neardup.matching.bands import Banding, choose_banding
    from neardup.options.groups import ReadOptions, RunOptions, TextOptions
    from neardup.results import DocumentSearchResult, PassageResult
    from neardup.service.client import connect
    from neardup.stages.sketches import Sketches

__all__ = [
    "Banding",
    "ClusterResult",
    "CompareResult",
    "CutResult",
    "DeduplicationResult",
    "DeniedError",
    "DocumentIndex",
    "DocumentSearchResult",
    "EngineError",
    "EstimateResult",
    "Extracted",
    "IndexFormatError",
    "IndexLockedError",
    "InvalidInputError",
    "InvalidParameterError",
    "MissingExtraError",
    "NeardupError",
    "NeardupHint",
    "OutputExistsError",
    "PairResult",
    "PassageIndex",
    "PassageResult",
    "ReadError",
    "ReadOptions",
    "ResultLimitError",
    "RunOptions",
    "ServiceError",
    "SketchFormatError",
    "SketchMismatchError",
    "Sketches",
    "TextOptions",
    "WriteError",
    "__version__",
    "align",
    "choose",
    "choose_banding",
    "cluster_sketches",
    "compare",
    "connect",
    "cut",
    "deduplicate",
    "estimate",
    "extract",
    "find_pairs",
    "iter_pairs",
    "open_index",
    "report",
    "review",
    "similarity",
    "sketch",
    "types",
]

_HOMES = {
    "Banding": "neardup.matching.bands",
    "CompareResult": "neardup.jobs.compare.compare_result",
    "CutResult": "neardup.jobs.cut.cut_result",
    "DeduplicationResult": "neardup.jobs.dedup.deduplication_result",
    "DocumentIndex": "neardup.jobs.index.documents",
    "DocumentSearchResult": "neardup.results",
    "PairResult": "neardup.jobs.pairs.pair_result",
    "PassageIndex": "neardup.jobs.index.passages",
    "PassageResult": "neardup.results",
    "ReadOptions": "neardup.options.groups",
    "RunOptions": "neardup.options.groups",
    "TextOptions": "neardup.options.groups",
    "align": "neardup.jobs.align.align",
    "choose": "neardup.jobs.choose",
    "choose_banding": "neardup.matching.bands",
    "compare": "neardup.jobs.compare.compare",
    "connect": "neardup.service.client",
    "cut": "neardup.jobs.cut.cut",
    "deduplicate": "neardup.jobs.dedup.run",
    "cluster_sketches": "neardup.jobs.estimate.clusters",
    "ClusterResult": "neardup.jobs.estimate.clusters",
    "estimate": "neardup.jobs.estimate.estimate",
    "EstimateResult": "neardup.jobs.estimate.estimate",
    "Extracted": "neardup.jobs.similarity",
    "extract": "neardup.jobs.similarity",
    "find_pairs": "neardup.jobs.pairs.find_pairs",
    "iter_pairs": "neardup.jobs.pairs.find_pairs",
    "open_index": "neardup.jobs.index.open",
    "report": "neardup.jobs.report",
    "review": "neardup.jobs.review",
    "similarity": "neardup.jobs.similarity",
    "sketch": "neardup.jobs.sketch",
    "Sketches": "neardup.stages.sketches",
}


def __getattr__(name: str) -> Any:
    """Load a public name, and what it needs, on first use."""
    return load_name(globals(), name)


def __dir__() -> list[str]:
    return sorted(__all__)
