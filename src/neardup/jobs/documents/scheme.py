"""The scheme of an index of documents, of the options that users give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.documents.scheme import DocumentScheme
from neardup.errors import InvalidParameterError
from neardup.jobs.band_options import BandOptions
from neardup.jobs.weight_options import WeightOptions
from neardup.matching.measures import make_measure
from neardup.options.choices import DocumentMeasure, Fingerprint, Occurrences, UnicodeForm
from neardup.options.jobs import FUNCTIONS
from neardup.sketches.weighted_minhash import WeightedMinHashScheme
from neardup.text.shingles import make_shingle_scheme

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction

# Columns that an index gives itself.
_OWN_COLUMNS = ("id", "text")


@dataclass(frozen=True, kw_only=True)
class DocumentIndexOptions(BandOptions, WeightOptions):
    """Everything that decides the answers of an index; see ``DocumentIndex.create``."""

    known = FUNCTIONS["DocumentIndex.create"]

    measure: DocumentMeasure = "jaccard"
    threshold: str | float | Decimal | Fraction = "0.8"
    tokenizer: str | Path | TokenFunction = "words"
    ngram: int | None = None
    occurrences: Occurrences = "set"
    fingerprint: Fingerprint | None = None
    fingerprint_bits: int | None = None
    casefold: bool | None = None
    unicode_form: UnicodeForm | None = None
    strip_accents: bool = False
    fold_digits: bool = False
    columns: str | Sequence[str] | None = None
    with_text: bool = True


def make_document_scheme(options: DocumentIndexOptions) -> DocumentScheme:
    """Check what goes with what, and choose the bands."""
    measure = make_measure(options.measure, options.threshold)
    weighted = options.weights_for(measure)
    banding, minhash = options.choose_bands(measure)
    if weighted:
        minhash = WeightedMinHashScheme(minhash.num_perm, minhash.seed)
    usual_ngram = 1 if weighted else 5
    shingles = make_shingle_scheme(
        options.tokenizer,
        ngram=usual_ngram if options.ngram is None else options.ngram,
        occurrences=options.occurrences,
        fingerprint=options.fingerprint or "mixer",
        fingerprint_bits=options.fingerprint_bits or 64,
        seed=options.seed,
        casefold=options.casefold,
        unicode_form=options.unicode_form,
        strip_accents=options.strip_accents,
        fold_digits=options.fold_digits,
    )
    # The check has left a name, or a tuple of several.
    given = options.columns or ()
    columns = (given,) if isinstance(given, str) else tuple(given)
    for name in _OWN_COLUMNS:
        if name in columns:
            message = f"columns may not have {name!r}, which an index keeps in any case"
            raise InvalidParameterError(message, "columns")
    return DocumentScheme(
        shingles,
        measure,
        options.recall_asked_for,
        banding,
        minhash,
        weighted,
        options.with_text,
        columns,
    )
