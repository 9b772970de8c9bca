"""Similarity measures, and thresholds that mean exactly what was typed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal

from neardup.errors import InvalidParameterError
from neardup.kernels import overlap
from neardup.options.kinds import exact_fraction

MeasureName = Literal[
    "jaccard",
    "cosine",
    "dice",
    "containment",
    "max-containment",
    "overlap",
    "weighted-jaccard",
]

_CODES: dict[str, int] = {
    "jaccard": overlap.JACCARD,
    "cosine": overlap.COSINE,
    "dice": overlap.DICE,
    "containment": overlap.CONTAINMENT,
    "max-containment": overlap.MAX_CONTAINMENT,
    "overlap": overlap.OVERLAP,
    "weighted-jaccard": overlap.WEIGHTED_JACCARD,
}
WEIGHTED = "weighted-jaccard"
# Joins know no weights.
JOIN_MEASURES = tuple(name for name in _CODES if name != WEIGHTED)
# A count says nothing about the share of what two documents have in common.
MEASURE_NAMES = tuple(name for name in _CODES if name != "overlap")

# MinHash sees Jaccard similarity, and containment says nothing about it unless sizes are bounded:
# for the two containments the recall is promised for pairs whose sizes differ at most this much.
CONTAINMENT_SIZE_RATIO = 2


@dataclass(frozen=True)
class Measure:
    """A similarity measure over two sets and the threshold that a pair has to reach.

    ``name``: with x the one document and y the other, |.| numbers of elements,

    - ``jaccard`` |x ∩ y| / |x ∪ y|
    - ``cosine`` |x ∩ y| / sqrt(|x| |y|)
    - ``dice`` 2 |x ∩ y| / (|x| + |y|)
    - ``containment`` |x ∩ y| / |x|: how much of x is in y. In deduplication x is the document
      that would be removed.
    - ``max-containment`` |x ∩ y| / min(|x|, |y|)
    - ``overlap`` |x ∩ y|, a count; only for joins
    - ``weighted-jaccard``: the sum of the lesser weights of all elements over that of the greater
      ones, for weighted sets; only for deduplication
    """

    name: MeasureName
    threshold: Fraction

    @property
    def code(self) -> int:
        """Number by which kernels know the measure."""
        return _CODES[self.name]

    @property
    def least_jaccard(self) -> Fraction:
        """Least Jaccard similarity of two sets that reach the threshold.

        For the two containments, among sets whose sizes differ at most by the factor
        ``CONTAINMENT_SIZE_RATIO``; without a bound there is none above zero.
        """
        t = self.threshold
        if self.name == "dice":
            return t / (2 - t)
        if self.name == "cosine":
            # Least where one set lies within the other, and its size is t^2 of the other's.
            return t * t
        if self.name in ("containment", "max-containment"):
            # |x| = 1, |y| = ratio, overlap t: t / (1 + ratio - t).
            return t / (1 + CONTAINMENT_SIZE_RATIO - t)
        return t


def make_join_measure(name: str, threshold: str | float | Decimal | Fraction) -> Measure:
    """Check a measure of a join, which may also be ``overlap``, and its threshold.

    Raises
    ------
    InvalidParameterError
        As ``make_measure``, and for an overlap that is not a whole number from 1 to 2^31 - 1.
    """
    if name != "overlap":
        return make_measure(name, threshold, JOIN_MEASURES)
    try:
        count = Fraction(Decimal(str(threshold)))
    except (InvalidOperation, ValueError, OverflowError):
        count = Fraction(0)
    if count.denominator != 1 or not 1 <= count < 2**31:
        message = f"an overlap's threshold must be a whole number, 1 or more, got {threshold}"
        raise InvalidParameterError(message)
    return Measure("overlap", count)


def make_measure(
    name: str,
    threshold: str | float | Decimal | Fraction,
    allowed: tuple[str, ...] = MEASURE_NAMES,
) -> Measure:
    """Check a measure's name and its threshold.

    Raises
    ------
    InvalidParameterError
        For an unknown name, or a threshold outside (0, 1] or finer than nine decimals.
    """
    if name not in allowed:
        message = f"measure must be one of {', '.join(allowed)}, got {name!r}"
        raise InvalidParameterError(message)
    return Measure(name, exact_fraction("threshold", threshold))  # type: ignore[arg-type]
