"""Spans cut out of texts, as Python's strings are cut."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

Span = tuple[int, int, int]
"""Row, start and stop."""


@st.composite
def spans_of(draw: st.DrawFn, texts: Sequence[str]) -> list[Span]:
    """Draw spans of some texts: ascending, none empty, none overlapping; some adjoin."""
    spans = []
    for row, text in enumerate(texts):
        marks = draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
        breaks = draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
        start = None
        for i, is_cut in enumerate([*marks, False]):
            if start is not None and (not is_cut or breaks[i]):
                spans.append((row, start, i))
                start = None
            if is_cut and start is None:
                start = i
    return spans


def cut(text: str, spans: Sequence[tuple[int, int]], replacement: str = "") -> str:
    """Cut spans out of a text; those that adjoin are one hole."""
    out, done = "", 0
    for start, stop in spans:
        out += text[done:start] + ("" if start == done > 0 else replacement)
        done = stop
    return out + text[done:]
