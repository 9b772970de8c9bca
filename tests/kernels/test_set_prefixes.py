from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from neardup.matching.measures import MEASURES
from tests.each import each_of
from tests.kernels.sets import THRESHOLDS, least_overlap, prefixes_of, threshold_of
from tests.oracles.measures import JOIN_MEASURES


def is_partner(measure, x, y):
    """Whether a record of size x looks for one of size y, as far as it is not too small."""
    if measure == "containment":
        return True
    return y >= x if measure == "max-containment" else y <= x


@pytest.mark.slow
@each_of("measure", JOIN_MEASURES)
def test_prefix_lengths__no_longer_than_needed(measure):
    """Some pair at the threshold meets in the last tokens of its prefixes only."""
    sizes = range(1, 25)
    for threshold in ("1", "2", "5") if measure == "overlap" else THRESHOLDS:
        t = Fraction(threshold)
        least, probing, indexing = prefixes_of(sizes, measure, t)
        for n in sizes:
            of_partners, of_lookers = (
                [
                    (other, n - least_overlap(measure, *pair, t) + 1)
                    for other, pair in pairs
                    if is_partner(measure, *pair) and least_overlap(measure, *pair, t) <= min(pair)
                ]
                for pairs in ([(m, (n, m)) for m in sizes], [(m, (m, n)) for m in sizes])
            )
            assert probing[n - 1] == max((tokens for _, tokens in of_partners), default=0)
            assert indexing[n - 1] == max((tokens for _, tokens in of_lookers), default=0)
            if measure != "max-containment":
                assert least[n - 1] == min((m for m, _ in of_partners), default=n + 1)


@each_of("measure", JOIN_MEASURES)
def test_partner_ranges__by_definition(measure):
    """All that come first and are large enough to reach the threshold, and no other."""
    generator = random.Random(f"ranges {measure}")
    for _ in range(30):
        t = Fraction(threshold_of(generator, measure))
        sizes = sorted(generator.randint(1, 14) for _ in range(generator.randrange(1, 12)))
        least, _, _ = prefixes_of(sizes, measure, t)
        first, last = MEASURES[measure](t).partner_ranges(np.array(sizes, np.int64), least)
        for x, size in enumerate(sizes):
            expected = [
                y
                for y, other in enumerate(sizes)
                if y > x or measure != "max-containment"
                if y < x or "containment" in measure
                if least_overlap(measure, size, other, t) <= min(size, other)
            ]
            found = range(first[x], last[x])
            # A contained record is among those large enough, and passed over when probed.
            assert list(found) == expected
