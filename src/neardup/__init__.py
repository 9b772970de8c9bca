"""Find text that is nearly the same: documents, records, and passages inside long documents.

The public names, and where they live:

- ``deduplicate`` (pipelines.deduplicate): near-duplicate documents, each removal verified.
- ``DeduplicationResult`` (pipelines.result): its result.
- ``find_pairs`` (pipelines.pairs): all similar pairs, exactly; ``PairResult`` is its result.
- ``compare`` (pipelines.compare): everything about two texts; ``CompareResult``
  (pipelines.compare_result) is its result.
- ``align`` (pipelines.align): all passages that two collections share.
- ``PassageIndex`` (pipelines.passage_index): passages of documents, found by similarity.
- ``sketch`` (pipelines.sketch): sketches of documents, ``Sketches`` (pipelines.sketches), and
  ``estimate`` (pipelines.estimate), which compares them; ``EstimateResult`` is its result;
  ``cluster_sketches`` (pipelines.sketch_clusters) groups them, into a ``ClusterResult``.
- ``Normalisation`` (text.normalise), ``Banding`` and ``choose_banding`` (matching.bands).
- the errors (errors).

Stages live in packages of their own, in the order of the data: files, text, sketches, matching,
clustering, outputs; ``pipelines`` runs them, ``cli`` is the command line, ``kernels`` holds the
compiled loops. Importing this package loads neither Numba nor Arrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from neardup.errors import (
    IndexFormatError,
    IndexLockedError,
    InvalidInputError,
    InvalidParameterError,
    MissingExtraError,
    NeardupError,
    OutputExistsError,
    ReadError,
    ResultLimitError,
    SketchFormatError,
    SketchMismatchError,
    WriteError,
)
from neardup.version import __version__

if TYPE_CHECKING:
    from neardup.matching.bands import Banding, choose_banding
    from neardup.pipelines.align import align
    from neardup.pipelines.compare import compare
    from neardup.pipelines.compare_result import CompareResult
    from neardup.pipelines.deduplicate import deduplicate
    from neardup.pipelines.estimate import EstimateResult, estimate
    from neardup.pipelines.pair_result import PairResult
    from neardup.pipelines.pairs import find_pairs
    from neardup.pipelines.passage_index import PassageIndex
    from neardup.pipelines.result import DeduplicationResult
    from neardup.pipelines.sketch import sketch
    from neardup.pipelines.sketch_clusters import ClusterResult, cluster_sketches
    from neardup.pipelines.sketches import Sketches
    from neardup.text.normalise import Normalisation

__all__ = [
    "Banding",
    "ClusterResult",
    "CompareResult",
    "DeduplicationResult",
    "EstimateResult",
    "IndexFormatError",
    "IndexLockedError",
    "InvalidInputError",
    "InvalidParameterError",
    "MissingExtraError",
    "NeardupError",
    "Normalisation",
    "OutputExistsError",
    "PairResult",
    "PassageIndex",
    "ReadError",
    "ResultLimitError",
    "SketchFormatError",
    "SketchMismatchError",
    "Sketches",
    "WriteError",
    "__version__",
    "align",
    "choose_banding",
    "cluster_sketches",
    "compare",
    "deduplicate",
    "estimate",
    "find_pairs",
    "sketch",
]

_HOMES = {
    "Banding": "neardup.matching.bands",
    "CompareResult": "neardup.pipelines.compare_result",
    "DeduplicationResult": "neardup.pipelines.result",
    "Normalisation": "neardup.text.normalise",
    "PairResult": "neardup.pipelines.pair_result",
    "PassageIndex": "neardup.pipelines.passage_index",
    "align": "neardup.pipelines.align",
    "choose_banding": "neardup.matching.bands",
    "compare": "neardup.pipelines.compare",
    "deduplicate": "neardup.pipelines.deduplicate",
    "cluster_sketches": "neardup.pipelines.sketch_clusters",
    "ClusterResult": "neardup.pipelines.sketch_clusters",
    "estimate": "neardup.pipelines.estimate",
    "EstimateResult": "neardup.pipelines.estimate",
    "find_pairs": "neardup.pipelines.pairs",
    "sketch": "neardup.pipelines.sketch",
    "Sketches": "neardup.pipelines.sketches",
}


def __getattr__(name: str) -> Any:
    """Load a public name, and what it needs, on first use."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
