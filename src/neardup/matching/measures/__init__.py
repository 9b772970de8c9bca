"""Similarity measures: one object each, registered below, with the threshold that it is given.

To add one, write a module beside these, and its integer arithmetic under a code of its own in
``kernels.join.overlap``.
"""

from __future__ import annotations

from neardup.errors import InvalidParameterError
from neardup.matching.measures.common_elements import Overlap
from neardup.matching.measures.containment import Containment, MaxContainment
from neardup.matching.measures.cosine import Cosine
from neardup.matching.measures.dice import Dice
from neardup.matching.measures.hamming import Hamming
from neardup.matching.measures.jaccard import Jaccard
from neardup.matching.measures.measure import Measure, SizeBounds
from neardup.matching.measures.thresholds import Number
from neardup.matching.measures.weighted_jaccard import WeightedJaccard

__all__ = [
    "JOIN_MEASURES",
    "MEASURES",
    "MEASURE_NAMES",
    "SET_MEASURES",
    "Containment",
    "Cosine",
    "Dice",
    "Hamming",
    "Jaccard",
    "MaxContainment",
    "Measure",
    "Number",
    "Overlap",
    "SizeBounds",
    "WeightedJaccard",
    "make_join_measure",
    "make_measure",
]

# In the order in which users see them; ``options.choices`` spells the names out.
_REGISTERED: tuple[type[Measure], ...] = (
    Jaccard,
    Cosine,
    Dice,
    Containment,
    MaxContainment,
    Overlap,
    WeightedJaccard,
)
MEASURES: dict[str, type[Measure]] = {measure.name: measure for measure in _REGISTERED}
# Those of plain sets, which is what joins know.
SET_MEASURES = tuple(measure for measure in _REGISTERED if not measure.is_weighted)
JOIN_MEASURES = tuple(measure.name for measure in SET_MEASURES)
# Those of deduplication, where a count says nothing.
MEASURE_NAMES = tuple(measure.name for measure in _REGISTERED if not measure.is_count)


def make_measure(name: str, threshold: Number, allowed: tuple[str, ...] = MEASURE_NAMES) -> Measure:
    """Check a measure's name and its threshold.

    Raises
    ------
    InvalidParameterError
        For an unknown name, or a threshold that the measure cannot have.
    """
    if name not in allowed:
        message = f"measure must be one of {', '.join(allowed)}, got {name!r}"
        raise InvalidParameterError(message)
    return MEASURES[name].parse(threshold)


def make_join_measure(name: str, threshold: Number) -> Measure:
    """Check a measure of a join, which may also be ``overlap``, and its threshold.

    Raises
    ------
    InvalidParameterError
        As ``make_measure``.
    """
    return make_measure(name, threshold, JOIN_MEASURES)
