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
from neardup.sketches.super_shingles import SuperShingleRule


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


def make_rule(
    sketches: Sketches, *, least: int | None, groups: int | None, rows: int | None
) -> SuperShingleRule | None:
    """Check how many super-shingles pairs have in common; None if that is not asked.

    Raises
    ------
    InvalidParameterError
        For kinds without, options without effect, and more min-hashes than sketches have.
    """
    if least is None:
        for name, value in (("bands", groups), ("rows", rows)):
            if value is not None:
                raise no_effect(
                    name, "without super_shingles", "give super_shingles", "super_shingles"
                )
        return None
    check_feature(sketches, "has_super_shingles", "super_shingles", "need")
    usual = SuperShingleRule()
    groups, rows = groups or usual.groups, rows or usual.rows
    if least > groups:
        message = f"super_shingles must lie between 1 and the {groups} bands, got {least}"
        raise InvalidParameterError(message, "super_shingles")
    n_values = sketches.rows.values.shape[1]
    if groups * rows > n_values:
        message = (
            f"bands * rows must be at most the {n_values} min-hashes of a sketch, got {groups} * "
            f"{rows}; make sketches with a larger num_perm, or give less bands or rows"
        )
        raise InvalidParameterError(message, "bands", "rows", "num_perm")
    return SuperShingleRule(groups, rows, least)


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
