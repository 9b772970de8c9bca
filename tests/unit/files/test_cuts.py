from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.cuts import Cuts, fill_holes
from tests.cuts import Span, cut, spans_of
from tests.each import each_of
from tests.examples import examples

TEXT = st.lists(
    st.sampled_from(["a", "é", "語", "😀", " ", "\n", "0123456789" * 4]), max_size=8
).map("".join)


def cut_texts(texts: pa.Array, spans: list[Span], replacement: str) -> pa.Array:
    cuts = Cuts(("text",), *arrays(spans), replacement)
    holes = cuts.holes()
    return fill_holes(texts, replace(holes, strings=cuts.changed[holes.strings]), replacement)


def arrays(spans: list[Span]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, starts, stops = (np.array([span[k] for span in spans], np.int64) for k in range(3))
    return rows, starts, stops


@examples(80)
@given(
    texts=st.lists(st.none() | TEXT, max_size=5),
    replacement=st.sampled_from(["", "é", "[gone]"]),
    kind=st.sampled_from([pa.string(), pa.large_string()]),
    skipped=st.integers(0, 2),
    data=st.data(),
)
def test_cut_texts__as_strings_are_cut(texts, replacement, kind, skipped, data):
    spans = data.draw(spans_of([text or "" for text in texts]))
    array = pa.array([*["before é"] * skipped, *texts], kind).slice(skipped)
    found = cut_texts(array, spans, replacement)
    found.validate(full=True)
    assert found.type == kind
    assert found.to_pylist() == [
        None if text is None else cut(text, [s[1:] for s in spans if s[0] == row], replacement)
        for row, text in enumerate(texts)
    ]


def test_cut_texts__no_spans():
    texts = pa.array(["a", None])
    assert cut_texts(texts, [], "x") is texts


@each_of(
    ("spans", "expected"),
    [
        # Spans that adjoin are one hole.
        ([(0, 1, 2), (0, 2, 4)], "a[x]e"),
        ([(0, 1, 2), (0, 3, 4)], "a[x]c[x]e"),
        ([(0, 0, 5)], "[x]"),
        # There is nothing behind the end.
        ([(0, 4, 99)], "abcd[x]"),
        ([(0, 5, 6)], "abcde"),
    ],
)
def test_cut_texts__replacement(spans, expected):
    assert cut_texts(pa.array(["abcde"]), spans, "[x]").to_pylist() == [expected]


def test_holes_of_columns__each_by_itself():
    """A span over the newline between two columns is in both, its replacement in the first."""
    # ab \n (nothing) \n cdef, in the rows 3 and 7.
    rows, starts, stops = arrays([(3, 1, 6), (7, 2, 4), (7, 4, 5), (7, 7, 8)])
    cuts = Cuts(("a", "b", "c"), rows, starts, stops)
    assert cuts.changed.tolist() == [3, 7]
    lengths = [np.array([2, 2]), np.array([0, 0]), np.array([4, 4])]
    found = [
        list(
            zip(
                holes.strings.tolist(),
                holes.starts.tolist(),
                holes.stops.tolist(),
                holes.is_filled.tolist(),
                strict=True,
            )
        )
        for holes in cuts.holes_of_columns(lengths)
    ]
    assert found == [[(0, 1, 2, True)], [], [(0, 0, 2, False), (1, 0, 1, True), (1, 3, 4, True)]]
