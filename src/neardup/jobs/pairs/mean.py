"""What records of several fields are compared by: the weighted mean of their similarities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, lcm
from typing import TYPE_CHECKING

import numpy as np

from neardup.tables import Floats

if TYPE_CHECKING:
    from neardup.matching.measures import Measure

# Bounds are rounded down to so many parts of one, because joins multiply sizes with them.
_FINE = 10**6

LEAST_THRESHOLD = Fraction(1, _FINE)
"""Of a lower one the bounds would be 0."""


@dataclass(frozen=True)
class Field:
    """A column that is compared, how it is called in the other collection, and what it weighs."""

    column: str
    other: str
    kind: str
    weight: Fraction

    @property
    def name(self) -> str:
        """The column of the table that has the similarities."""
        return f"similarity_{self.column}"


@dataclass(frozen=True)
class WeightedMean:
    """The fields whose weighted mean has to reach a threshold."""

    fields: tuple[Field, ...]
    measure: Measure

    @property
    def threshold(self) -> Fraction:
        """The threshold, which is written with the measure of texts."""
        return self.measure.threshold

    @property
    def columns(self) -> tuple[list[str], list[str]]:
        """The columns of the fields, in the first collection and in the other one."""
        return [each.column for each in self.fields], [each.other for each in self.fields]

    def weight(self, fields: Iterable[int]) -> Fraction:
        """Return what some fields weigh together."""
        return sum((self.fields[each].weight for each in fields), Fraction(0))

    def must_agree(self, field: int, pattern: Sequence[int]) -> bool:
        """Return whether a field has to be similar at all in every pair of a pattern."""
        return self.fields[field].weight > (1 - self.threshold) * self.weight(pattern)

    def bound(self, fields: Sequence[int], pattern: Sequence[int]) -> Fraction:
        """Return how similar a pair is in one of some fields at least, rounded down."""
        exact = 1 - (1 - self.threshold) * self.weight(pattern) / self.weight(fields)
        return Fraction(floor(exact * _FINE), _FINE)

    def lowered(self) -> Iterator[WeightedMean]:
        """Yield the same mean with thresholds that fall, ending with its own."""
        return (replace(self, measure=each) for each in self.measure.falling(0))

    def means(self, by_field: Floats) -> Floats:
        """Return the weighted mean of each pair, 0 where no field has a value.

        ``by_field`` has a row for each field, NaN where there is no value. Where fields are equal
        or wholly different the mean is the exact one, rounded once: then it is one of whole
        numbers, which decimal weights are not.
        """
        unit = lcm(*(each.weight.denominator for each in self.fields))
        weights = np.array([float(each.weight * unit) for each in self.fields])
        known = ~np.isnan(by_field)
        totals = weights @ known.astype(np.float64)
        # Field by field, so that a pair has the same mean whatever it is compared with.
        sums: Floats = np.zeros(by_field.shape[1])
        for weight, own in zip(weights, np.where(known, by_field, 0), strict=True):
            sums += weight * own
        means: Floats = np.minimum(sums / np.where(totals > 0, totals, 1), 1)
        return means
