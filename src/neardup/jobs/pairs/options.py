"""Options of a search for pairs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from neardup.jobs.band_options import BandOptions
from neardup.jobs.document_options import AgainstOptions, DocumentOptions
from neardup.options.choices import Algorithm, PairMeasure, PairMethod
from neardup.options.jobs import FUNCTIONS

EDIT = "edit"


@dataclass(frozen=True, kw_only=True)
class PairOptions(DocumentOptions, AgainstOptions, BandOptions):
    """Everything that decides the result of ``find_pairs``; see there for the meanings."""

    known = FUNCTIONS["find_pairs"]

    measure: PairMeasure | None = None
    threshold: str | float | Decimal | Fraction | None = None
    max_distance: int | None = None
    method: PairMethod = "exact"
    algorithm: Algorithm | None = None
    top: int | None = None
    per_document: bool = False
    limit: int | None = None
