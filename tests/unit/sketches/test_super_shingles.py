from __future__ import annotations

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.sketches.super_shingles import SuperShingleRule, count_agreements, super_shingles
from tests.unit.sketches.samples import rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((0, 1, 1), "groups and rows must be 1 or more, got 0 and 1"),
        ((1, 0, 1), "groups and rows must be 1 or more, got 1 and 0"),
        ((6, 14, 0), "least must lie between 1 and the 6 groups, got 0"),
        ((6, 14, 7), "least must lie between 1 and the 6 groups, got 7"),
    ],
)
def test_super_shingle_rule__out_of_range(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        SuperShingleRule(*options)


def test_super_shingle_rule__of_84_min_hashes():
    """Two of six groups of fourteen, as Broder and others used it on the Web."""
    found = [SuperShingleRule().probability(r) for r in (0.8, 0.9, 0.95, 0.99)]
    assert found == pytest.approx([0.026, 0.415, 0.879, 0.9998], abs=5e-4)
    assert SuperShingleRule(4, 2, 4).group_probability(0.5) == 0.25


def test_super_shingles__one_for_each_group():
    rule = SuperShingleRule(3, 2, 2)
    signatures = np.array([[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 9, 5, 6, 8]], np.uint32)
    keys = super_shingles(signatures, rule)
    assert count_agreements(keys, keys, rows(0, 0), rows(0, 1)).tolist() == [3, 2]
    with pytest.raises(InvalidParameterError, match="6 positions, got 3 \\* 3"):
        super_shingles(signatures[:, :6], SuperShingleRule(3, 3, 2))
    with pytest.raises(InvalidParameterError, match="other must have 3 groups, as keys, got 2"):
        count_agreements(keys, keys[:, :2], rows(0), rows(0))
