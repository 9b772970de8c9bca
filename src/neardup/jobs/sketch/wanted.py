"""Which pairs an estimate is asked for: options held against the kind of the sketches."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from neardup.errors import InvalidParameterError
from neardup.jobs.sketch.sketches import Sketches
from neardup.options.kinds import exact_fraction
from neardup.options.option import no_effect
from neardup.sketches.kind import Wanted
from neardup.sketches.registry import KIND_NAMES, kind_named, kinds_with


def make_wanted(
    sketches: Sketches,
    *,
    measure: str | None,
    threshold: str | float | Decimal | Fraction | None,
    min_significance: float | None,
) -> Wanted:
    """Check which pairs are wanted.

    Raises
    ------
    InvalidParameterError
        For a measure or a significance that the kind does not estimate, a measure without a
        threshold, and a threshold that is out of range.
    """
    kind = sketches.kind_object
    if measure is not None and measure not in kind.measures:
        kinds = [name for name in KIND_NAMES if measure in kind_named(name).measures]
        message = (
            f"measure {measure} needs sketches of kind {' or '.join(kinds)}, got {sketches.kind}; "
            f"choose {' or '.join(kind.measures)}, or make such sketches"
        )
        raise InvalidParameterError(message, "measure")
    if measure is not None and threshold is None:
        raise no_effect("measure", "without threshold", "give threshold", "threshold")
    if min_significance is not None:
        check_feature(sketches, "has_significance", "min_significance")
    least = None if threshold is None else exact_fraction("threshold", threshold)
    return Wanted(least, measure, min_significance)


def check_feature(sketches: Sketches, feature: str, option: str, verb: str = "needs") -> None:
    """Raise unless the kind of sketches has what an option needs.

    Raises
    ------
    InvalidParameterError
        Naming the kinds that have it.
    """
    if not getattr(sketches.kind_object, feature):
        message = (
            f"{option} {verb} sketches of kind {kinds_with(feature)}, got {sketches.kind}; leave "
            f"out {option}, or make such sketches"
        )
        raise InvalidParameterError(message, option)
