"""What may be asked of pairs that were found before: by which measure, from which threshold on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.jobs.dedup.numbered_pairs import NumberedPairs, PairSource
from neardup.matching.measures import MEASURES, Number
from neardup.options.kinds import exact_fraction

_AGAIN = "find pairs of one collection by a threshold"

# Fields of a scheme that decide what two texts have in common.
_OF_SHINGLES = (
    *("tokenizer", "ngram", "occurrences", "casefold", "unicode_form", "strip_accents"),
    *("fold_digits", "fingerprint", "fingerprint_bits", "tf", "idf"),
)


@dataclass(frozen=True)
class PairTerms:
    """By which measure pairs were found, and the threshold asked for, None for theirs."""

    measure: str
    threshold: Fraction | None

    @property
    def are_directed(self) -> bool:
        """Whether only the left document of a pair may go for the right one."""
        kind = MEASURES.get(self.measure)
        return kind is not None and kind.is_directed

    def least_threshold(self, table: PairSource, pairs: NumberedPairs) -> tuple[float | None, bool]:
        """Return the least threshold that pairs can answer for, and whether the table states it.

        It does if it has as many rows as were found. Else it is their least similarity; None if
        there are no rows, or pairs were limited by a distance.
        """
        if table.about is not None and table.about.pairs in (None, len(pairs)):
            return table.about.threshold, True
        least = float(pairs.similarities.min()) if len(pairs) else None
        if self.threshold is not None and least is not None and self.threshold < Fraction(least):
            message = (
                f"threshold {float(self.threshold):g} is below {least:g}, the least similarity in "
                f"{table.name}, which does not say that it has all pairs from there on; leave "
                "threshold out, or give all pairs as a Parquet file of `neardup pairs`, which says "
                "so"
            )
            raise InvalidParameterError(message, "threshold")
        return least, False


def agree_on_terms(table: PairSource, measure: str | None, threshold: Number | None) -> PairTerms:
    """Check what is asked of some pairs against what their table says of them."""
    asked = None if threshold is None else exact_fraction("threshold", threshold)
    about, name = table.about, table.name
    if about is None:
        if measure is None:
            message = (
                f"{name} does not say how similarities were measured, as Parquet files and results "
                "of `neardup pairs` do; give measure"
            )
            raise InvalidParameterError(message, "measure")
        _check_measure(measure, name)
        return PairTerms(measure, asked)
    if measure not in (None, about.measure):
        message = f"pairs in {name} are by {about.measure}, got measure {measure}; leave it out"
        raise InvalidParameterError(message, "measure")
    _check_measure(about.measure, name)
    if len(about.documents) != 1:
        message = f"pairs in {name} are of two collections, and none within INPUT; {_AGAIN}"
        raise InvalidInputError(message)
    if about.top is not None:
        message = f"{name} has the {about.top:,} most similar pairs only, not all; {_AGAIN}"
        raise InvalidInputError(message)
    if about.one_to_one:
        message = f"{name} has pairs that were matched one to one, not all; {_AGAIN}"
        raise InvalidInputError(message)
    if asked is not None:
        _check_threshold(asked, table)
    return PairTerms(about.measure, asked)


def check_same_documents(table: PairSource, n_documents: int) -> None:
    """Raise if pairs were found among another number of documents, as far as that is known."""
    if table.about is not None and table.about.documents != (n_documents,):
        message = (
            f"pairs in {table.name} were found among {table.about.documents[0]:,} documents, the "
            f"input has {n_documents:,}; give the same input, or find pairs of this one"
        )
        raise InvalidInputError(message)


def check_same_shingles(table: PairSource, scheme: Mapping[str, Any] | None) -> None:
    """Raise if pairs are of texts that were cut otherwise, as far as both are known."""
    if table.about is None or scheme is None:
        return
    of_pairs = table.about.scheme
    differing = [
        f"{name} {of_pairs.get(name)}, not {scheme.get(name)}"
        for name in _OF_SHINGLES
        if of_pairs.get(name) != scheme.get(name)
    ]
    if differing:
        message = (
            f"pairs in {table.name} are of other shingles: {'; '.join(differing)}; find pairs with "
            "the options of the result"
        )
        raise InvalidInputError(message)


def _check_measure(measure: str, name: str) -> None:
    kind = MEASURES.get(measure)
    if kind is not None and kind.is_count:
        message = (
            f"pairs in {name} are by {measure}, a number of common shingles, by which documents "
            "are not decided; find pairs by another measure"
        )
        raise InvalidParameterError(message, "measure")


def _check_threshold(asked: Fraction, table: PairSource) -> None:
    assert table.about is not None
    least, most = table.about.threshold, table.about.max_distance
    if most is not None:
        message = (
            f"pairs in {table.name} are those within max_distance {most}, whatever their "
            "similarity; leave threshold out, or find pairs by a threshold"
        )
        raise InvalidParameterError(message, "threshold", "max_distance")
    if least is not None and asked < exact_fraction("threshold", least):
        message = (
            f"threshold {float(asked):g} is below {least:g}, that of the pairs in {table.name}, "
            f"which has none below; choose {least:g} or more, or find pairs by a lower threshold"
        )
        raise InvalidParameterError(message, "threshold")
