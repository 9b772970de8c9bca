"""The plan of a deduplication against an index, which decides what counts as similar."""

from __future__ import annotations

from dataclasses import replace

from neardup.clustering.keep import parse_keep
from neardup.documents.scheme import DocumentScheme, check_alike
from neardup.errors import InvalidParameterError
from neardup.jobs.dedup.plan import DedupOptions, DedupPlan, check_method


def plan_with_index(options: DedupOptions, scheme: DocumentScheme) -> DedupPlan:
    """Check what goes with what, and with an index; what is not given is as the index has it."""
    options.check_no_other("with an index", "name files with against", "against")
    check_method(options)
    options.check_weights_of_index(scheme.measure)
    check_alike(options, scheme)
    measure = scheme.measure_at(options.threshold)
    if options.add:
        _check_addition(options)
    keep = parse_keep(options.keep)
    reading = scheme.reading_plan(
        replace(options.columns, order=keep.column), skip_bad=options.skip_bad
    )
    reading = replace(reading, with_lengths=keep.by_length, by=options.by)
    if options.method == "exact":
        reading = replace(reading, minhash=None, banding=None, filters_for=None)
    options = replace(options, recall=scheme.recall)
    return DedupPlan(options, measure, scheme.banding, scheme.minhash, keep, reading)


def needs_all_texts(options: DedupOptions) -> bool:
    """Return whether all texts of an index are read, as those of a collection are."""
    return (
        options.clusters == "components" or options.method != "minhash" or options.audit is not None
    )


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
