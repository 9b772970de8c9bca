"""Comparison of two texts: all measures, shared passages, and differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Levenshtein

from neardup.engine.opening import open_runner
from neardup.jobs.align import align
from neardup.jobs.compare_result import (
    CompareResult,
    Differences,
    Measured,
    Range,
    Ranges,
    SharedPassage,
    TextSize,
)
from neardup.matching.measures import SET_MEASURES, WeightedJaccard, similarity_of_two
from neardup.options.choices import Number
from neardup.options.documents import CompareOptions
from neardup.options.groups import RunOptions, ShingleOptions, TextOptions, TokenOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import merge
from neardup.passages.matches import character_spans
from neardup.reports.differences import equal_words
from neardup.runs.runner import Runner
from neardup.stages.options import check_text
from neardup.tables import Bools, Int64s, Rows, ShingleSets, Texts, Uint64s
from neardup.text.forms import Normalisation
from neardup.text.shingles import ShingleScheme, shingle_scheme, shingle_sets
from neardup.text.tokenizers import Tokenizer, folded_strings
from neardup.text.weighting import (
    WeightedScheme,
    Weighting,
    count_documents,
    frequency_lists,
    weighted_sets,
)

_UNIT = 2**20


@dataclass(frozen=True)
class ComparisonPlan:
    """Shingles of two texts: as a set, numbered, and weighted."""

    of_set: ShingleScheme
    numbered: ShingleScheme
    weighted: ShingleScheme
    weights: WeightedScheme


def plan_comparison(options: CompareOptions) -> ComparisonPlan:
    """Check the options, before any work starts."""
    of_set = shingle_scheme(options.part(ShingleOptions))
    ngram = 1 if options.ngram is None else options.ngram
    return ComparisonPlan(
        of_set,
        replace(of_set, occurrences="numbered"),
        replace(of_set, ngram=ngram),
        WeightedScheme(Weighting(options.tf or "raw", options.idf or "unary")),
    )


def measure_texts(
    texts: Texts, plan: ComparisonPlan, options: CompareOptions
) -> tuple[list[Measured], tuple[TextSize, TextSize]]:
    """Compute all measures and the sizes of both texts.

    Time is linear in the texts, plus a 64th of the product of lengths for the exact edit distance.
    """
    set_, numbered = (shingle_sets(texts, each) for each in (plan.of_set, plan.numbered))
    measures = [Measured(name, "set", exact) for name, exact in _score_sets(set_)]
    measures += [Measured(name, "numbered", exact) for name, exact in _score_sets(numbered)]
    tokens = plan.weighted.tokenizer.hash_tokens(texts)
    weights = plan.weights
    if weights.needs_frequencies:
        # Document frequencies are counted in the two texts.
        counted = count_documents([frequency_lists(tokens, plan.weighted)])
        weights = replace(weights, frequencies=counted)
    weighted = weighted_sets(tokens, plan.weighted, weights)
    exact = similarity_of_two(weighted, WeightedJaccard.lowest())
    measures.append(Measured(WeightedJaccard.name, "weighted", exact))
    measures += _measure_edits(texts, options)
    a, b = (
        TextSize(
            len(text),
            int(tokens.offsets[row + 1] - tokens.offsets[row]),
            int(set_.sizes[row]),
            int(numbered.sizes[row]),
            int(weighted.totals[row]) / _UNIT,
        )
        for row, text in enumerate(texts.to_arrow().to_pylist())
    )
    return measures, (a, b)


def _score_sets(sets: ShingleSets) -> Iterator[tuple[str, float]]:
    """Yield all measures of two sets, 0 for empty sets."""
    exchanged = sets.take(np.array([1, 0]))
    for kind in SET_MEASURES:
        measure = kind.lowest()
        for name, both in zip(measure.sided_names(), (sets, exchanged), strict=False):
            yield name, similarity_of_two(both, measure)


def _measure_edits(texts: Texts, options: CompareOptions) -> list[Measured]:
    """Count the edits of characters, only equality beyond the limit."""
    a, b = folded_strings(texts, options.part(Normalisation, casefold=bool(options.casefold)))
    longer, distance, share = max(len(a), len(b)), None, None
    if a == b or len(a) * len(b) <= options.edit_limit**2:
        distance = Levenshtein.distance(a, b)
        share = (longer - distance) / longer if longer else 0.0
    return [
        Measured("edit-distance", "characters", distance),
        Measured("edit-similarity", "characters", share),
    ]


DEFAULT_MIN_TOKENS = 20

# Characters of two texts that one thread aligns.
_SHORT = 1 << 16

# Maximum bits of the matrix for differences of two passages, 256 MB.
_MOST_CELLS = 1 << 31


@dataclass(frozen=True)
class TokenPlaces(Rows):
    """Hashes of a text's tokens, and their positions in characters."""

    hashes: Uint64s
    starts: Int64s
    stops: Int64s

    def slice_of(self, place: Range) -> slice:
        """Return the tokens of a passage."""
        first = int(np.searchsorted(self.starts, place[0], "left"))
        return slice(first, int(np.searchsorted(self.stops, place[1], "right")))

    def range_of(self, first: int, last: int) -> Range:
        """Return the characters from token ``first`` to before token ``last``."""
        return int(self.starts[first]), int(self.stops[last - 1])


