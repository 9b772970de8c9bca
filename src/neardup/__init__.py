"""Find near-duplicate documents, records, and passages of long documents.

- ``deduplicate`` removes near-duplicate documents, each removal verified.
- ``find_pairs`` finds all similar pairs, exactly.
- ``align`` finds the passages that documents share; ``cut`` takes repeated ones out.
- ``compare``, ``similarity`` and ``extract`` compare single texts.
- ``DocumentIndex`` and ``PassageIndex`` keep documents; ``open_index`` opens either kind, and
  ``connect`` an index that `neardup serve` serves.
- ``sketch``, ``estimate`` and ``cluster_sketches`` work on ``Sketches``, without texts.
- ``report`` and ``review`` make pages.
- ``Banding`` and ``choose_banding`` show the bands of a threshold.
- ``TextOptions``, ``ReadOptions`` and ``RunOptions`` are the options that functions share.

`neardup.types` has the classes of results, `neardup.errors` all errors. Importing this package
loads neither Numba nor Arrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup import types
from neardup.errors import (
    EngineError,
    IndexFormatError,
    InvalidInputError,
    InvalidParameterError,
    MissingExtraError,
    NeardupError,
    OutputExistsError,
    ReadError,
    ServiceError,
    SketchMismatchError,
    WriteError,
)
from neardup.lazy import load_name
from neardup.version import __version__

if TYPE_CHECKING:
    from neardup.jobs.align import align
    from neardup.jobs.compare import compare
    from neardup.jobs.cut.cut import cut
    from neardup.jobs.dedup.run import deduplicate
    from neardup.jobs.estimate import cluster_sketches, estimate
    from neardup.jobs.index.document_index import DocumentIndex
    from neardup.jobs.index.passage_index import PassageIndex, open_index
    from neardup.jobs.pairs.find_pairs import find_pairs
    from neardup.jobs.report import report, review
    from neardup.jobs.similarity import extract, similarity
    from neardup.jobs.sketch import sketch
    from neardup.matching.buckets import Banding, choose_banding
    from neardup.options.groups import ReadOptions, RunOptions, TextOptions
    from neardup.service.client import connect
    from neardup.stages.sketches import Sketches

__all__ = [
    "Banding",
    "DocumentIndex",
    "EngineError",
    "IndexFormatError",
    "InvalidInputError",
    "InvalidParameterError",
    "MissingExtraError",
    "NeardupError",
    "OutputExistsError",
    "PassageIndex",
    "ReadError",
    "ReadOptions",
    "RunOptions",
    "ServiceError",
    "SketchMismatchError",
    "Sketches",
    "TextOptions",
    "WriteError",
    "__version__",
    "align",
    "choose_banding",
    "cluster_sketches",
    "compare",
    "connect",
    "cut",
    "deduplicate",
    "estimate",
    "extract",
    "find_pairs",
    "open_index",
    "report",
    "review",
    "similarity",
    "sketch",
    "types",
]

_HOMES = {
    "Banding": "neardup.matching.buckets",
    "DocumentIndex": "neardup.jobs.index.document_index",
    "PassageIndex": "neardup.jobs.index.passage_index",
    "ReadOptions": "neardup.options.groups",
    "RunOptions": "neardup.options.groups",
    "TextOptions": "neardup.options.groups",
    "align": "neardup.jobs.align",
    "choose_banding": "neardup.matching.buckets",
    "compare": "neardup.jobs.compare",
    "connect": "neardup.service.client",
    "cut": "neardup.jobs.cut.cut",
    "deduplicate": "neardup.jobs.dedup.run",
    "cluster_sketches": "neardup.jobs.estimate",
    "estimate": "neardup.jobs.estimate",
    "extract": "neardup.jobs.similarity",
    "find_pairs": "neardup.jobs.pairs.find_pairs",
    "open_index": "neardup.jobs.index.passage_index",
    "report": "neardup.jobs.report",
    "review": "neardup.jobs.report",
    "similarity": "neardup.jobs.similarity",
    "sketch": "neardup.jobs.sketch",
    "Sketches": "neardup.stages.sketches",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    return load_name(globals(), name)


def __dir__() -> list[str]:
    return sorted(__all__)
