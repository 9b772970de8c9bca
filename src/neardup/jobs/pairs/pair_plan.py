"""Plan of a search for pairs, with its checked options."""

from __future__ import annotations

from dataclasses import dataclass, replace

from neardup.errors import InvalidParameterError
from neardup.matching.buckets import Banding
from neardup.matching.join import DEFAULT_ALGORITHM
from neardup.matching.measures import MEASURES, EditThreshold, Measure
from neardup.options.choices import Algorithm
from neardup.options.document_options import PairOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import no_effect
from neardup.reading.sign import ReadingPlan
from neardup.sketches.minhash import WeightedMinHashScheme
from neardup.stages.options import choose_bands, reading_plan, weights_for

_DEFAULT_THRESHOLD = "0.8"

# Case in which many options have no effect, and the remedy.
_ON_EDITS, _OF_SETS = "on edit distances", "compare sets of shingles"


@dataclass(frozen=True)
class PairPlan:
    """Checked options, with the measure or edit limit, and bands if used."""

    options: PairOptions
    measure: Measure | EditThreshold
    algorithm: Algorithm
    banding: Banding | None
    reading: ReadingPlan

    @property
    def threshold(self) -> float | None:
        """The least similarity, None with limited distances."""
        threshold = self.measure.threshold
        return None if threshold is None else float(threshold)

    @property
    def of_sets(self) -> Measure | None:
        """The measure if it is one of sets, None for edit distances."""
        return self.measure if isinstance(self.measure, Measure) else None


def plan_pairs(options: PairOptions, *, has_other: bool) -> PairPlan:
    """Check options together, given whether there is another collection."""
    plan = _plan(options)
    options.check_other("against", is_given=has_other)
    return plan


def _plan(options: PairOptions) -> PairPlan:
    options = options.but(method=options.method or "exact")
    name = EditThreshold.name if options.is_of_edits else options.measure or "jaccard"
    kind = MEASURES.get(name)  # None for edit distances
    _check_exclusive(options, kind)
    _check_effects(options, kind)
    algorithm = options.algorithm or DEFAULT_ALGORITHM
    threshold = _DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    if kind is None:
        strings = reading_plan(options.with_tokenizer("characters"))
        strings = replace(strings, blocking=options.blocking_columns)
        limit = EditThreshold(options.max_distance)
        if options.max_distance is None:
            limit = EditThreshold(None, exact_fraction("threshold", threshold))
        return PairPlan(options, limit, algorithm, None, strings)
    measure = kind.parse(threshold)
    weighted = weights_for(options, measure)
    if weighted and options.ngram is None:
        options = options.but(ngram=1)
    reading = replace(reading_plan(options), weighted=weighted, blocking=options.blocking_columns)
    banding = None
    if options.method == "minhash":
        banding, minhash = choose_bands(options, measure)
        if weighted:
            minhash = WeightedMinHashScheme(minhash.num_perm, minhash.seed)
        reading = replace(reading, banding=banding, minhash=minhash)
    return PairPlan(options, measure, algorithm, banding, reading)


def _check_exclusive(options: PairOptions, kind: type[Measure] | None) -> None:
    """Raise if options exclude each other, or need another option."""
    is_count = kind is not None and kind.is_count
    has_bands = kind is not None and kind.has_bands
    without_bands = "edit distances" if kind is None else f"an {kind.name}"
    exclusive = {
        "max_distance is an edit distance; leave out measure or choose measure edit": (
            options.max_distance is not None and kind is not None
        ),
        "give either max_distance or threshold": (
            options.max_distance is not None and options.threshold is not None
        ),
        f"measure {options.measure} needs threshold, the least number of common shingles": (
            is_count and options.threshold is None
        ),
        "method minhash estimates Jaccard similarities; choose method exact for "
        + without_bands: options.method == "minhash" and not has_bands,
        "per_document needs top, the number of partners": (
            options.per_document and options.top is None
        ),
    }
    named = ("max_distance", "measure", "threshold", "method", "top", "per_document")
    for message, is_wrong in exclusive.items():
        if is_wrong:
            raise InvalidParameterError(message, *named)


def _without_bands(kind: type[Measure] | None) -> tuple[str, str]:
    """Return the case without bands, and the remedy."""
    if kind is None:
        return _ON_EDITS, f"{_OF_SETS} with method minhash"
    remedy = "choose method minhash"
    if not kind.has_bands:
        remedy += " and another measure"
    return "with method exact", remedy


def _check_effects(options: PairOptions, kind: type[Measure] | None) -> None:
    if kind is None:
        if options.occurrences != "set":
            raise no_effect("occurrences", _ON_EDITS, _OF_SETS)
        options.check_no_weights(_ON_EDITS)
    elif kind.is_weighted and options.algorithm is not None:
        message = f"method {options.method} filters plain sets; choose method exact"
        raise InvalidParameterError(message, "method")
    if options.method != "minhash":
        options.check_unused(*_without_bands(kind))
