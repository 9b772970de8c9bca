"""``similarity`` of two texts and ``extract``, the most similar of many: a number, no tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from neardup.errors import InvalidInputError
from neardup.matching.measures import MEASURES, Measure, Overlap, rank_fractions
from neardup.matching.nearest import as_it_is, nearest_strings, string_maker, texts_of
from neardup.matching.verify import overlaps_at_threshold, score_pairs
from neardup.options.documents import ExtractOptions, SimilarityOptions
from neardup.options.groups import ShingleOptions
from neardup.options.kinds import Documents, exact_fraction
from neardup.options.option import argument, no_effect, shows, takes
from neardup.options.together import TextArgument
from neardup.stages.options import check_text, weights_for
from neardup.tables import Int64s, ShingleSets, Texts, WeightedSets
from neardup.text.shingles import ShingleScheme, shingle_scheme, shingle_sets
from neardup.text.weighting import (
    WeightedScheme,
    count_documents,
    frequency_lists,
    weighted_sets,
)

if TYPE_CHECKING:
    from neardup.options.choices import Number

# Texts that are cut into shingles together, in bytes.
_SLICE_BYTES = 1 << 24

# Rows of two texts.
_A: Int64s = np.zeros(1, np.int64)
_B: Int64s = _A + 1


class Extracted(NamedTuple):
    """A text that is similar to a query, and its place among the texts, or its key."""

    text: str
    similarity: float
    key: Any


class _Scorer(ABC):
    """Compares texts by a measure and the other options that were given."""

    @abstractmethod
    def similarity(self, a: str, b: str) -> float:
        """Return the similarity of two texts."""

    @abstractmethod
    def best(
        self, query: str, texts: Sequence[str], threshold: Number | None, limit: int
    ) -> list[tuple[int, float]]:
        """Return the places of the most similar texts, and their similarities."""


class _EditScorer(_Scorer):
    """Compares strings of characters as RapidFuzz takes them, or of other tokens."""

    def __init__(self, options: SimilarityOptions) -> None:
        where = "on edit distances"
        options.check_no_weights(where)
        for name in ("ngram", "occurrences"):
            if getattr(options, name) not in (None, "set"):
                raise no_effect(name, where, "compare sets of shingles", "measure")
        tokenizer = "characters" if options.tokenizer is None else options.tokenizer
        scheme = shingle_scheme(options.part(ShingleOptions, tokenizer=tokenizer))
        self._string = string_maker(scheme.tokenizer, scheme.normalisation)

    def similarity(self, a: str, b: str) -> float:
        x, y = self._string(a), self._string(b)
        longer = max(len(x), len(y))
        return (longer - Levenshtein.distance(x, y)) / longer if longer else 0.0

    def best(
        self, query: str, texts: Sequence[str], threshold: Number | None, limit: int
    ) -> list[tuple[int, float]]:
        least = 0 if threshold is None else exact_fraction("threshold", threshold)
        strings = [self._string(text) for text in texts] if self._string is not as_it_is else texts
        found = nearest_strings(self._string(query), strings, least, limit)
        return [(near.place, near.similarity) for near in found]


class _SetScorer(_Scorer):
    """Compares sets of shingles, or weighted ones."""

    def __init__(self, options: SimilarityOptions) -> None:
        name = options.measure or "jaccard"
        measures: dict[str, type[Measure]] = {**MEASURES, Overlap.name: Overlap}
        self._measure = measures[name]
        self._lowest = self._measure.lowest()
        if self._measure.is_weighted and options.idf is None:
            options = options.but(idf="unary")
        self._weights = weights_for(options, self._lowest)
        ngram = 1 if options.ngram is None else options.ngram
        self._shingles: ShingleScheme = shingle_scheme(options.part(ShingleOptions, ngram=ngram))

    def similarity(self, a: str, b: str) -> float:
        sets = self._sets(texts_of(a, b), self._counted(a, [b]))
        if not sets.sizes.all():
            return 0.0
        return float(score_pairs(sets, _A, _B, self._lowest)[0])

    def best(
        self, query: str, texts: Sequence[str], threshold: Number | None, limit: int
    ) -> list[tuple[int, float]]:
        """Compare the query with every text, in slices that bound what is held."""
        measure = self._lowest if threshold is None else self._measure.parse(threshold)
        weights = self._counted(query, texts)
        parts = [
            self._share(query, part, measure, start, weights) for start, part in _sliced(texts)
        ]
        if not parts:
            return []
        places, *shared = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.argsort(rank_fractions(*measure.fractions(*shared)), kind="stable")[:limit]
        similarities = measure.similarities(*(column[order] for column in shared))
        return list(zip(places[order].tolist(), similarities.tolist(), strict=True))

    def _share(
        self,
        query: str,
        texts: Sequence[str],
        measure: Measure,
        start: int,
        weights: WeightedScheme | None,
    ) -> tuple[Int64s, Int64s, Int64s, Int64s]:
        """Return the places of texts that reach the threshold, and what ``fractions`` takes."""
        sets = self._sets(texts_of(query, *texts), weights)
        totals = sets.totals if isinstance(sets, WeightedSets) else sets.sizes
        right = np.flatnonzero(sets.sizes[1:]) + 1
        if not sets.sizes[0]:
            right = right[:0]
        left = np.zeros(len(right), np.int64)
        common = overlaps_at_threshold(sets, left, right, measure)
        reaches = common > 0
        right, common = right[reaches], common[reaches]
        query_totals: Int64s = np.full(len(right), totals[0], np.int64)
        return right - 1 + start, common, query_totals, totals[right]

    def _counted(self, query: str, texts: Sequence[str]) -> WeightedScheme | None:
        """Count in how many of the texts, and of the query, each shingle is."""
        if self._weights is None or not self._weights.needs_frequencies:
            return self._weights
        hash_tokens = self._shingles.tokenizer.hash_tokens
        blocks = [texts_of(query), *(texts_of(*part) for _, part in _sliced(texts))]
        counted = count_documents(
            frequency_lists(hash_tokens(block), self._shingles) for block in blocks
        )
        return replace(self._weights, frequencies=counted)

    def _sets(self, texts: Texts, weights: WeightedScheme | None) -> ShingleSets | WeightedSets:
        if weights is None:
            return shingle_sets(texts, self._shingles)
        tokens = self._shingles.tokenizer.hash_tokens(texts)
        return weighted_sets(tokens, self._shingles, weights)


def _sliced(texts: Sequence[str]) -> Iterable[tuple[int, Sequence[str]]]:
    """Cut texts into runs of bounded size, each with the place where it starts."""
    start = n_bytes = 0
    for stop, text in enumerate(texts, 1):
        n_bytes += len(text)
        if n_bytes >= _SLICE_BYTES or stop == len(texts):
            yield start, texts[start:stop]
            start, n_bytes = stop, 0


class _Scoring(SimilarityOptions, TextArgument):
    pass


@takes(_Scoring)
def _make_scorer(given: _Scoring) -> _Scorer:
    return _EditScorer(given) if given.measure == "edit" else _SetScorer(given)


# So that options are checked once for many calls; with types, because 1 and True are equal.
_remembered_scorer = lru_cache(64, typed=True)(_make_scorer)


def _scorer(name: str, options: dict[str, Any]) -> _Scorer:
    try:
        return _remembered_scorer(**options)
    except TypeError:
        # A value that cannot be remembered, or an option that there is not.
        pass
    try:
        return _make_scorer(**options)
    except TypeError as error:
        message = str(error).replace("_make_scorer", name)
        raise TypeError(message) from None


class _Pair(_Scoring, kw_only=False):
    a: str = argument("The first text.")
    b: str = argument("The second.")


@shows(_Pair)
def similarity(a: str, b: str, **options: Any) -> float:
    """Compare two texts by one measure, exactly.

    Returns
    -------
    From 0 to 1; for ``overlap`` the number of common shingles. A text without tokens is similar to
    nothing.

    Raises
    ------
    InvalidParameterError, InvalidInputError
        For an option that is wrong or has no effect, and for what is no text.

    Notes
    -----
    As ``find_pairs([a], [b])`` has it, but that a shingle is one token unless ``ngram`` is given,
    and that ``idf`` is ``unary``. Some microseconds for short texts, after the first call with the
    same options. Time is linear in the texts, for ``edit`` a 64th of the product of the lengths.

    Examples
    --------
    >>> import neardup
    >>> neardup.similarity("Johann Miller", "Johann Müller", measure="edit")
    0.9230769230769231
    >>> neardup.similarity("the cat sat on the mat", "a cat sat on the mat")
    0.8333333333333334
    """
    found = _scorer("similarity", options)
    try:
        if isinstance(a, str) and isinstance(b, str):
            return found.similarity(a, b)
    except UnicodeEncodeError:
        # Which of them it is, the check tells.
        pass
    check_text("a", a)
    check_text("b", b)
    raise AssertionError


class _Query(ExtractOptions, TextArgument, kw_only=False):
    query: str = argument("The text that others are compared with; ``a`` of the measure.")
    texts: Iterable[str | None] | Mapping[Any, str | None] = argument(
        "The others, in anything that yields strings; None is passed over. Of a mapping, or a "
        "series of pandas, the values."
    )


@shows(_Query)
def extract(
    query: str, texts: Iterable[str | None] | Mapping[Any, str | None], **options: Any
) -> list[Extracted]:
    """Find the texts of a list that are most similar to a query, none missed.

    Returns
    -------
    Text, similarity and key of each, the most similar first, ties in the order of ``texts``; those
    with nothing in common are left out. The key is the place in ``texts``, or that of a mapping or
    of a series of pandas.

    Raises
    ------
    InvalidParameterError, InvalidInputError
        For an option that is wrong or has no effect, and for what is no text.

    Notes
    -----
    As ``find_pairs([query], texts, top=limit)``, but for defaults as of ``similarity``. Every text
    is compared: time is linear in their length. Many queries are faster by ``find_pairs``, or by an
    index.

    Examples
    --------
    >>> import neardup
    >>> names = ["Miller", "Moeller", "Smith", "Muller"]
    >>> for found in neardup.extract("Mueller", names, limit=2, measure="edit"):
    ...     print(found.text, round(found.similarity, 3), found.key)
    Moeller 0.857 1
    Muller 0.857 3
    """
    own = {name: options.pop(name) for name in ExtractOptions.own if name in options}
    asked = ExtractOptions(**own, measure=options.get("measure"))
    found = _scorer("extract", options)
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        message = f"texts must be a list or a mapping of strings, got {type(texts).__name__}"
        raise InvalidInputError(message)
    Documents().checked("texts", texts)
    # Values of a series of pandas have labels, as those of a mapping have keys.
    with_keys = getattr(texts, "items", None)
    items = list(with_keys()) if callable(with_keys) else None
    given: list[Any] = list(texts) if items is None else [text for _, text in items]
    check_text("query", query)
    places = None
    if not {type(text) for text in given} <= {str}:
        # NaN is a gap in a series of pandas, as None is.
        places = [n for n, text in enumerate(given) if text is not None and text == text]
        for place in places:
            check_text("texts", given[place])
    strings = given if places is None else [given[place] for place in places]
    try:
        best = found.best(query, strings, asked.threshold, asked.limit)
    except UnicodeEncodeError:
        for text in strings:
            check_text("texts", text)
        raise
    rows = []
    for place, score in best:
        row = place if places is None else places[place]
        rows.append(Extracted(given[row], score, row if items is None else items[row][0]))
    return rows
