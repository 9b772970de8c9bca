"""Spans of characters to remove from texts, and their replacement.

Spans are counted in the parsed text, which joins several columns. Each column is cut by itself; the
newline between two columns belongs to neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.tables import Bools, Int64s, Rows

SEPARATOR = "\n"
"""Between the parts of a text in several columns."""


@dataclass(frozen=True)
class Holes(Rows):
    """Ascending holes in strings, never overlapping or adjacent.

    ``starts`` and ``stops``, exclusive, are characters of the string in ``strings``, which ascends.
    The replacement is put in where ``is_filled``.
    """

    strings: Int64s
    starts: Int64s
    stops: Int64s
    is_filled: Bools


@dataclass(frozen=True)
class Cuts:
    """Spans to cut from the texts of some rows.

    ``rows`` are places in the block, ascending. ``starts`` and ``stops``, exclusive, are characters
    of the text as ``ParsedRows.text`` has it, of ``columns`` in their order; spans of a row do not
    overlap. The ``replacement`` comes once for adjoining spans; a span that continues in a second
    column has it in the first only.
    """

    columns: tuple[str, ...]
    rows: Int64s
    starts: Int64s
    stops: Int64s
    replacement: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def changed(self) -> Int64s:
        """Positions of the changed rows, unique and ascending."""
        return np.unique(self.rows)

    def holes(self) -> Holes:
        """Return the holes in the texts of the ``changed`` rows."""
        follows = (self.rows[1:] == self.rows[:-1]) & (self.starts[1:] == self.stops[:-1])
        firsts = np.concatenate([[True], ~follows])[: len(self)]
        lasts = np.concatenate([~follows, [True]])[: len(self)]
        strings = np.searchsorted(self.changed, self.rows[firsts])
        is_filled = np.ones(len(strings), np.bool_)
        return Holes(strings, self.starts[firsts], self.stops[lasts], is_filled)

    def holes_of_texts(self, texts: Sequence[pa.Array]) -> list[Holes]:
        """Return the holes per column, given the changed rows' strings."""
        holes = self.holes()
        if len(texts) == 1:
            return [holes]
        parts = []
        begin = np.zeros(len(self.changed), np.int64)
        # A hole is filled in the first text that it touches.
        is_unfilled = np.ones(len(holes), np.bool_)
        for text in texts:
            length = pc.utf8_length(text).fill_null(0).to_numpy()
            starts = np.maximum(holes.starts - begin[holes.strings], 0)
            stops = np.minimum(holes.stops - begin[holes.strings], length[holes.strings])
            has_part = starts < stops
            strings, is_filled = holes.strings[has_part], is_unfilled[has_part]
            parts.append(Holes(strings, starts[has_part], stops[has_part], is_filled))
            is_unfilled &= ~has_part
            begin = begin + length + len(SEPARATOR)
        return parts


def fill_holes(texts: pa.Array, holes: Holes, replacement: str) -> pa.Array:
    """Cut holes into strings, and insert the replacement if requested."""
    spans: dict[int, list[tuple[int, int, bool]]] = {}
    columns = (holes.starts.tolist(), holes.stops.tolist(), holes.is_filled.tolist())
    for string, *span in zip(holes.strings.tolist(), *columns, strict=True):
        spans.setdefault(string, []).append(tuple(span))
    if not spans:
        return texts
    cut = [_without(texts[string].as_py(), own, replacement) for string, own in spans.items()]
    is_cut = np.zeros(len(texts), np.bool_)
    is_cut[list(spans)] = True
    return pc.replace_with_mask(texts, pa.array(is_cut), pa.array(cut, texts.type))


def _without(text: str, spans: Sequence[tuple[int, int, bool]], replacement: str) -> str:
    """Return a text without spans, replaced where marked."""
    parts, done = [], 0
    for start, stop, is_filled in spans:
        # A hole after the end of the text is ignored.
        if start < len(text):
            parts += [text[done:start], replacement if is_filled else ""]
            done = stop
    return "".join([*parts, text[done:]])
