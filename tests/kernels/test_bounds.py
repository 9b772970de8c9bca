from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage import narrowing
from neardup.kernels.passage.segments import Limits, SearchScratch, SegmentTexts
from neardup.kernels.types import ConstFloats, ConstInt32s, Int
from neardup.passages.search import weighed_documents
from neardup.text.weighting import TERM_FREQUENCIES, term_frequencies
from tests.examples import examples
from tests.kernels.own_kernels import own_kernel
from tests.oracles import passages as oracle

N_TYPES = 6


@own_kernel
def narrow(
    first: int,
    last: int,
    total: np.float64,
    types: ConstInt32s,
    copies: ConstInt32s,
    of_query: ConstFloats,
    heaviest: np.float64,
    limits: Limits,
    documents: SegmentTexts,
    scratch: SearchScratch,
) -> tuple[Int, Int, Int]:
    """Call helpers, which only kernels can."""
    once, again = np.empty(types.shape[0] + 1), np.empty(types.shape[0] + 1)
    narrowing.largest_shares(
        types, copies, types.shape[0], of_query, documents.term_weights, once, again
    )
    shares = narrowing.QueryShares(once, again, total)
    end = documents.tokens.shape[0]
    return narrowing.possible_starts(first, last, end, shares, heaviest, limits, documents, scratch)


def possible(tokens, query, first, last, min_tokens, threshold, tf, inverses, heaviest=np.inf):
    """Narrow a range of starts; gives it with what tokens weigh."""
    table = term_frequencies(tf, max(len(tokens), len(query)) + 1)
    weigh = oracle.make_weigh(table.tolist(), inverses)
    counts = Counter(query)
    total = sum(weigh(kind, f) for kind, f in counts.items())
    known = np.full(N_TYPES, -1, np.int32)
    known[list(counts)] = range(len(counts))
    # Where tokens stand outside of the range does not matter.
    behind = {kind: i for i, kind in enumerate(tokens)}
    seen = np.array([behind.get(kind, -1) for kind in range(N_TYPES)])
    given_inverses = np.array([] if set(inverses) == {1.0} else inverses)
    rooms = [np.empty(len(tokens) + 1) for _ in range(3)]
    offsets = np.array([0, len(tokens)])
    found = narrow(
        *(first, last, np.float64(total), np.array(list(counts), np.int32)),
        *(np.array(list(counts.values()), np.int32), np.array(inverses)),
        np.float64(heaviest),
        Limits(1, min_tokens, np.float64(threshold), 0),
        weighed_documents(np.array(tokens, np.int32), offsets, N_TYPES, given_inverses, table),
        SearchScratch(
            known,
            seen,
            np.empty(len(tokens) + 1, np.int64),
            *rooms,
        ),
    )
    return found, weigh, {kind: weigh(kind, f) for kind, f in counts.items()}


kinds = st.integers(0, N_TYPES - 1)
weights = st.just([1.0] * N_TYPES) | st.lists(
    st.sampled_from([0.25, 1.0, 1.7, 6.5]), min_size=N_TYPES, max_size=N_TYPES
)


@given(
    tokens=st.lists(kinds, min_size=1, max_size=16),
    query=st.lists(kinds, min_size=1, max_size=8),
    places=st.tuples(st.integers(0, 15), st.integers(0, 15)).map(sorted),
    min_tokens=st.integers(1, 5),
    threshold=st.sampled_from([Fraction(t) for t in ("1/3", "1/2", "3/5", "4/5", "1")]),
    tf=st.sampled_from(TERM_FREQUENCIES),
    inverses=weights,
    heaviest=st.just(np.inf) | st.integers(1, 40).map(lambda units: units * 2.0**20),
)
@examples(400)
def test_possible_starts__none_is_lost(
    tokens, query, places, min_tokens, threshold, tf, inverses, heaviest
):
    first, last = (min(place, len(tokens) - 1) for place in places)
    (low, high, end), weigh, wanted = possible(
        tokens, query, first, last, min_tokens, threshold, tf, inverses, heaviest
    )
    rows = [(0, len(tokens) - 1)] * len(tokens)
    total = sum(wanted.values())
    cells = oracle.similar_cells(tokens, rows, min_tokens, weigh, wanted, total, threshold)
    cells = {
        (i, j)
        for i, j in cells
        if sum(weigh(kind, f) for kind, f in Counter(tokens[i : j + 1]).items()) <= heaviest
    }
    starts = {i for i, _ in cells if first <= i <= last}
    assert low > high or first <= low <= high <= last
    assert starts <= set(range(low, high + 1))
    assert all(j < end for i, j in cells if i in starts)
    if tf == "binary" and heaviest == np.inf:
        # Sets: no bound is too high, so that the first and the last start are those of passages.
        assert {low, high} <= starts or low > high


runs = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 9), st.integers(0, 4), kinds),
    max_size=12,
)


@given(runs, st.integers(0, 4), st.integers(0, 3), st.integers(1, 6), st.integers(1, 30))
def test_join_ranges__all_that_begins_there(found, min_tokens, apart, n_regions, n_rows):
    """Regions have the sub-texts of their ranges, no others, and none that may meet are parted."""
    ranges, place = [], 0
    for query, document, gap, more, longer in sorted(found, key=lambda row: row[:2]):
        place = place + gap if ranges and ranges[-1][0] == query else gap
        ranges.append((query, document, place, place + more, place + more + longer + 1))
        place += more + 1
    rows = np.array(ranges, np.int64).reshape(-1, 5)
    cells, parts, done = [], [], 0
    while done < len(rows):
        regions = np.empty((n_regions, 5), np.int64)
        lows, highs = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
        done, n = narrowing.join_ranges(rows, done, min_tokens, apart, regions, lows, highs)
        if not n:
            n_rows *= 2
        for query, origin, end, row, behind in regions[:n].tolist():
            own = [
                (query, origin + i, origin + j)
                for i in range(behind - row)
                for j in range(lows[row + i], highs[row + i] + 1)
            ]
            assert all(origin <= i and j < end for _, i, j in own)
            cells += own
            parts.append((query, origin, end))
    least = max(min_tokens, 1)
    assert cells == [
        (query, i, j)
        for query, _, first, last, end in ranges
        for i in range(first, last + 1)
        for j in range(i + least - 1, end)
    ]
    of_documents = {(query, first): document for query, document, first, *_ in ranges}
    for (query, start, end), (other, origin, _) in pairwise(parts):
        if (query, of_documents[query, start]) == (other, of_documents[other, origin]):
            assert origin >= end + apart
