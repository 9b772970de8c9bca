from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import log, log1p

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.common.bits import compare_products, wide_product
from neardup.kernels.passage.match_kernels import pick_passages
from tests.each import each_of
from tests.examples import examples
from tests.oracles import passages as oracle

TERM_WEIGHTS = {
    "raw": lambda f: float(f),
    "binary": lambda f: float(f > 0),
    "log": lambda f: log1p(f),
    "squared": lambda f: float(f * f),
}
# What a token of weight 1 weighs.
ONE = 2**20
THRESHOLDS = [Fraction(n, d) for d in range(1, 7) for n in range(1, d + 1)]
# Numerators and denominators whose products with weights go over 64 bits.
THRESHOLDS += [Fraction(2**61 // 3, 2**61), Fraction(4 * 10**17 + 1, 5 * 10**17)]


@dataclass
class Case:
    """A search as the kernels and the oracle take it."""

    tokens: list[int]
    rows: list[tuple[int, int]]
    min_tokens: int
    term_weights: list[float]
    type_weights: list[float]
    query: dict[int, int]
    query_total: int
    threshold: Fraction

    @classmethod
    def of(cls, tokens, query_tokens, threshold, *, rows=None, min_tokens=1, tf="raw", idf=None):
        """A search for query tokens, of which those from 100 on are not in the text."""
        longest = max(len(tokens), len(query_tokens))
        term_weights = [TERM_WEIGHTS[tf](f) for f in range(longest + 1)]
        n_types = max(tokens, default=-1) + 1
        type_weights = [1.0] * n_types if idf is None else idf[:n_types]
        weigh = oracle.make_weigh(term_weights, [*type_weights, *[1.0] * 200])
        weights = {kind: weigh(kind, n) for kind, n in Counter(query_tokens).items()}
        total = sum(weights.values())
        return cls(
            tokens,
            [(i, len(tokens) - 1) for i in range(len(tokens))] if rows is None else rows,
            min_tokens,
            term_weights,
            type_weights,
            {kind: weight for kind, weight in weights.items() if kind < n_types},
            total,
            Fraction(threshold),
        )

    def run(self, room=None, apart=0, times=0):
        room = len(self.rows) if room is None else room
        n_types = len(self.type_weights)
        counts = np.zeros(n_types, np.int32)
        passages = np.full((room + 1, 4), -7, np.int64)
        lows, highs = np.array(self.rows, np.int64).reshape(-1, 2).T
        n = pick_passages(
            apart,
            np.array(self.tokens, np.int32),
            np.ascontiguousarray(lows),
            np.ascontiguousarray(highs),
            self.min_tokens,
            np.array(self.term_weights),
            np.array(self.type_weights, np.float64),
            np.array([self.query.get(kind, 0) for kind in range(n_types)], np.int64),
            self.query_total,
            self.threshold.numerator,
            self.threshold.denominator,
            times,
            counts,
            passages[:room],
        )
        assert not counts.any()
        assert (passages[min(n, room) :] == -7).all()
        return [tuple(row) for row in passages[: min(n, room)].tolist()], n

    def cells(self):
        return oracle.similar_cells(
            self.tokens,
            self.rows,
            self.min_tokens,
            oracle.make_weigh(self.term_weights, self.type_weights),
            self.query,
            self.query_total,
            self.threshold,
        )

    def holding(self, times):
        return oracle.holding_cells(
            self.tokens,
            oracle.make_weigh(self.term_weights, self.type_weights),
            self.query,
            self.query_total,
            self.threshold,
            times,
        )


def in_ones(*rows):
    """Passages whose tokens weigh 1 each."""
    return [(start, end, shared * ONE, either * ONE) for start, end, shared, either in rows]


@st.composite
def cases(draw, longest=16):
    n_types = draw(st.integers(1, 6))
    kinds = st.integers(0, n_types - 1)
    tokens = draw(st.lists(kinds, max_size=longest))
    query = draw(st.lists(kinds | st.integers(100, 101), max_size=7))
    if tokens and draw(st.booleans()):  # a copy, perhaps with a change
        start = draw(st.integers(0, len(tokens) - 1))
        query = tokens[start : start + draw(st.integers(1, 8))] + query[:1]
    n = len(tokens)
    rows = None
    if draw(st.booleans()):
        edge = st.integers(-2, n + 1)
        gap = st.just((n + 2, -1))
        rows = draw(st.lists(gap | st.tuples(edge, edge), max_size=n))
    weights = st.sampled_from([0.0, 1.0, log(2), log(100 / 7), 12.5])
    weights |= st.integers(0, 40).map(lambda eighths: eighths / 8 * 2.0**-20)  # halves round up
    # Prefer thresholds that some sub-text reaches exactly.
    case = Case.of(
        tokens,
        query,
        draw(st.sampled_from(THRESHOLDS)),
        rows=rows,
        min_tokens=draw(st.integers(0, 5)),
        tf=draw(st.sampled_from(list(TERM_WEIGHTS))),
        idf=draw(st.none() | st.lists(weights, min_size=n_types, max_size=n_types)),
    )
    if draw(st.booleans()):
        case.threshold = Fraction(1, 1000)
        reached = sorted({Fraction(*similarity) for similarity in case.cells().values()})
        if reached:
            case.threshold = draw(st.sampled_from(reached))
    return case


@given(case=cases(), apart=st.integers(0, 4))
def test_pick_passages__oracle(case, apart):
    expected = oracle.picked(case.cells(), apart)
    assert case.run(apart=apart) == (expected, len(expected))


@given(case=cases(), apart=st.integers(0, 4), times=st.integers(1, 5))
@examples(300)
def test_pick_passages__holding_a_share(case, apart, times):
    case.rows = [(i, len(case.tokens) - 1) for i in range(len(case.tokens))]
    case.min_tokens = 1
    expected = oracle.picked_holding(case.holding(times), case.query_total, times, apart)
    # Ends are narrowed before, to what does not weigh too much.
    weigh = oracle.make_weigh(case.term_weights, case.type_weights)
    for i in range(len(case.tokens)):
        sizes = [oracle.weight(case.tokens[i : j + 1], weigh) for j in range(i, len(case.tokens))]
        case.rows[i] = (i, i + sum(w <= times * case.query_total for w in sizes) - 1)
    assert case.run(apart=apart, times=times) == (expected, len(expected))


@given(case=cases(), room=st.integers(0, 3))
def test_passages__room(case, room):
    expected = oracle.picked(case.cells())
    assert case.run(room) == (expected[:room], len(expected))


@each_of("n_before", range(4))
def test_pick_passages__longest_of_equal(n_before):
    # Whether the row's walk goes to the right or to the left; type 1 counts nothing.
    tokens = [2] * n_before + [0, 1, 1, 1]
    rows = [(n_before, n_before + 3)] * (n_before + 1)
    case = Case.of(tokens, [0], "1", rows=rows, idf=[1.0, 0.0, 1.0])
    assert case.run()[0] == in_ones((n_before, n_before + 3, 1, 1))


def test_passages__weights_are_rounded_half_up():
    # Weights of 1/2, 3/2 and 5/2 units: 1, 2 and 3.
    case = Case.of([0, 0, 0], [0, 0, 0], "1/3", tf="raw", idf=[2.0**-21])
    case.query, case.query_total = {0: 2}, 2
    assert case.run()[0] == [(0, 2, 2, 2)]
    case = Case.of([0, 1, 2], [0, 1, 2], "1", idf=[0.5 * 2.0**-20, 1.45 * 2.0**-20, 2.0**-19])
    assert case.query_total == 1 + 1 + 2
    assert case.run()[0] == [(0, 2, 4, 4)]


def test_passages__nothing():
    assert Case.of([], [1, 2], "1/2").run() == ([], 0)
    assert Case.of([0, 1, 2], [], "1/2").run() == ([], 0)
    # Tokens that count nothing are never similar, not even to a query of nothing.
    assert Case.of([0, 0], [0], "1/2", idf=[0.0]).run() == ([], 0)


def test_passages__large_weights():
    # Products of weights and thresholds of more than 64 bits, of which only the lowest differ.
    case = Case.of([0, 1, 2], [0, 1], "1/2", idf=[2.0**40, 2.0**29, 3.0 * 2**-20])
    # The first weighs the most that there is; all three are below the threshold, the first two not.
    union = 3 * 2**49
    case.threshold = Fraction(union, union + 2)
    assert case.run()[0] == [(0, 1, union, union)]
    case.min_tokens = 3
    assert case.run()[0] == []
    case.threshold = Fraction(union, union + 3)
    assert case.run()[0] == [(0, 2, union, union + 3)]


numbers = st.integers(0, 2**63 - 1) | st.integers(0, 2**32) | st.integers(2**62, 2**62 + 2)


@given(a=numbers, b=numbers)
def test_wide_product__oracle(a, b):
    upper, lower = wide_product(np.uint64(a), np.uint64(b))
    assert int(upper) * 2**64 + int(lower) == a * b


@given(a=numbers, b=numbers, c=numbers, d=numbers, are_close=st.booleans())
def test_compare_products__oracle(a, b, c, d, are_close):
    if are_close and c > 0:
        d = min(a * b // c, 2**63 - 1)
    for w, x, y, z in ((a, b, c, d), (a, b, b, a), (a, b, a, b), (c, d, a, b)):
        expected = (w * x > y * z) - (w * x < y * z)
        assert compare_products(np.int64(w), np.int64(x), np.int64(y), np.int64(z)) == expected