def locate(texts: Texts, tokenizer: Tokenizer) -> tuple[TokenPlaces, TokenPlaces]:
    """Find the tokens of both texts, raising for functions without positions."""
    tokens, spans = tokenizer.locate_tokens(texts)
    owners = np.repeat(np.arange(2), np.diff(tokens.offsets)).astype(np.int64)
    starts, stops = character_spans(texts.to_arrow(), owners, spans.starts, spans.stops)
    middle = int(tokens.offsets[1])
    return (
        TokenPlaces(tokens.values[:middle], starts[:middle], stops[:middle]),
        TokenPlaces(tokens.values[middle:], starts[middle:], stops[middle:]),
    )


def find_passages(
    texts: tuple[str, str],
    places: tuple[TokenPlaces, TokenPlaces],
    options: CompareOptions,
    runner: Runner,
) -> list[SharedPassage]:
    """Find the shared passages in order of the first text.

    ``min_tokens`` None is 20, or half the tokens of the shorter text if that is less. The order of
    the arguments does not matter. Texts with the same tokens share one passage.
    """
    least = options.min_tokens
    if least is None:
        least = max(min(DEFAULT_MIN_TOKENS, *(len(tokens) // 2 for tokens in places)), 1)
    if np.array_equal(places[0].hashes, places[1].hashes):
        # Alignment would also match repeated parts of such texts with each other.
        n = len(places[0])
        if n < least:
            return []
        a, b = (tokens.range_of(0, n) for tokens in places)
        return [SharedPassage(a, b, 1.0, (), ())]
    if not np.isin(places[0].hashes, places[1].hashes).any():
        # No index is needed without a passage to align.
        return []
    # In a canonical order, so that the exchanged texts have the mirrored result.
    first, second = sorted((0, 1), key=lambda row: (len(texts[row]), texts[row]))
    result = align(
        [texts[first]],
        [texts[second]],
        threshold=options.threshold,
        min_tokens=least,
        text=TextOptions(**vars(options.part(TokenOptions, ngram=None))),
        # For short texts, starting threads takes longer than the alignment.
        run=RunOptions(
            workers=1 if sum(map(len, texts)) < _SHORT else runner.workers,
            progress=runner.report,
        ),
    )
    found = []
    for row in result.passages.to_pylist():
        ranges = (row["query_start"], row["query_end"]), (row["doc_start"], row["doc_end"])
        changes = _find_changes(places[first], places[second], *ranges)
        (a, b), (of_a, of_b) = (ranges, changes) if first == 0 else (ranges[::-1], changes[::-1])
        found.append(SharedPassage(a, b, row["similarity"], of_a, of_b))
    return sorted(found, key=lambda passage: (passage.a, passage.b))


def _find_changes(
    x: TokenPlaces, y: TokenPlaces, x_range: Range, y_range: Range
) -> tuple[Ranges | None, Ranges | None]:
    """Return ranges outside a longest common subsequence, None if too large."""
    x_slice, y_slice = x.slice_of(x_range), y.slice_of(y_range)
    x_hashes, y_hashes = x.hashes[x_slice], y.hashes[y_slice]
    n_same = _count_same(x_hashes, y_hashes)
    x_hashes, y_hashes = x_hashes[n_same:], y_hashes[n_same:]
    n_last = _count_same(x_hashes[::-1], y_hashes[::-1])
    n, m = len(x_hashes) - n_last, len(y_hashes) - n_last
    if n * m > _MOST_CELLS:
        return None, None
    changed: tuple[list[Range], list[Range]] = ([], [])
    x_first, y_first = x_last, y_last = x_slice.start + n_same, y_slice.start + n_same
    for block_x, block_y, size in (
        *equal_words(x_hashes[:n].tolist(), y_hashes[:m].tolist()),
        (n, m, 0),
    ):
        x_next, y_next = x_first + block_x, y_first + block_y
        if x_next > x_last:
            _append(changed[0], x.range_of(x_last, x_next))
        if y_next > y_last:
            _append(changed[1], y.range_of(y_last, y_next))
        x_last, y_last = x_next + size, y_next + size
    return tuple(changed[0]), tuple(changed[1])


def _count_same(x: Uint64s, y: Uint64s) -> int:
    n = min(len(x), len(y))
    differing = np.flatnonzero(x[:n] != y[:n])
    return int(differing[0]) if len(differing) else n


def _append(ranges: list[Range], place: Range) -> None:
    """Add a range, merged with the last if they touch."""
    if ranges and place[0] <= ranges[-1][1]:
        place = (ranges.pop()[0], place[1])
    ranges.append(place)


def find_differences(tokens: TokenPlaces, shared: Sequence[Range]) -> tuple[Ranges, float]:
    """Return token ranges outside all passages, and the share inside.

    A range extends from the first character of its first token to the last one of its last.
    """
    n = len(tokens)
    if not n:
        return (), 0.0
    # Starting minus ending passages before each token, and after the last.
    changes: Int64s = np.zeros(n + 1, np.int64)
    for place in shared:
        within = tokens.slice_of(place)
        changes[within.start] += 1
        changes[within.stop] -= 1
    outside: Bools = np.cumsum(changes[:-1]) == 0
    edges = np.flatnonzero(np.diff(np.concatenate([[False], outside, [False]])))
    ranges = tuple(tokens.range_of(first, last) for first, last in edges.reshape(-1, 2).tolist())
    return ranges, (n - int(outside.sum())) / n


def compare_texts(
    texts: tuple[str, str],
    options: CompareOptions,
    *,
    names: tuple[str, str] = ("a", "b"),
    runner: Runner,
) -> CompareResult:
    """Compare two texts, with their names in the result."""
    plan = plan_comparison(options)
    for name, text in zip(names, texts, strict=True):
        check_text(name, text)
    both = Texts.from_arrow(pa.array(texts, pa.large_string()))
    with runner.stage("measure"):
        measures, sizes = measure_texts(both, plan, options)
    with runner.stage("align"):
        places = locate(both, plan.of_set.tokenizer)
        passages = find_passages(texts, places, options, runner)
    a, share_a = find_differences(places[0], [passage.a for passage in passages])
    b, share_b = find_differences(places[1], [passage.b for passage in passages])
    of_shingles = plan.of_set.describe()
    del of_shingles["occurrences"]
    described: dict[str, Any] = {
        **of_shingles,
        "weighted_ngram": plan.weighted.ngram,
        "tf": plan.weights.weighting.tf,
        "idf": plan.weights.weighting.idf,
        "threshold": float(exact_fraction("threshold", options.threshold)),
        "min_tokens": options.min_tokens,
        "edit_limit": options.edit_limit,
    }
    summary: dict[str, Any] = {
        "passages": len(passages),
        "share_a": share_a,
        "share_b": share_b,
        "options": described,
        "workers": runner.workers,
        "seconds": runner.seconds,
    }
    return CompareResult(
        names,
        texts,
        sizes,
        tuple(measures),
        tuple(passages),
        Differences(a, b, share_a, share_b),
        described,
        summary,
    )


def compare(
    text_a: str,
    text_b: str,
    *,
    threshold: Number = "0.5",
    min_tokens: int | None = None,
    edit_limit: int = 100_000,
    text: TextOptions | None = None,
    run: RunOptions | None = None,
) -> CompareResult:
    """Compare two texts: all measures, shared passages, and differences.

    Parameters
    ----------
    text_a, text_b
        The texts themselves, not paths.
    threshold
        Least similarity of two shared passages, in (0, 1], an exact decimal.
    min_tokens
        Tokens of the shortest shared passage. None: 20, or half of a shorter text.
    edit_limit
        The exact edit distance is computed if the product of both lengths, in characters, is at
        most the square of this, or the texts are equal.
    text, run
        Tokens and shingles, and threads. A function as tokenizer must return positions, too.

    Returns
    -------
    ``measures``: for shingles as a ``set`` and ``numbered`` (as a multiset) Jaccard, cosine, Dice,
    containment both ways, max-containment and overlap; weighted Jaccard; edit distance and
    similarity, each ``exact``. ``sizes``, ``passages`` and ``differences``. Exchanged texts mirror
    the result.

    A text without tokens is similar to nothing: all similarities are 0.

    Raises
    ------
    InvalidParameterError
        For an option out of range.
    InvalidInputError
        If a text is not a string, or contains a lone surrogate.

    Notes
    -----
    An edit distance at the limit takes up to 0.5 s for ASCII and 4 s for texts of thousands of
    different characters; all other measures are linear, except for parts repeated many times in
    both texts.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents. Coates (2011), A fast metric of
    document similarity.

    Examples
    --------
    >>> import neardup
    >>> two = neardup.TextOptions(ngram=2)
    >>> result = neardup.compare("the cat sat on the mat", "the cat sat on a mat", text=two)
    >>> result["jaccard"].exact, result["edit-distance"].exact
    (0.42857142857142855, 3)
    """
    options = merge(
        CompareOptions,
        text,
        threshold=threshold,
        min_tokens=min_tokens,
        edit_limit=edit_limit,
    )
    with open_runner(run, "compare") as runner:
        return compare_texts((text_a, text_b), options, runner=runner)
