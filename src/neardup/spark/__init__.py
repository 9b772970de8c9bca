"""Jobs on a Spark session: their stages as threads have them, on its executors.

Executors read, sign and decide; Spark shuffles and schedules, and no more. What a task does is what
a thread does, by the same functions. Rows travel in blocks of Arrow, each to a partition that we
number ourselves: a key never decides by its hash, and nothing depends on the order in which Spark
brings rows, so that a task that is run again has the same result.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.spark.dedup import deduplicate
    from neardup.spark.pairs import find_pairs
    from neardup.spark.session_jobs import align, cut, search_documents, search_passages

__all__ = ["align", "cut", "deduplicate", "find_pairs", "search_documents", "search_passages"]

# Where functions are; no module has the name of one.
_MODULES = {
    "align": "session_jobs",
    "cut": "session_jobs",
    "deduplicate": "dedup",
    "find_pairs": "pairs",
    "search_documents": "session_jobs",
    "search_passages": "session_jobs",
}


def __getattr__(name: str) -> Any:
    # Executors load this room for each of their tasks, and need nothing of the call itself.
    if name in _MODULES:
        return getattr(import_module(f"neardup.spark.{_MODULES[name]}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
