"""Tails of the binomial distribution, against counting what each draw of samples gives."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from benchmarks.papers.broder.far import tail
from tests.each import each_of


@pytest.mark.slow
@each_of("bound", [Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)])
@each_of("r", [Fraction(1, 10), Fraction(3, 5)])
def test_tail(r, bound):
    expected = Fraction(0)
    for draw in product((0, 1), repeat=6):
        share = Fraction(sum(draw), 6)
        if share >= bound if bound > r else share < bound:
            expected += r ** sum(draw) * (1 - r) ** (6 - sum(draw))
    assert tail(r, bound, 6) == expected
