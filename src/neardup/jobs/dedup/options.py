"""Options of the jobs, checked before any work starts."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from neardup.clustering.keep import KeepPolicy, parse_keep
from neardup.errors import InvalidParameterError
from neardup.files.rows import ColumnNames
from neardup.matching.bands import Banding, check_banding, choose_banding
from neardup.matching.measures import (
    WEIGHTED,
    Measure,
    MeasureName,
    exact_fraction,
    make_measure,
)
from neardup.reading.plan import ReadingPlan
from neardup.sketches.minhash import MinHashScheme
from neardup.sketches.weighted_minhash import WeightedMinHashScheme
from neardup.text.shingles import Occurrences, make_shingle_scheme
from neardup.text.weighted_sets import WeightedScheme
from neardup.text.weighting import InverseFrequency, TermFrequency, Weighting

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """How documents are read and become sets of shingles; the same for every job.

    Tokens are words where ``tokenizer`` is None, and shingles have 5 where ``ngram`` is.
    """

    tokenizer: str | Path | TokenFunction | None = None
    ngram: int | None = None
    occurrences: Occurrences = "set"
    casefold: bool | None = None
    unicode_form: Literal["NFC", "NFKC"] | None = None
    strip_accents: bool = False
    fold_digits: bool = False
    text_column: str = "text"
    id_column: str | None = None
    on_error: Literal["raise", "skip"] = "raise"

    def sketch_plan(self, *, order: str | None = None) -> ReadingPlan:
        """Check these options; ``order`` is a column by which documents are ranked.

        Raises
        ------
        InvalidParameterError
            For the first option that is out of range.
        """
        if self.on_error not in ("raise", "skip"):
            message = f"on_error must be raise or skip, got {self.on_error!r}"
            raise InvalidParameterError(message)
        shingles = make_shingle_scheme(
            "words" if self.tokenizer is None else self.tokenizer,
            ngram=5 if self.ngram is None else self.ngram,
            occurrences=self.occurrences,
            casefold=self.casefold,
            unicode_form=self.unicode_form,
            strip_accents=self.strip_accents,
            fold_digits=self.fold_digits,
        )
        columns = ColumnNames(self.text_column, self.id_column, order)
        return ReadingPlan(columns, shingles, skip_bad=self.on_error == "skip")


@dataclass(frozen=True, kw_only=True)
class BandOptions:
    """How candidates are found by MinHash bands.

    None stands for the default, so that one that was given where no bands are used is noticed.
    """

    recall: str | float | Decimal | Fraction | None = None
    num_perm: int | None = None
    bands: int | None = None
    rows: int | None = None
    seed: int | None = None

    @property
    def recall_asked_for(self) -> Fraction:
        """The recall as an exact number."""
        return exact_fraction("recall", "0.99" if self.recall is None else self.recall)

    def check_unused(self, where: str, remedy: str) -> None:
        """Raise if one of these options was given where no bands are used.

        Raises
        ------
        InvalidParameterError
            For the first of them; it says ``where`` it has no effect, and what to do.
        """
        for option in fields(BandOptions):
            if getattr(self, option.name) is not None:
                raise no_effect(option.name, where, remedy, "method", "measure", "top")

    def choose_bands(self, measure: Measure) -> tuple[Banding, MinHashScheme]:
        """Check these options and choose bands for the recall, unless they are given.

        Raises
        ------
        InvalidParameterError
            For the first option that is out of range or does not go with another.
        """
        recall = self.recall_asked_for
        if (self.bands is None) != (self.rows is None):
            message = "bands and rows go together; give both or neither"
            raise InvalidParameterError(message, "bands", "rows")
        check_whole("bands", self.bands, 1)
        check_whole("rows", self.rows, 1)
        num_perm = 128 if self.num_perm is None else self.num_perm
        scheme = MinHashScheme(num_perm, 42 if self.seed is None else self.seed)
        try:
            if self.bands is not None and self.rows is not None:
                banding = check_banding(self.bands, self.rows, num_perm)
            else:
                banding = choose_banding(measure.least_jaccard, recall, num_perm)
        except InvalidParameterError as error:
            raise InvalidParameterError(str(error), "recall", "num_perm") from None
        return banding, replace(scheme, num_perm=banding.num_perm)


Clusters = Literal["survivors", "components"]
Method = Literal["auto", "exact", "minhash"]


@dataclass(frozen=True, kw_only=True)
class Options(DocumentOptions, BandOptions):
    """Everything that decides the result of ``deduplicate``; see there for the meanings."""

    measure: MeasureName = "jaccard"
    threshold: str | float | Decimal | Fraction = "0.8"
    keep: str = "first"
    clusters: Clusters = "survivors"
    method: Method = "minhash"
    audit: int | None = None
    tf: TermFrequency | None = None
    idf: InverseFrequency | None = None


@dataclass(frozen=True)
class Plan:
    """Checked options: what each stage works with; method exact has no bands to look at."""

    options: Options
    measure: Measure
    banding: Banding
    minhash: MinHashScheme
    keep: KeepPolicy
    sketch: ReadingPlan

    @property
    def recall(self) -> Fraction:
        """The recall asked for."""
        return self.options.recall_asked_for

    @property
    def predicted_recall(self) -> float:
        """Probability that a pair at the threshold becomes a candidate."""
        return self.banding.candidate_probability(float(self.measure.least_jaccard))


def make_plan(options: Options) -> Plan:
    """Check all options, before any work starts.

    Raises
    ------
    InvalidParameterError
        For the first option that is out of range or does not go with another.
    """
    measure = make_measure(options.measure, options.threshold)
    _check_method(options)
    weighted = _check_weights(options)
    if weighted and options.ngram is None:
        options = replace(options, ngram=1)
    if options.method == "exact":
        # Nothing looks at these, and a low threshold needs no recall within reach.
        banding, minhash = Banding(1, 1), MinHashScheme(1)
    else:
        banding, minhash = options.choose_bands(measure)
        if weighted:
            minhash = WeightedMinHashScheme(minhash.num_perm, minhash.seed)
    if options.clusters not in ("survivors", "components"):
        message = f"clusters must be survivors or components, got {options.clusters!r}"
        raise InvalidParameterError(message)
    keep = parse_keep(options.keep)
    sketch = replace(
        options.sketch_plan(order=keep.column),
        minhash=None if options.method == "exact" else minhash,
        banding=None if options.method == "exact" else banding,
        with_lengths=keep.by_length,
        weighted=weighted,
    )
    return Plan(options, measure, banding, minhash, keep, sketch)


def _check_method(options: Options) -> None:
    if options.method not in ("auto", "exact", "minhash"):
        message = f"method must be one of auto, exact, minhash, got {options.method!r}"
        raise InvalidParameterError(message)
    check_whole("audit", options.audit, 1)
    if options.method != "exact":
        return
    where, remedy = "with method exact", "choose method minhash or auto"
    if options.audit is not None:
        raise no_effect("audit", f"{where}, which misses nothing", remedy, "method")
    options.check_unused(where, remedy)


def _check_weights(options: Options) -> WeightedScheme | None:
    """Give what shingles weigh, for the weighted measure."""
    if options.measure != WEIGHTED:
        for name in ("tf", "idf"):
            if getattr(options, name) is not None:
                where = f"with measure {options.measure}"
                raise no_effect(name, where, f"choose measure {WEIGHTED}", "measure")
        return None
    if options.occurrences != "set":
        where = f"with measure {WEIGHTED}, where tf says what copies count"
        raise no_effect("occurrences", where, "choose tf raw", "measure", "tf")
    if options.method != "minhash":
        message = f"measure {WEIGHTED} goes with method minhash, got {options.method}"
        raise InvalidParameterError(message, "measure", "method")
    if options.audit is not None:
        message = f"audit cannot be had with measure {WEIGHTED} yet; leave it out"
        raise InvalidParameterError(message, "audit", "measure")
    return WeightedScheme(Weighting(options.tf or "raw", options.idf or "smooth"))


def no_effect(parameter: str, where: str, remedy: str, *others: str) -> InvalidParameterError:
    """Make the error for an option that was given but can have no effect.

    ``others`` are parameters that ``where`` and ``remedy`` name.
    """
    message = f"{parameter} has no effect {where}; leave it out, or {remedy}"
    return InvalidParameterError(message, parameter, *others)


def check_whole(parameter: str, number: object, least: int) -> None:
    """Raise unless a number is None or a whole one, and not below the least.

    Raises
    ------
    InvalidParameterError
        If it is.
    """
    if number is None:
        return
    if isinstance(number, bool) or not isinstance(number, int):
        message = f"{parameter} must be a whole number, got {number!r}"
        raise InvalidParameterError(message)
    if number < least:
        message = f"{parameter} must be at least {least}, got {number}"
        raise InvalidParameterError(message)
