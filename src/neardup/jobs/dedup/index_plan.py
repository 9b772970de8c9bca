"""The plan of a deduplication against an index, which decides what counts as similar."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from neardup.clustering.keep import parse_keep
from neardup.documents.scheme import DocumentScheme
from neardup.errors import InvalidParameterError
from neardup.jobs.dedup.plan import DedupOptions, DedupPlan, check_method, check_weights
from neardup.options.kinds import exact_fraction

# Options that an index has decided.
_DECIDED = (
    *("measure", "ngram", "occurrences", "casefold", "unicode_form", "strip_accents"),
    *("fold_digits", "recall", "num_perm", "bands", "rows", "seed", "tf", "idf"),
)


def plan_with_index(options: DedupOptions, scheme: DocumentScheme) -> DedupPlan:
    """Check what goes with what, and with an index; what is not given is as the index has it.

    Raises
    ------
    InvalidParameterError
        For the first option that does not go with another, or is unlike the index.
    """
    options.check_no_other("with an index", "name files with against", "against")
    check_method(options)
    check_weights(options, scheme.measure)
    _check_alike(options, scheme)
    measure = scheme.measure_at(options.threshold)
    if options.add:
        _check_addition(options)
    keep = parse_keep(options.keep)
    reading = scheme.reading_plan(
        replace(options.columns, order=keep.column), skip_bad=options.skip_bad
    )
    reading = replace(reading, with_lengths=keep.by_length)
    if options.method == "exact":
        reading = replace(reading, minhash=None, banding=None, filters_for=None)
    options = replace(options, recall=scheme.recall)
    return DedupPlan(options, measure, scheme.banding, scheme.minhash, keep, reading)


def needs_all_texts(options: DedupOptions) -> bool:
    """Return whether all texts of an index are read, as those of a collection are."""
    return (
        options.clusters == "components" or options.method != "minhash" or options.audit is not None
    )


def _check_alike(options: DedupOptions, scheme: DocumentScheme) -> None:
    """Raise for an option that was given and is not what the index was made with."""
    made_with: dict[str, Any] = {
        **scheme.describe(),
        "recall": scheme.recall,
        "num_perm": scheme.minhash.num_perm,
    }
    for name in _DECIDED:
        value = getattr(options, name)
        # A flag that is not set is not given.
        if value is None or (value is False and name in ("strip_accents", "fold_digits")):
            continue
        has = made_with.get(name)
        if name == "recall":
            value = exact_fraction(name, value)
        if value != has:
            message = (
                f"the index was made with {name} {_spelled(has)}, got {_spelled(value)}; leave "
                f"out {name}, or build another index"
            )
            raise InvalidParameterError(message, name, "against")


def _spelled(value: object) -> str:
    return f"{float(value):g}" if isinstance(value, Fraction) else str(value)


def _check_addition(options: DedupOptions) -> None:
    """Raise for what would not add the same documents as one run over all of them."""
    for name, is_unlike, remedy in (
        ("clusters", options.clusters != "survivors", "choose clusters survivors"),
        ("method", options.method != "minhash", "choose method minhash"),
        ("audit", options.audit is not None, "leave it out"),
    ):
        if is_unlike:
            message = (
                f"{name} compares with all texts of the index, which add never reads; {remedy}"
            )
            raise InvalidParameterError(message, name, "add")
