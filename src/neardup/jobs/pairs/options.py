"""Options of a search for pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from neardup.jobs.band_options import BandOptions
from neardup.jobs.document_options import AgainstOptions, DocumentOptions
from neardup.jobs.weight_options import CountingOptions
from neardup.options.choices import Algorithm, MissingValues, PairMeasure, PairMethod
from neardup.options.jobs import FUNCTIONS
from neardup.text.shingles import ShingleScheme

EDIT = "edit"

# Measures without bands.
_OF_ALL = (EDIT, "overlap", "hamming")


@dataclass(frozen=True, kw_only=True)
class PairOptions(DocumentOptions, AgainstOptions, BandOptions, CountingOptions):
    """Everything that decides the result of ``find_pairs``; see there for the meanings."""

    known = FUNCTIONS["find_pairs"]

    measure: PairMeasure | None = None
    threshold: str | float | Decimal | Fraction | None = None
    max_distance: int | None = None
    method: PairMethod | None = None
    algorithm: Algorithm | None = None
    top: int | None = None
    per_document: bool = False
    limit: int | None = None
    blocking: str | Sequence[str] | None = None
    one_to_one: bool = False
    also: str | Sequence[str] | None = None
    also_missing: MissingValues | None = None
    with_columns: str | Sequence[str] | None = None

    @property
    def blocking_columns(self) -> tuple[str, ...]:
        """The columns in which documents have to agree; empty for none."""
        return _names(self.blocking)

    @property
    def conditions(self) -> tuple[str, ...]:
        """What pairs have to fulfil in other columns; empty for nothing."""
        return _names(self.also)

    def shingles_of_columns(self, usual: str) -> ShingleScheme:
        """Return how values of other columns are cut: as texts, but into single tokens.

        ``usual`` is the tokenizer where none was chosen.
        """
        ngram = 1 if self.ngram is None else self.ngram
        return replace(self, ngram=ngram).with_tokenizer(usual).reading_plan().shingles

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """The columns of both documents that a pair is given; empty for none."""
        return _names(self.with_columns)

    @property
    def may_look_up(self) -> bool:
        """Whether an index can be looked up in; other options need all of its texts."""
        needs_all = (
            *(self.top, self.max_distance, self.algorithm, self.blocking, self.also),
            *(self.also_missing, self.with_columns),
            self.one_to_one or None,
            self.measure in _OF_ALL or None,
        )
        return self.method == "minhash" or (self.method is None and set(needs_all) == {None})


def _names(named: str | Sequence[str] | None) -> tuple[str, ...]:
    return (named,) if isinstance(named, str) else tuple(named or ())
