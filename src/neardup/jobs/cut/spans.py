"""What is cut out of texts: spans of characters, each for a span that stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from neardup.tables import Floats, Int64s


@dataclass(frozen=True)
class CutSpans:
    """Spans that go, each for one that stays; arrays have a row for each.

    ``documents`` are numbered in the collection that is cut; ``kept_documents`` in both, those of
    the other collection first. Starts and stops (exclusive) are characters of the whole texts. Rows
    are by document and start; spans of a document may overlap.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats

    def __len__(self) -> int:
        return len(self.documents)

    @classmethod
    def of_none(cls) -> CutSpans:
        """Return no spans."""
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, nothing, nothing, nothing, nothing, np.empty(0, np.float64))

    def select(self, rows: Sequence[int] | Int64s) -> CutSpans:
        """Return some rows."""
        return CutSpans(*(getattr(self, field.name)[rows] for field in fields(self)))

    def order(self) -> Int64s:
        """Return the places of the rows by document, start and stop, then by what stays."""
        keys = (self.kept_starts, self.kept_documents, self.stops, self.starts, self.documents)
        return np.lexsort(keys)

    def in_order(self) -> CutSpans:
        """Return the rows in ``order``."""
        return self.select(self.order())


@dataclass(frozen=True)
class Gaps:
    """What goes out of texts in all: spans that neither overlap nor adjoin, by document and start.

    ``documents``, ``starts`` and ``stops`` as of ``CutSpans``.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def n_characters(self) -> int:
        """How much text goes."""
        return int((self.stops - self.starts).sum())


def merge_spans(spans: CutSpans) -> Gaps:
    """Put spans together that overlap or adjoin."""
    if not len(spans):
        return Gaps(spans.documents, spans.starts, spans.stops)
    # Each document has a stretch of numbers of its own, longer than any text.
    room = int(spans.stops.max()) + 2
    order = np.lexsort((spans.starts, spans.documents))
    base = spans.documents[order] * room
    starts, stops = base + spans.starts[order], base + spans.stops[order]
    reached = np.maximum.accumulate(stops)
    heads = np.flatnonzero(np.concatenate([[True], starts[1:] > reached[:-1]]))
    ends = reached[np.append(heads[1:], len(starts)) - 1]
    documents = spans.documents[order][heads]
    return Gaps(documents, starts[heads] - documents * room, ends - documents * room)
