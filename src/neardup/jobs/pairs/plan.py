"""The plan of a search for pairs: its options, checked before any work starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from neardup.errors import InvalidParameterError
from neardup.jobs.pairs.mean import LEAST_THRESHOLD, Field, WeightedMean
from neardup.matching.bands import Banding
from neardup.matching.join import DEFAULT_ALGORITHM
from neardup.matching.measures import LEAST_SHARE, MEASURES, Hamming, Measure
from neardup.options.choices import Algorithm
from neardup.options.documents import PairOptions
from neardup.options.kinds import exact_fraction, read_as_text
from neardup.options.option import no_effect
from neardup.reading.sign import ReadingPlan
from neardup.sketches.weighted_minhash import WeightedMinHashScheme
from neardup.stages.options import choose_bands, other_columns_of, reading_plan, weights_for

if TYPE_CHECKING:
    from neardup.matching.edit_join import EditThreshold

_DEFAULT_THRESHOLD = "0.8"

# Those of sets; None stands for edit distances.
_KINDS: dict[str, type[Measure]] = {**MEASURES, Hamming.name: Hamming}

# Where many options have no effect, and the remedy.
EDIT = "edit"
# What pairs of records are judged by that have several fields.
FIELDS = "fields"
_ON_EDITS, _OF_SETS = "on edit distances", "compare sets of shingles"
_ON_WEIGHTS = "on weighted sets, which are joined in one way"


_ALSO_AND_TOP = "also holds pairs to a condition that were found by a threshold; leave out top"


@dataclass(frozen=True)
class PairPlan:
    """Checked options: ``measure`` of sets, ``edit`` distances of strings, or a ``mean`` of fields.

    ``banding`` is there where candidates come from MinHash bands.
    """

    options: PairOptions
    measure: Measure | None
    edit: EditThreshold | None
    algorithm: Algorithm
    banding: Banding | None
    reading: ReadingPlan
    mean: WeightedMean | None = None

    @property
    def threshold(self) -> float | None:
        """The least similarity, None where any will do or distances are limited."""
        if self.options.top is not None and self.options.threshold is None:
            return None
        if self.mean:
            return float(self.mean.threshold)
        if self.measure:
            return None if self.measure.is_distance else float(self.measure.threshold)
        similarity = self.edit.similarity if self.edit else None
        return None if similarity is None else float(similarity)

    @property
    def algorithm_of_strings(self) -> Algorithm:
        """The algorithm, where there is nothing to choose by."""
        return "ppjoin+" if self.algorithm == "auto" else self.algorithm

    @property
    def measure_of_sets(self) -> Measure:
        """The measure, where it is one of sets."""
        assert self.measure is not None
        return self.measure

    @property
    def is_by_distance(self) -> bool:
        """Whether pairs are ranked by their distances."""
        if self.measure:
            return self.measure.is_distance
        return self.edit is not None and self.edit.max_distance is not None

    @property
    def measure_name(self) -> str:
        """Name of the measure, of whichever kind."""
        if self.mean:
            return FIELDS
        return self.measure.name if self.measure else EDIT

    @property
    def reading_of_other(self) -> ReadingPlan:
        """How another collection is read."""
        columns = other_columns_of(self.options)
        if self.mean is not None:
            names = {each.column: each.other for each in self.mean.fields}
            own = self.reading.columns
            columns = replace(
                own,
                text=tuple(names[name] for name in own.texts),
                id=columns.id,
                id_is_default=columns.id_is_default,
            )
        return self.reading.for_other(columns)


def plan_pairs(options: PairOptions, *, other: str, has_other: bool) -> PairPlan:
    """Check what goes with what.

    Parameters
    ----------
    options
        Of the search itself.
    other
        What names another collection.
    has_other
        Whether it does.
    """
    plan = _plan(options)
    options.check_other(other, is_given=has_other)
    renamed = [each for each in options.field_parts if each.column != each.other]
    if renamed and not has_other:
        each = renamed[0]
        message = (
            f"fields names {each.spelled!r}, column {each.column!r} and {each.other!r} of another "
            f"collection, which {other} gives; a column with = in its name has it twice, "
            f"{each.spelled.replace('=', '==')!r}"
        )
        raise InvalidParameterError(message, "fields", other)
    return plan


def _plan(options: PairOptions) -> PairPlan:
    options = options.but(method=options.method or "exact")
    if options.fields is not None:
        return _plan_of_fields(options)
    name = options.measure or ("jaccard" if options.max_distance is None else EDIT)
    kind = _KINDS.get(name)
    _check_exclusive(options, kind)
    _check_effects(options, kind)
    algorithm = options.algorithm or DEFAULT_ALGORITHM
    if kind is None:
        return PairPlan(
            options, None, _edit_threshold(options), algorithm, None, _read_strings(options)
        )
    measure = _measure(options, kind)
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
    return PairPlan(options, measure, None, algorithm, banding, reading)


# Of sets, with similarities that are fractions, the same in either direction.
_OF_FIELDS = ("jaccard", "dice", "max-containment")


def _plan_of_fields(options: PairOptions) -> PairPlan:
    _check_fields(options)
    measure = MEASURES[options.measure or _OF_FIELDS[0]]
    parts = options.field_parts
    mean = WeightedMean(
        tuple(
            Field(each.column, each.other, each.kind, each.weight)
            for each in parts
            if each.weight is not None
        ),
        _measure_of_fields(options, measure),
    )
    if mean.threshold < LEAST_THRESHOLD:
        message = f"threshold must be {float(LEAST_THRESHOLD):f} at least on fields"
        raise InvalidParameterError(message, "threshold")
    texts = read_as_text({each.column: each.kind for each in parts})
    options = options.but(text_column=texts, ngram=1 if options.ngram is None else options.ngram)
    reading = reading_plan(options)
    columns = replace(reading.columns, text_option="field", may_lack_text=True)
    reading = replace(reading, columns=columns, blocking=options.blocking_columns)
    algorithm = options.algorithm or DEFAULT_ALGORITHM
    return PairPlan(options, None, None, algorithm, None, reading, mean)


def _measure_of_fields(options: PairOptions, measure: type[Measure]) -> Measure:
    """Return the measure of texts with the threshold; without one the best are of all pairs."""
    if options.threshold is not None:
        return measure.parse(options.threshold)
    return measure(LEAST_THRESHOLD) if options.top else measure.parse(_DEFAULT_THRESHOLD)


def _check_fields(options: PairOptions) -> None:
    """Raise for options that do not go with fields."""
    if options.measure not in (None, *_OF_FIELDS):
        message = (
            f"texts of fields are compared by {', '.join(_OF_FIELDS[:-1])} or {_OF_FIELDS[-1]}, "
            f"got measure {options.measure}; edit distances are the kind of a field, such as "
            "name:0.5:edit"
        )
        raise InvalidParameterError(message, "measure", "fields")
    exclusive = {
        "fields have a mean of similarities; give threshold instead of max_distance": (
            options.max_distance is not None
        ),
        "fields are compared exactly; leave out method minhash": options.method == "minhash",
        "per_document does not go with fields; leave it out": options.per_document,
        _ALSO_AND_TOP: options.also is not None and options.top is not None,
        "fields take the place of text_column; leave that out": (
            options.text_column != options.known["text_column"].default
        ),
        "fields take the place of against_text_column; leave that out, and name a column that is "
        "called differently there as title=name:0.5": options.against_text_column is not None,
    }
    named = ("fields", "max_distance", "threshold", "method", "top", "per_document", "also")
    for message, is_wrong in exclusive.items():
        if is_wrong:
            raise InvalidParameterError(message, *named, "text_column", "against_text_column")
    if options.reads_bytes:
        raise InvalidParameterError("fields are columns, which bytes have not", "fields")
    options.check_no_weights("on fields")
    options.check_unused("on fields", "leave out fields", but=options.seeded)
    _check_limit(options)
    if options.algorithm is not None:
        raise no_effect("algorithm", "on fields, which choose their joins", "leave out fields")
    if options.also_missing is not None and not options.conditions:
        raise no_effect("also_missing", "without also", "give also", "also")
    columns = [each.column for each in options.field_parts]
    both = set(columns) & {text.rsplit(":", 2)[0] for text in options.conditions}
    if both:
        message = f"also and fields both name {min(both)!r}; a column is a field or a condition"
        raise InvalidParameterError(message, "also", "fields")
    shown = {f"{name}_{side}": name for name in options.shown_columns for side in "ab"}
    for column in columns:
        name = shown.get(f"similarity_{column}")
        if name is not None:
            message = (
                f"fields names {column!r}, whose similarities would be similarity_{column}, as "
                f"values of column {name!r} of with_columns are called; leave one of them out"
            )
            raise InvalidParameterError(message, "fields", "with_columns")


def _measure(options: PairOptions, kind: type[Measure]) -> Measure:
    """Return the measure with its threshold; without one the most similar come from all pairs."""
    if kind is Hamming:
        return Hamming.within(options.max_distance or 0)
    if options.threshold is not None:
        return kind.parse(options.threshold)
    return kind.parse(_DEFAULT_THRESHOLD) if options.top is None else kind.lowest()


def _edit_threshold(options: PairOptions) -> EditThreshold:
    # RapidFuzz is loaded for edit distances alone.
    from neardup.matching.edit_join import EditThreshold

    if options.max_distance is not None:
        return EditThreshold(options.max_distance)
    if options.threshold is None and options.top is not None:
        return EditThreshold(None, LEAST_SHARE)
    threshold = _DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    return EditThreshold(None, exact_fraction("threshold", threshold))


def _read_strings(options: PairOptions) -> ReadingPlan:
    """Read texts as strings of characters, unless another tokenizer is asked for, or bytes are."""
    reading = reading_plan(options.with_tokenizer("characters"))
    return replace(reading, blocking=options.blocking_columns)


def _check_exclusive(options: PairOptions, kind: type[Measure] | None) -> None:
    """Raise if two options exclude each other, or one needs another."""
    is_count = kind is not None and kind.is_count
    has_bands = kind is not None and kind.has_bands
    is_distance = kind is None or kind.is_distance
    without_bands = "edit distances" if kind is None else f"an {kind.name}"
    if kind is Hamming:
        without_bands = "Hamming distances"
    exclusive = {
        "max_distance is an edit distance; leave out measure or choose measure edit": (
            options.max_distance is not None and not is_distance
        ),
        "give max_distance, the most shingles that one of two documents lacks, with measure "
        "hamming": kind is Hamming and options.max_distance is None,
        "give either max_distance or threshold": (
            options.max_distance is not None and options.threshold is not None
        ),
        f"measure {options.measure} needs threshold, the least number of common shingles": (
            is_count and options.threshold is None and options.top is None
        ),
        "method minhash estimates Jaccard similarities; choose method exact for "
        + without_bands: options.method == "minhash" and not has_bands,
        "top is exact; leave out method minhash": (
            options.method == "minhash" and options.top is not None
        ),
        _ALSO_AND_TOP: options.also is not None and options.top is not None,
        "per_document needs top, the number of partners": (
            options.per_document and options.top is None
        ),
    }
    named = ("max_distance", "measure", "threshold", "method", "top", "per_document", "also")
    for message, is_wrong in exclusive.items():
        if is_wrong:
            raise InvalidParameterError(message, *named)


def _without_bands(options: PairOptions, kind: type[Measure] | None) -> tuple[str, str]:
    """Return where there are no bands, and what to choose that has them."""
    if kind is None:
        return _ON_EDITS, f"{_OF_SETS} with method minhash"
    remedy = "choose method minhash"
    if not kind.has_bands:
        remedy += " and another measure"
    if options.top is not None:
        remedy += " and no top"
    return "with method exact", remedy


def _check_effects(options: PairOptions, kind: type[Measure] | None) -> None:
    """Raise if an option was given that can have no effect."""
    if options.also_missing is not None and not options.conditions:
        raise no_effect("also_missing", "without also", "give also", "also")
    if options.labels is not None:
        raise no_effect("labels", "without fields, whose weights they choose", "give fields")
    if kind is None:
        if options.occurrences != "set":
            raise no_effect("occurrences", _ON_EDITS, _OF_SETS)
        for name in ("fingerprint", "fingerprint_bits"):
            if getattr(options, name) is not None:
                raise no_effect(name, _ON_EDITS, _OF_SETS)
        options.check_no_weights(_ON_EDITS)
    elif kind.is_weighted and options.algorithm is not None:
        raise no_effect("algorithm", _ON_WEIGHTS, "choose another measure", "measure")
    if options.method == "exact":
        options.check_unused(*_without_bands(options, kind), but=options.seeded)
    elif options.algorithm is not None:
        raise no_effect("algorithm", "with method minhash", "choose method exact", "method")
    _check_limit(options)


def _check_limit(options: PairOptions) -> None:
    if options.limit is None or options.top is None or options.per_document:
        return
    if options.limit >= options.top:
        raise no_effect("limit", f"with top {options.top}, which is no more", "lower it", "top")
