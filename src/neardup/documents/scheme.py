"""The scheme of a document index: shingles, measure and bands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from neardup.errors import InvalidParameterError
from neardup.files.rows import ColumnNames
from neardup.index.open_index import check_restored, described_tokenizer
from neardup.matching.buckets import Banding, choose_banding
from neardup.matching.measures import Measure, make_measure
from neardup.options.choices import Number, TokenizerChoice
from neardup.options.document_options import DocumentSchemeOptions
from neardup.options.groups import ShingleOptions
from neardup.options.kinds import exact_fraction
from neardup.reading.sign import ReadingPlan
from neardup.sketches.minhash import MinHashScheme, WeightedMinHashScheme
from neardup.text.shingles import ShingleScheme, make_shingle_scheme
from neardup.text.weighting import DocumentFrequencies, WeightedScheme, Weighting

KIND: Final = "documents"


@dataclass(frozen=True)
class DocumentScheme:
    """Lookup scheme: two indexes of one scheme return equal results.

    ``measure`` has the least threshold of searches, and ``recall`` is the least probability that a
    document at this threshold is found; ``banding`` follows from both. ``weighted`` has the weights
    of shingles for weighted Jaccard similarity; its frequencies come with the first addition, and
    are None before it. The user's ``columns`` are kept with each document.
    """

    shingles: ShingleScheme
    measure: Measure
    recall: Fraction
    banding: Banding
    minhash: MinHashScheme
    weighted: WeightedScheme | None = None
    columns: tuple[str, ...] = ()

    @property
    def needs_frequencies(self) -> bool:
        """True if documents must be counted before the first addition."""
        return self.weighted is not None and self.weighted.lacks_frequencies

    @property
    def has_filters(self) -> bool:
        """True if documents have filters, unlike weighted sets."""
        return self.weighted is None

    def with_frequencies(self, frequencies: DocumentFrequencies | None) -> DocumentScheme:
        """Return the scheme with frequencies for the weights of shingles."""
        if self.weighted is None or frequencies is None:
            return self
        return replace(self, weighted=replace(self.weighted, frequencies=frequencies))

    def measure_at(self, threshold: Number | None) -> Measure:
        """Return the measure at a threshold, None for the least."""
        if threshold is None:
            return self.measure
        measure = type(self.measure).parse(threshold)
        if measure.threshold < self.measure.threshold:
            least = float(self.measure.threshold)
            message = (
                f"threshold must be at least {least:g}, for which the index was made, got "
                f"{float(measure.threshold):g}; build an index with a lower one"
            )
            raise InvalidParameterError(message, "threshold")
        return measure

    def predicted_recall(self, measure: Measure) -> float:
        """Return the recall at the threshold of a measure."""
        return self.banding.candidate_probability(float(measure.least_jaccard))

    def reading_plan(self, columns: ColumnNames, *, skip_bad: bool = False) -> ReadingPlan:
        """Return a reading plan that signs documents like the index."""
        return ReadingPlan(
            columns,
            self.shingles,
            minhash=self.minhash,
            banding=self.banding,
            skip_bad=skip_bad,
            weighted=self.weighted,
            filters_for=self.measure if self.has_filters else None,
        )

    def describe(self) -> dict[str, Any]:
        """Return all that decides the answers, as plain values."""
        return {
            "kind": KIND,
            "measure": self.measure.name,
            "threshold": str(self.measure.threshold),
            "recall": str(self.recall),
            "bands": self.banding.bands,
            "rows": self.banding.rows,
            "seed": self.minhash.seed,
            **self.shingles.describe(),
            **(self.weighted.weighting.describe() if self.weighted else {}),
            "columns": list(self.columns),
        }


def restore_document_scheme(
    description: Mapping[str, Any], tokenizer: TokenizerChoice | None = None
) -> DocumentScheme:
    """Make the scheme from its ``describe`` values.

    A tokenizer that is a file or a function has to be given.
    """
    tokenizer = described_tokenizer(description, tokenizer)
    known = {key: description[key] for key in ShingleOptions.known if key in description}
    shingles = make_shingle_scheme(**(known | {"tokenizer": tokenizer}))
    banding = Banding(int(description["bands"]), int(description["rows"]))
    measure = make_measure(str(description["measure"]), Fraction(description["threshold"]))
    weighted, kind = None, MinHashScheme
    if measure.is_weighted:
        weighted = WeightedScheme(Weighting(description["tf"], description["idf"]))
        kind = WeightedMinHashScheme
    scheme = DocumentScheme(
        shingles,
        measure,
        Fraction(description["recall"]),
        banding,
        kind(banding.num_perm, int(description["seed"])),
        weighted,
        tuple(description["columns"]),
    )
    check_restored(scheme.describe(), description)
    return scheme


# Options whose values an index has decided.
_DECIDED = [
    name
    for name in DocumentSchemeOptions.known
    if name not in ("preset", "threshold", "tokenizer", "columns")
]


def check_alike(options: object, scheme: DocumentScheme) -> None:
    """Raise for a given option that differs from the index.

    ``options`` belong to a job; an option that the job lacks was not given.
    """
    made_with: dict[str, Any] = {
        **scheme.describe(),
        "recall": scheme.recall,
        "num_perm": scheme.minhash.num_perm,
        "bands": (scheme.banding.bands, scheme.banding.rows),
    }
    for name in _DECIDED:
        value = getattr(options, name, None)
        # A flag that is not set is not given.
        if value is None or value is DocumentSchemeOptions.known[name].default is False:
            continue
        own = made_with.get(name)
        if name == "recall":
            value = exact_fraction(name, value)
        is_same = _uses_functions(value, options, scheme) if name == "num_perm" else value == own
        if not is_same:
            message = (
                f"the index was made with {name} {_spelled(own)}, got {_spelled(value)}; leave out "
                f"{name}, or build another index"
            )
            raise InvalidParameterError(message, name, "against")


def _uses_functions(most: Any, options: object, scheme: DocumentScheme) -> bool:
    """Return whether an index of at most ``most`` hash functions uses as many as this one."""
    if getattr(options, "bands", None) is not None:
        return bool(most >= scheme.banding.num_perm)
    return choose_banding(scheme.measure.least_jaccard, scheme.recall, most) == scheme.banding


def _spelled(value: object) -> str:
    return f"{float(value):g}" if isinstance(value, Fraction) else str(value)
