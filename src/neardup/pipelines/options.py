"""Options of the jobs, checked before any work starts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from neardup.clustering.keep import KeepPolicy, parse_keep
from neardup.errors import InvalidParameterError
from neardup.files.rows import ColumnNames
from neardup.matching.bands import Banding, check_banding, choose_banding
from neardup.matching.measures import Measure, MeasureName, exact_fraction, make_measure
from neardup.pipelines.catalogue import SketchPlan
from neardup.sketches.minhash import MinHashScheme
from neardup.text.shingles import Occurrences, make_shingle_scheme
from neardup.workers import count_workers

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

    def sketch_plan(self, *, order: str | None = None) -> SketchPlan:
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
        return SketchPlan(columns, shingles, skip_bad=self.on_error == "skip")


@dataclass(frozen=True, kw_only=True)
class BandOptions:
    """How candidates are found by MinHash bands."""

    recall: str | float | Decimal | Fraction = "0.99"
    num_perm: int = 128
    bands: int | None = None
    rows: int | None = None
    seed: int = 42

    def choose_bands(self, measure: Measure) -> tuple[Banding, MinHashScheme]:
        """Check these options and choose bands for the recall, unless they are given.

        Raises
        ------
        InvalidParameterError
            For the first option that is out of range or does not go with another.
        """
        recall = exact_fraction("recall", self.recall)
        if (self.bands is None) != (self.rows is None):
            message = "bands and rows go together; give both or neither"
            raise InvalidParameterError(message)
        MinHashScheme(self.num_perm, self.seed)
        if self.bands is not None and self.rows is not None:
            banding = check_banding(self.bands, self.rows, self.num_perm)
        else:
            banding = choose_banding(measure.least_jaccard, recall, self.num_perm)
        return banding, MinHashScheme(banding.num_perm, self.seed)


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


@dataclass(frozen=True)
class Plan:
    """Checked options: what each stage works with."""

    options: Options
    measure: Measure
    banding: Banding
    minhash: MinHashScheme
    keep: KeepPolicy
    sketch: SketchPlan
    workers: int = field(default=1)

    @property
    def recall(self) -> Fraction:
        """The recall asked for."""
        return exact_fraction("recall", self.options.recall)

    @property
    def predicted_recall(self) -> float:
        """Probability that a pair at the threshold becomes a candidate."""
        return self.banding.candidate_probability(float(self.measure.least_jaccard))


def make_plan(options: Options, workers: int | None = None) -> Plan:
    """Check all options, before any work starts.

    Raises
    ------
    InvalidParameterError
        For the first option that is out of range or does not go with another.
    """
    measure = make_measure(options.measure, options.threshold)
    exact_fraction("recall", options.recall)
    if options.method == "exact":
        # Its recall is 1 and it has no bands; these stand for those of a run through sketches.
        banding, minhash = BandOptions(seed=options.seed).choose_bands(measure)
    else:
        banding, minhash = options.choose_bands(measure)
    if options.clusters not in ("survivors", "components"):
        message = f"clusters must be survivors or components, got {options.clusters!r}"
        raise InvalidParameterError(message)
    _check_method(options)
    keep = parse_keep(options.keep)
    sketch = replace(
        options.sketch_plan(order=keep.column),
        minhash=None if options.method == "exact" else minhash,
        banding=None if options.method == "exact" else banding,
        with_lengths=keep.by_length,
    )
    return Plan(options, measure, banding, minhash, keep, sketch, count_workers(workers))


def _check_method(options: Options) -> None:
    if options.method not in ("auto", "exact", "minhash"):
        message = f"method must be one of auto, exact, minhash, got {options.method!r}"
        raise InvalidParameterError(message)
    if options.audit is None:
        return
    if isinstance(options.audit, bool) or not isinstance(options.audit, int):
        message = f"audit must be a whole number, got {options.audit!r}"
        raise InvalidParameterError(message)
    if options.audit < 1:
        message = f"audit must be at least 1, got {options.audit}"
        raise InvalidParameterError(message)
    if options.method == "exact":
        message = "method exact misses nothing that an audit could find; leave out audit"
        raise InvalidParameterError(message)
