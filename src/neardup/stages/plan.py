"""Plan of a deduplication: its options, checked before any work starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from neardup.errors import InvalidParameterError
from neardup.matching.bands import Banding
from neardup.matching.keep import KeepPolicy, parse_keep
from neardup.matching.measures import Measure, make_measure
from neardup.options.documents import DedupOptions
from neardup.options.option import no_effect
from neardup.reading.sign import ReadingPlan
from neardup.sketches.minhash import MinHashScheme
from neardup.sketches.weighted_minhash import WeightedMinHashScheme
from neardup.stages.options import choose_bands, reading_plan, weights_for


@dataclass(frozen=True)
class DedupPlan:
    """Checked options as parameters of stages; method exact does not use bands."""

    options: DedupOptions
    measure: Measure
    banding: Banding
    minhash: MinHashScheme
    keep: KeepPolicy
    reading: ReadingPlan

    @property
    def recall(self) -> Fraction:
        """Requested recall."""
        return self.options.recall_asked_for

    @property
    def predicted_recall(self) -> float:
        """Probability that a pair at the threshold becomes a candidate."""
        return self.banding.candidate_probability(float(self.measure.least_jaccard))


def plan_deduplication(options: DedupOptions, *, has_other: bool = True) -> DedupPlan:
    """Check combinations of options, for a run without an index.

    Raises
    ------
    InvalidParameterError
        For the first option that conflicts with another.
    """
    options.check_other("against", is_given=has_other)
    if options.add:
        message = "add needs an index, to which what stays is added; name it with against"
        raise InvalidParameterError(message, "add", "against")
    keep = parse_keep(options.keep, may_be_none=True)
    if keep.keeps_none:
        _check_copies(options)
        options = options.but(threshold="1")
    name, threshold = options.measure or "jaccard", options.threshold
    if threshold is None:
        threshold = "0.8"
    occurrences = options.occurrences or "set"
    options = options.but(measure=name, threshold=threshold, occurrences=occurrences)
    measure = make_measure(name, threshold)
    check_method(options)
    weighted = weights_for(options, measure)
    if weighted and options.ngram is None:
        options = options.but(ngram=1)
    if options.method == "exact":
        # Bands are unused, and a low threshold may not allow the recall.
        banding, minhash = Banding(1, 1), MinHashScheme(1)
    else:
        banding, minhash = choose_bands(options, measure)
        if weighted:
            minhash = WeightedMinHashScheme(minhash.num_perm, minhash.seed)
    reading = replace(
        reading_plan(options, order=keep.columns),
        minhash=None if options.method == "exact" else minhash,
        banding=None if options.method == "exact" else banding,
        with_lengths=keep.by_length,
        weighted=weighted,
        filters_for=None if weighted or options.method == "exact" else measure,
    )
    return DedupPlan(options, measure, banding, minhash, keep, reading)


def _check_copies(options: DedupOptions) -> None:
    """Raise for options of near-duplicates if every exact copy is removed.

    A document similar to a removed one may have no similar document left.
    """
    if options.method != "exact":
        message = (
            "keep none removes exact copies, all of them, and no near-duplicates; choose method "
            "exact, or keep first"
        )
        raise InvalidParameterError(message, "keep", "method")
    # A preset may have chosen the threshold.
    is_chosen = {
        "measure": options.measure is not None,
        "threshold": options.threshold is not None and options.preset is None,
        "clusters": options.clusters != "survivors",
    }
    for name in filter(is_chosen.get, is_chosen):
        raise no_effect(name, "with keep none, which removes exact copies", "keep first", "keep")


def check_method(options: DedupOptions) -> None:
    """Raise for an option that has no effect with the method.

    Raises
    ------
    InvalidParameterError
        For the first such option.
    """
    if options.method != "exact":
        return
    where, remedy = "with method exact", "choose method minhash or auto"
    if options.audit is not None:
        raise no_effect("audit", f"{where}, which misses nothing", remedy, "method")
    options.check_unused(where, remedy)
