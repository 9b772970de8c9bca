"""The public functions that take options, and the classes that declare these."""

from __future__ import annotations

from typing import Any

import neardup
from neardup.options.document_options import (
    ClusterOptions,
    CompareOptions,
    DedupOptions,
    DocumentSchemeOptions,
    DocumentSearchOptions,
    EstimateOptions,
    ExtractOptions,
    PairOptions,
    ReviewOptions,
    SimilarityOptions,
    SketchOptions,
)
from neardup.options.groups import AgainstOptions, OpenOptions, RunOptions
from neardup.options.option import Option, Options
from neardup.options.passage_options import AlignOptions, CutOptions, PassageOptions, SearchOptions

CLASSES: dict[str, type[Options]] = {
    "deduplicate": DedupOptions,
    "find_pairs": PairOptions,
    "align": AlignOptions,
    "cut": CutOptions,
    "report": AgainstOptions,
    "review": ReviewOptions,
    "compare": CompareOptions,
    "similarity": SimilarityOptions,
    "extract": ExtractOptions,
    "sketch": SketchOptions,
    "estimate": EstimateOptions,
    "cluster_sketches": ClusterOptions,
    "open_index": OpenOptions,
    "DocumentIndex.create": DocumentSchemeOptions,
    "DocumentIndex.open": OpenOptions,
    "DocumentIndex.search": DocumentSearchOptions,
    "PassageIndex.create": PassageOptions,
    "PassageIndex.open": OpenOptions,
    "PassageIndex.search": SearchOptions,
}
GROUPS = {"text": neardup.TextOptions, "read": neardup.ReadOptions, "run": RunOptions}


def function_of(name: str) -> Any:
    """Return a public function by its name."""
    found: Any = neardup
    for part in name.split("."):
        found = getattr(found, part)
    return found


def options_of(name: str) -> list[Option]:
    """Return the options of a function, those of its groups included."""
    import inspect

    parameters = inspect.signature(function_of(name)).parameters
    known = CLASSES[name].known
    found = [known[each] for each in parameters if each in known]
    for argument, group in GROUPS.items():
        if argument in parameters and argument != "run":
            found += [known[each] for each in group.known if each in known]
    return found
