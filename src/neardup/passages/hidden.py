"""Where text stands that is ignored, and how long texts are without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.passages.ignored import IgnoredRuns
from neardup.passages.places import character_spans
from neardup.tables import Int64s, Texts
from neardup.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class Holes:
    """Where text is hidden, in characters of some texts; in the order of texts and places."""

    documents: Int64s
    starts: Int64s
    stops: Int64s

    def visible_before(self, documents: Int64s, places: Int64s) -> Int64s:
        """Return how many characters before some places of these texts are not hidden."""
        if not len(self.documents):
            return places
        # Places of all texts on one line.
        width = 1 + max(int(self.stops.max()), int(places.max(initial=0)))
        lines = self.documents * width + self.starts
        sizes = np.concatenate([[0], np.cumsum(self.stops - self.starts)])
        first = np.searchsorted(self.documents, documents)
        before = np.searchsorted(lines, documents * width + places)
        hidden = sizes[before] - sizes[first]
        # A place within a hole has a part of it behind it.
        last = np.maximum(before - 1, 0)
        inside = np.where(before > first, np.maximum(self.stops[last] - places, 0), 0)
        visible: Int64s = places - hidden + inside
        return visible


@dataclass(frozen=True)
class Visible:
    """What is not hidden of some texts, in characters.

    ``starts`` and ``stops`` are, for each text, the places of its first token and its last that
    are not hidden; both are 0 where there is none. ``holes`` are hidden.
    """

    starts: Int64s
    stops: Int64s
    holes: Holes


@dataclass(frozen=True)
class HiddenText:
    """Runs of tokens that are ignored, and what cuts texts into tokens."""

    runs: IgnoredRuns
    tokenizer: Tokenizer

    def look_at(self, texts: pa.Array) -> Visible:
        """Find what runs hide of some texts."""
        tokens, spans = self.tokenizer.locate_tokens(Texts.from_arrow(texts))
        is_hidden = self.runs.are_ignored(tokens)
        numbers = np.repeat(np.arange(len(tokens)), np.diff(tokens.offsets))
        # A hole goes on as long as the next token of the same text is hidden, too.
        goes_on = is_hidden[1:] & is_hidden[:-1] & (numbers[1:] == numbers[:-1])
        firsts = np.flatnonzero(is_hidden & ~np.concatenate([[False], goes_on])[: len(numbers)])
        lasts = np.flatnonzero(is_hidden & ~np.concatenate([goes_on, [False]])[: len(numbers)])
        documents = numbers[firsts]
        places = character_spans(texts, documents, spans.starts[firsts], spans.stops[lasts])
        holes = Holes(documents, *places)
        visible = np.flatnonzero(~is_hidden)
        filled, firsts = np.unique(numbers[visible], return_index=True)
        lasts = np.append(firsts[1:], len(visible))[: len(filled)] - 1
        ends = character_spans(
            texts, filled, spans.starts[visible[firsts]], spans.stops[visible[lasts]]
        )
        starts, stops = np.zeros((2, len(texts)), np.int64)
        starts[filled], stops[filled] = ends
        return Visible(starts, stops, holes)
