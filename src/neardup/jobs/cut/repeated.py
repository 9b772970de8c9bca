"""What was repeated most, for the report of a cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.jobs.cut.spans import CutSpans
from neardup.passages.places import group_overlapping
from neardup.reading.catalogue import Catalogue
from neardup.reading.plan import ReadingPlan
from neardup.reading.second_pass import read_texts
from neardup.runtime.runner import Runner
from neardup.tables import Int64s, Texts

# How many are listed, and how much of the text of each.
_LISTED, _EXCERPT = 20, 200


def most_repeated(
    own: Catalogue, spans: CutSpans, plan: ReadingPlan, runner: Runner
) -> list[dict[str, Any]]:
    """Describe what went most often, the most copies first.

    Copies are those of one passage that stays; passages that stay and overlap are one. ``text``
    is the start of the first copy that went.

    Raises
    ------
    ReadError
        If a text is not what it was.
    """
    if not len(spans):
        return []
    groups = group_overlapping(spans.kept_documents, spans.kept_starts, spans.kept_stops)
    counts = np.bincount(groups)
    sizes = np.bincount(groups, spans.stops - spans.starts).astype(np.int64)
    first_rows = np.full(len(counts), len(spans), np.int64)
    np.minimum.at(first_rows, groups, np.arange(len(spans)))
    most = np.lexsort((first_rows, -sizes, -counts))[:_LISTED]
    pairs = np.unique(np.stack([groups, spans.documents]), axis=1)
    n_documents = np.bincount(pairs[0], minlength=len(counts))
    texts = _excerpts(own, spans.select(first_rows[most]), plan, runner)
    return [
        {
            "copies": int(counts[group]),
            "documents": int(n_documents[group]),
            "characters": int(sizes[group]),
            "text": text,
        }
        for group, text in zip(most.tolist(), texts, strict=True)
    ]


def _excerpts(own: Catalogue, spans: CutSpans, plan: ReadingPlan, runner: Runner) -> list[str]:
    """Return the starts of some spans' texts."""
    found = [""] * len(spans)
    documents, rows_of = np.unique(spans.documents, return_inverse=True)
    wanted: Int64s = np.full(len(own), -1, np.int64)
    wanted[documents] = np.arange(len(documents))

    def take(texts: Texts, places: Int64s, _: str) -> None:
        strings = texts.to_arrow()
        for k, place in enumerate(places.tolist()):
            text = strings[k].as_py()
            for row in np.flatnonzero(rows_of == place).tolist():
                start, stop = int(spans.starts[row]), int(spans.stops[row])
                found[row] = text[start : min(stop, start + _EXCERPT)]

    for _ in read_texts([own], [wanted], plan, runner, take):
        pass
    return found
