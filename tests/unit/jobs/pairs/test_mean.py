"""The weighted mean of fields, rounded once where that is cheap."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from neardup.jobs.pairs.mean import Field, WeightedMean
from neardup.matching.measures import Jaccard


def mean_of(*weights: str) -> WeightedMean:
    fields = tuple(
        Field(f"f{k}", f"f{k}", "text", Fraction(each)) for k, each in enumerate(weights)
    )
    return WeightedMean(fields, Jaccard(Fraction(1, 2)))


def test_means__of_what_is_there():
    nothing = np.nan
    found = mean_of("3", "1").means(
        np.array([[1, nothing, 1, nothing], [0.5, 0.5, nothing, nothing]])
    )
    assert found.tolist() == [0.875, 0.5, 1, 0]


@pytest.mark.parametrize(
    "weights", [("0.6", "0.3", "0.1"), ("0.1", "0.2", "0.7"), ("0.05", "3", "0.125")]
)
def test_means__of_equal_and_different_fields_are_exact(weights):
    """Every combination of fields that are equal, different, or lack a value."""
    values = np.array(np.meshgrid(*[[0, 1, np.nan]] * 3)).reshape(3, -1)
    for found, column in zip(mean_of(*weights).means(values), values.T, strict=True):
        known = [
            (Fraction(weight), Fraction(value))
            for weight, value in zip(weights, column, strict=True)
            if not np.isnan(value)
        ]
        if known:
            assert found == float(sum(w * s for w, s in known) / sum(w for w, _ in known))
