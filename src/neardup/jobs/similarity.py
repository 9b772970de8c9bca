"""Similarity of two texts, and ``extract`` of the most similar."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup.errors import InvalidInputError
from neardup.matching.measures import (
    MEASURES,
    Measure,
    Overlap,
    rank_fractions,
    similar_to_first,
    similarity_of_two,
)
from neardup.options.choices import Number, PairMeasure
from neardup.options.document_options import ExtractOptions, SimilarityOptions
from neardup.options.groups import ShingleOptions, TextOptions
from neardup.options.kinds import Documents, exact_fraction
from neardup.options.option import merge
from neardup.stages.options import check_text, weights_for
from neardup.tables import Int64s, ShingleSets, Texts, WeightedSets
from neardup.text.forms import Normalisation
from neardup.text.shingles import ShingleScheme, shingle_scheme, shingle_sets
from neardup.text.tokenizers import Tokenizer, folded_strings
from neardup.text.weighting import count_documents, frequency_lists, weighted_sets


class Extracted(NamedTuple):
    """A similar text, with its position or key."""

    text: str
    similarity: float
    key: Any


# Characters, or hashes of other tokens.
String = Sequence[Hashable]


def string_maker(tokenizer: Tokenizer, normalisation: Normalisation) -> Callable[[str], String]:
    """Return a function that makes comparable strings from texts."""
    if tokenizer.name != "characters":
        return lambda text: tokenizer.hash_tokens(texts_of(text)).values.tolist()
    if normalisation.unicode_form is not None:
        return lambda text: folded_strings(texts_of(text), normalisation)[0]
    return normalisation.fold_text if normalisation.folds else str


def texts_of(*strings: str) -> Texts:
    """Return strings as concatenated UTF-8."""
    encoded = [string.encode() for string in strings]
    offsets: Int64s = np.array([0, *accumulate(map(len, encoded))], np.int64)
    return Texts(np.frombuffer(b"".join(encoded) or b"\0", np.uint8), offsets)


class _EditScorer:
    """Scorer of strings of characters by RapidFuzz, or other tokens."""

    def __init__(self, options: SimilarityOptions) -> None:
        where = "on edit distances"
        options.check_no_weights(where)
        remedy = "compare sets of shingles"
        options.check_left_out(("ngram", "occurrences"), where, remedy, "measure")
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
        wanted, strings = self._string(query), [self._string(text) for text in texts]
        if not (len(wanted) and strings):
            return []
        distances = process.cdist([wanted], strings, scorer=Levenshtein.distance, dtype=np.int64)
        longer = np.maximum([len(string) for string in strings], len(wanted))
        same = longer - distances[0]
        nearest = np.argsort(-same / longer, kind="stable")[:limit].tolist()
        return [
            (place, int(same[place]) / int(longer[place]))
            for place in nearest
            if same[place] and int(same[place]) >= least * int(longer[place])
        ]


class _SetScorer:
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
        return similarity_of_two(self._sets(a, b), self._lowest)

    def best(
        self, query: str, texts: Sequence[str], threshold: Number | None, limit: int
    ) -> list[tuple[int, float]]:
        measure = self._lowest if threshold is None else self._measure.parse(threshold)
        sets = self._sets(query, *texts)
        others, common = similar_to_first(sets, measure)
        shared = common, np.full_like(common, sets.totals[0]), sets.totals[others]
        order = np.argsort(rank_fractions(*measure.fractions(*shared)), kind="stable")[:limit]
        similarities = measure.similarities(*(column[order] for column in shared))
        return list(zip((others[order] - 1).tolist(), similarities.tolist(), strict=True))

    def _sets(self, *strings: str) -> ShingleSets | WeightedSets:
        texts, weights = texts_of(*strings), self._weights
        if weights is None:
            return shingle_sets(texts, self._shingles)
        tokens = self._shingles.tokenizer.hash_tokens(texts)
        if weights.needs_frequencies:
            counted = count_documents([frequency_lists(tokens, self._shingles)])
            weights = replace(weights, frequencies=counted)
        return weighted_sets(tokens, self._shingles, weights)


_Scorer = _EditScorer | _SetScorer


@lru_cache(64, typed=True)
def _make_scorer(measure: PairMeasure | None, text: TextOptions | None) -> _Scorer:
    """Make a scorer, with options checked once for many calls."""
    options = merge(SimilarityOptions, locals())
    return _EditScorer(options) if options.measure == "edit" else _SetScorer(options)


def _scorer(measure: PairMeasure | None, text: TextOptions | None) -> _Scorer:
    try:
        return _make_scorer(measure, text)
    except TypeError:
        # An unhashable value.
        return _make_scorer.__wrapped__(measure, text)


def similarity(
    a: str, b: str, *, measure: PairMeasure | None = None, text: TextOptions | None = None
) -> float:
    """Compare two texts by one measure, exactly.

    Parameters
    ----------
    a, b
        The texts.
    measure
        ``jaccard`` (the default), ``cosine``, ``dice``, ``containment`` (the share of a that b
        has), ``max-containment``, ``overlap`` (common shingles), ``weighted-jaccard`` or ``edit``
        (1 - edits of tokens / length of the longer text; tokens are characters).
    text
        Tokens and shingles; here a shingle has 1 token, and idf is ``unary``.

    Returns
    -------
    From 0 to 1; for ``overlap`` the number of common shingles. Texts without tokens match nothing.

    Raises
    ------
    InvalidParameterError, InvalidInputError
        For an invalid option or one without effect, and for a value that is not a text.

    Notes
    -----
    As ``find_pairs([a], [b])`` except for these defaults. It takes some microseconds for short
    texts, after the first call with the same options. Time is linear in the texts, for ``edit`` a
    64th of the product of the lengths.

    Examples
    --------
    >>> import neardup
    >>> neardup.similarity("Johann Miller", "Johann Müller", measure="edit")
    0.9230769230769231
    >>> neardup.similarity("the cat sat on the mat", "a cat sat on the mat")
    0.8333333333333334
    """
    found = _scorer(measure, text)
    try:
        if isinstance(a, str) and isinstance(b, str):
            return found.similarity(a, b)
    except UnicodeEncodeError:
        # The check raises for the invalid one.
        pass
    check_text("a", a)
    check_text("b", b)
    raise AssertionError


def extract(
    query: str,
    texts: Iterable[str | None] | Mapping[Any, str | None],
    *,
    limit: int = 5,
    threshold: Number | None = None,
    measure: PairMeasure | None = None,
    text: TextOptions | None = None,
) -> list[Extracted]:
    """Find the texts most similar to a query, none missed.

    Parameters
    ----------
    query
        The text that all others are compared with; ``a`` of the measure.
    texts
        The other texts: any iterable of strings, in which None is skipped, or the values of a
        mapping or of a pandas series.
    limit
        Maximum number of texts.
    threshold
        Least similarity, in (0, 1], an exact decimal; for ``overlap`` a number. None: any above 0.
    measure, text
        As of ``similarity``.

    Returns
    -------
    Text, similarity and key of each, the most similar first, ties in the order of ``texts``; texts
    with nothing in common are left out. The key is the place in ``texts``, or that of a mapping or
    series.

    Raises
    ------
    InvalidParameterError, InvalidInputError
        For an invalid option or one without effect, and for a value that is not a text.

    Notes
    -----
    As ``find_pairs([query], texts, threshold=threshold, top=limit)``, except for the defaults: they
    are those of ``similarity``, and any threshold. Every text is compared: time is linear in their
    length. Many queries are faster with ``find_pairs``, or with an index.

    Examples
    --------
    >>> import neardup
    >>> names = ["Miller", "Moeller", "Smith", "Muller"]
    >>> for found in neardup.extract("Mueller", names, limit=2, measure="edit"):
    ...     print(found.text, round(found.similarity, 3), found.key)
    Moeller 0.857 1
    Muller 0.857 3
    """
    asked = ExtractOptions(limit=limit, threshold=threshold, measure=measure)
    found = _scorer(measure, text)
    if isinstance(texts, str | bytes) or hasattr(texts, "columns") or not np.iterable(texts):
        message = f"texts must be a list or a mapping of strings, got {type(texts).__name__}"
        raise InvalidInputError(message)
    Documents().checked("texts", texts)
    # Values of a pandas series have labels, like the keys of a mapping.
    with_keys = getattr(texts, "items", None)
    items = list(with_keys()) if callable(with_keys) else None
    given: list[Any] = list(texts) if items is None else [value for _, value in items]
    check_text("query", query)
    places = None
    if not {type(text) for text in given} <= {str}:
        # NaN is a gap in a pandas series, like None.
        places = [n for n, each in enumerate(given) if each is not None and each == each]
        for place in places:
            check_text("texts", given[place])
    strings = given if places is None else [given[place] for place in places]
    try:
        best = found.best(query, strings, asked.threshold, asked.limit)
    except UnicodeEncodeError:
        for each in strings:
            check_text("texts", each)
        raise
    rows = []
    for place, score in best:
        row = place if places is None else places[place]
        rows.append(Extracted(given[row], score, row if items is None else items[row][0]))
    return rows
