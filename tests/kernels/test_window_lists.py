from __future__ import annotations

from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage import candidates

WIDE = 65535
wide_spans = st.sampled_from([0, 1, 300, WIDE - 1, WIDE, WIDE + 1, 2**31, 2**32 - 1])
row_spans = st.one_of(
    st.tuples(*[st.integers(0, WIDE - 1)] * 3), st.tuples(wide_spans, wide_spans, wide_spans)
)


def rows_of(rows):
    return np.array(rows, np.uint32).reshape(-1, 3)


def assert_ordered(rows, ranks):
    """Order rows of (number, spans) by the ranks of their numbers."""
    numbers = np.array([number for number, _ in rows], np.int32)
    starts = np.arange(2**32 - 100, 2**32 - 100 + len(rows)).astype(np.uint32)
    frequencies = [sum(ranks[number] == rank for number, _ in rows) for rank in range(5)]
    next_row = np.array(list(accumulate(frequencies[:-1], initial=0)), np.int64)
    ordered_starts = np.full(len(rows), 9, np.uint32)
    ordered_spans = np.full((len(rows), 3), 9, np.uint32)
    n_wide = candidates.order_windows(
        *(numbers, np.array(ranks, np.int32), starts, rows_of([span for _, span in rows])),
        *(next_row, ordered_starts, ordered_spans),
    )
    expected = sorted(range(len(rows)), key=lambda i: ranks[rows[i][0]])
    assert ordered_starts.tolist() == [int(starts[i]) for i in expected]
    assert ordered_spans.tolist() == [list(rows[i][1]) for i in expected]
    assert n_wide == sum(max(span) >= WIDE for _, span in rows)
    assert next_row.tolist() == list(accumulate(frequencies))


@given(st.lists(st.tuples(st.integers(0, 4), row_spans), max_size=40), st.permutations(range(5)))
def test_order_windows__sorts_by_rank_and_keeps_the_order(rows, ranks):
    assert_ordered(rows, ranks)


def packed(rows):
    spans = rows_of(rows)
    n_wide = sum(max(row) >= WIDE for row in rows)
    narrow = np.full(spans.shape, 9, np.uint16)
    places, values = np.full(n_wide, -7, np.int64), np.full((n_wide, 3), 9, np.uint32)
    candidates.pack_spans(spans, narrow, places, values)
    return narrow, places, values


@given(st.lists(row_spans, max_size=40))
def test_pack_spans__is_read_again(rows):
    narrow, places, values = packed(rows)
    assert places.tolist() == [row for row, spans in enumerate(rows) if max(spans) >= WIDE]
    assert values.tolist() == [list(spans) for spans in rows if max(spans) >= WIDE]
    assert narrow.tolist() == [[min(span, WIDE) for span in spans] for spans in rows]
    for row, spans in enumerate(rows):
        for which, span in enumerate(spans):
            found = candidates.read_span(narrow, places, values, np.int64(row), np.int64(which))
            assert int(found) == span
