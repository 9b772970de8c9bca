"""How passages were found, as pages say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.version import __version__

# Of a job's summary, as pages call them.
_OPTIONS = {
    "threshold": "least similarity",
    "min_tokens": "tokens of the shortest passage",
    "gap": "tokens between two parts",
    "max_documents": "most documents that have a passage",
    "certain_tokens": "tokens of a passage that holds a window that is looked up",
    "predicted_recall": "probability that such a window is found at the threshold",
    "windows": "windows looked up",
    "frequent_windows": "windows left out, because too many documents have them",
    "ignored_tokens": "tokens taken for not written",
    "empty_documents": "documents without tokens",
    "short_documents": "documents shorter than the shortest passage",
    "empty_queries": "items without tokens",
    "short_queries": "items shorter than a passage of the index",
    "id_column": "column of the ids",
}


@dataclass(frozen=True)
class About:
    """What is known of a run beside its table.

    ``summary`` is the job's, empty where nobody has given it; ``n_documents`` how many documents
    the first collection has and, if there is one, the second; empty where they were not read.
    ``how_to_give_texts`` is what a page without texts says of them.
    """

    summary: Mapping[str, Any] = field(default_factory=dict)
    n_documents: Sequence[int] = ()
    how_to_give_texts: str = ""


def list_options(about: About) -> list[tuple[str, str]]:
    """Return what is known of a run, as names and values."""
    return [
        (shown, _written(about.summary[name]))
        for name, shown in _OPTIONS.items()
        if about.summary.get(name) is not None
    ]


def notes_of(about: About) -> list[str]:
    """Say what is sure of what was found, and what may be missing."""
    recall = about.summary.get("predicted_recall")
    if recall is None:
        return []
    return [
        "Passages are found by looking up windows of one text among those of the others, so one "
        "that is just similar enough can be missed: a window at the threshold is found with "
        f"probability {recall:.4f}, and longer passages hold several. Everything that is shown was "
        "verified: its similarity is the true one of the two whole passages."
    ]


def how_it_was_made() -> str:
    """Return what stands at the end of a page."""
    return f"Made by neardup {__version__}. This page is complete in itself; it loads nothing."


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(_written(each) for each in value)
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)
