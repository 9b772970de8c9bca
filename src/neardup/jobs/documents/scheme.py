"""The scheme of an index of documents, of the options that users give."""

from __future__ import annotations

from neardup.documents.scheme import DocumentScheme
from neardup.errors import InvalidParameterError
from neardup.matching.measures import make_measure
from neardup.options.documents import DocumentSchemeOptions
from neardup.sketches.weighted_minhash import WeightedMinHashScheme
from neardup.stages.options import choose_bands, weights_for
from neardup.text.shingles import shingle_scheme

# Columns that an index gives itself.
_OWN_COLUMNS = ("id", "text")


def make_document_scheme(options: DocumentSchemeOptions) -> DocumentScheme:
    """Check what goes with what, and choose the bands."""
    measure = make_measure(options.measure, options.threshold)
    weighted = weights_for(options, measure)
    banding, minhash = choose_bands(options, measure)
    if weighted:
        minhash = WeightedMinHashScheme(minhash.num_perm, minhash.seed)
    usual = 1 if weighted else 5
    shingles = shingle_scheme(options.but(ngram=usual if options.ngram is None else options.ngram))
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
