"""Comparison of two texts: all measures, shared passages, and differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import LCSseq

from neardup.engine.opening import open_runner
from neardup.jobs.align import align
from neardup.jobs.compare_result import (
    CompareResult,
    Differences,
    Elements,
    Estimated,
    Measured,
    Range,
    Ranges,
    SharedPassage,
    TextSize,
)
from neardup.matching.measures import SET_MEASURES, Overlap, WeightedJaccard
from neardup.matching.verify import score_pairs
from neardup.options.choices import Number
from neardup.options.documents import CompareOptions, SketchOptions
from neardup.options.groups import RunOptions, TextOptions, TokenOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import merge
from neardup.passages.matches import character_spans
from neardup.runs.runner import Runner
from neardup.sketches.edit import (
    EditKind,
    as_strings,
    edit_estimates,
    exact_distances,
    fold_texts,
)
from neardup.sketches.kind import LEAST_SAMPLES, ShareKind
from neardup.sketches.minhash import MinHashKind, WeightedKind
from neardup.sketches.registry import SketchMaker, make_maker_of
from neardup.sketches.samples import ModuloKind, SmallestKind
from neardup.stages.options import check_text
from neardup.tables import (
    Bools,
    EditSignatures,
    Estimates,
    Int64s,
    Rows,
    ShingleSets,
    Texts,
    TokenLists,
    Uint64s,
)
from neardup.text.shingles import shingle_sets
from neardup.text.tokenizers import Tokenizer
from neardup.text.weighting import count_documents, frequency_lists, weighted_sets

if TYPE_CHECKING:
    from neardup.options.choices import Occurrences

_UNIT = 2**20

# The rows of the two texts, as pairs of rows.
_A: Int64s = np.zeros(1, np.int64)
_B: Int64s = _A + 1

SetMaker = SketchMaker


@dataclass(frozen=True)
class Pair:
    """Two texts in a table, and their rows.

    ``first`` and ``second`` are the rows in a canonical order, so that the result does not depend
    on the order of the arguments.
    """

    texts: Texts
    first: int
    second: int


@dataclass(frozen=True)
class Makers:
    """Makers of all kinds of sketches."""

    of_shingles: dict[Elements, tuple[SetMaker, ...]]
    weighted: SketchMaker
    edit: SketchMaker


def make_makers(
    options: SketchOptions,
    *,
    num_perm: int | None,
    size: int | None,
    compression: int | None,
) -> Makers:
    """Check all options of sketches."""
    plain = options.but(tf=None, idf=None)
    with_size = plain.but(size=size)
    kinds: tuple[tuple[type[ShareKind], SketchOptions], ...] = (
        (MinHashKind, plain.but(num_perm=num_perm)),
        (SmallestKind, with_size),
        (ModuloKind, with_size),
    )
    readings: tuple[Occurrences, ...] = ("set", "numbered")
    of_shingles: dict[Elements, tuple[SetMaker, ...]] = {
        occurrences: tuple(
            make_maker_of(kind, own.but(occurrences=occurrences)) for kind, own in kinds
        )
        for occurrences in readings
    }
    weighted = make_maker_of(WeightedKind, options.but(num_perm=num_perm))
    edit = plain.but(compression=compression, tokenizer=None, language=None, ngram=None)
    return Makers(of_shingles, weighted, make_maker_of(EditKind, edit))


def measure_pair(
    pair: Pair, makers: Makers, edit_limit: int
) -> tuple[list[Measured], tuple[TextSize, TextSize]]:
    """Compute all measures and the sizes of both texts.

    Time is linear in the texts, plus a 64th of the product of lengths for the exact edit distance.
    """
    measures: list[Measured] = []
    n_shingles = []
    for elements, of_kinds in makers.of_shingles.items():
        sets = shingle_sets(pair.texts, of_kinds[0].texts.shingles)
        n_shingles.append(sets.sizes.tolist())
        estimates = _estimate_sets(pair.texts, of_kinds)
        measures += [
            Measured(name, elements, exact, tuple(estimates.get(name, ())))
            for name, exact in _score_sets(sets)
        ]
    tokens = makers.weighted.texts.shingles.tokenizer.hash_tokens(pair.texts)
    weighted, totals = _measure_weights(pair.texts, tokens, makers.weighted)
    edits = _measure_edits(pair, makers.edit, edit_limit)
    characters = [len(text) for text in pair.texts.to_arrow().to_pylist()]
    sizes = [
        TextSize(
            characters[row],
            int(tokens.offsets[row + 1] - tokens.offsets[row]),
            n_shingles[0][row],
            n_shingles[1][row],
            totals[row] / _UNIT,
        )
        for row in (0, 1)
    ]
    measures += [weighted, *edits]
    return measures, (sizes[0], sizes[1])


def _score_sets(sets: ShingleSets) -> Iterator[tuple[str, float]]:
    """Yield all measures of two sets; they are 0 for an empty one."""
    sizes = sets.sizes
    overlaps = np.zeros(1, np.int64)
    if sizes.min() > 0:
        counted = score_pairs(sets, _A, _B, Overlap.lowest())
        overlaps = counted.astype(np.int64)
    sides = ((sizes[:1], sizes[1:]), (sizes[1:], sizes[:1]))
    for kind in SET_MEASURES:
        measure = kind.lowest()
        for name, (left, right) in zip(measure.sided_names(), sides, strict=False):
            score = 0.0
            if sizes.min() > 0:
                score = float(measure.similarities(overlaps, left, right)[0])
            yield name, score


def _estimate_sets(texts: Texts, makers: Sequence[SetMaker]) -> dict[str, list[Estimated]]:
    found: dict[str, list[Estimated]] = {}
    for maker in makers:
        assert isinstance(maker.kind, ShareKind)
        shares = maker.kind.shares(maker.make(texts), _A, _B)
        told = {
            "jaccard": shares.jaccard,
            "containment-a-in-b": shares.a_in_b,
            "containment-b-in-a": shares.b_in_a,
        }
        for name, estimates in told.items():
            if estimates is not None:
                found.setdefault(name, []).append(_of_estimates(maker.kind.name, estimates))
    return found


def _of_estimates(kind: str, estimates: Estimates) -> Estimated:
    usable = bool(estimates.is_usable(LEAST_SAMPLES)[0])
    return Estimated(
        kind,
        float(estimates.values[0]) if usable else None,
        float(estimates.errors[0]) if usable else None,
        float(estimates.low[0]),
        float(estimates.high[0]),
        int(estimates.n_samples[0]),
    )


def _measure_weights(
    texts: Texts, tokens: TokenLists, maker: SketchMaker
) -> tuple[Measured, list[int]]:
    """Compute and estimate weighted similarity; also the sums of the weights."""
    how = maker.texts
    if how.weights.needs_frequencies:
        # Document frequencies are counted in the two texts.
        frequencies = count_documents([frequency_lists(tokens, how.shingles)])
        how = replace(how, weights=replace(how.weights, frequencies=frequencies))
        maker = replace(maker, texts=how)
    sets = weighted_sets(tokens, how.shingles, how.weights)
    exact = 0.0
    if sets.sizes.min() > 0:
        exact = float(score_pairs(sets, _A, _B, WeightedJaccard.lowest())[0])
    assert isinstance(maker.kind, ShareKind)
    shares = maker.kind.shares(maker.make(texts), _A, _B)
    estimated = _of_estimates(maker.kind.name, shares.jaccard)
    return Measured(WeightedJaccard.name, "weighted", exact, (estimated,)), sets.totals.tolist()


def _measure_edits(pair: Pair, maker: SketchMaker, limit: int) -> list[Measured]:
    rows: EditSignatures = maker.make(pair.texts)
    left, right = (np.array([row], np.int64) for row in (pair.first, pair.second))
    found = edit_estimates(rows, maker.kind.scheme, left, right)
    usable, longer = bool(found.is_usable[0]), int(rows.lengths.max())
    # For too long texts, only equality is detected.
    folded = fold_texts(pair.texts, maker.texts.shingles.normalisation)
    x, y = rows.lengths.tolist()
    if x * y <= limit * limit:
        exact: int | None = int(exact_distances(folded, left, right)[0])
    else:
        first, second = folded.to_arrow()
        exact = 0 if first == second else None

    def left_alone(edits: float | None) -> float | None:
        """Return the share of the longer text without edits; 0 for an empty text."""
        if edits is None:
            return None
        return (longer - edits) / longer if longer else 0.0

    n_symbols = int(np.diff(rows.offsets).min())
    distance = float(found.distances[0]) if usable else None
    low, high = float(found.low[0]), float(found.high[0])
    told = Estimated("edit", distance, None, low, high, n_symbols)
    least, most = (left_alone(edits) or 0.0 for edits in (high, low))
    likeness = Estimated("edit", left_alone(distance), None, least, most, n_symbols)
    return [
        Measured("edit-distance", "characters", exact, (told,)),
        Measured("edit-similarity", "characters", left_alone(exact), (likeness,)),
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


def locate(texts: pa.Array, pair: Pair, tokenizer: Tokenizer) -> tuple[TokenPlaces, TokenPlaces]:
    """Find the tokens of both texts.

    Raises
    ------
    InvalidParameterError
        If a function as tokenizer does not return positions.
    """
    tokens, spans = tokenizer.locate_tokens(pair.texts)
    owners = np.repeat(np.arange(2), np.diff(tokens.offsets)).astype(np.int64)
    starts, stops = character_spans(texts, owners, spans.starts, spans.stops)
    middle = int(tokens.offsets[1])
    return (
        TokenPlaces(tokens.values[:middle], starts[:middle], stops[:middle]),
        TokenPlaces(tokens.values[middle:], starts[middle:], stops[middle:]),
    )


def find_passages(
    texts: tuple[str, str],
    pair: Pair,
    places: tuple[TokenPlaces, TokenPlaces],
    options: CompareOptions,
    runner: Runner,
) -> list[SharedPassage]:
    """Find the shared passages of two texts, in order of position in the first.

    ``min_tokens`` None is 20, or half the tokens of the shorter text if that is less. The windows
    of one text are looked up in an index of the other; the roles do not depend on the order of the
    arguments. Texts with the same tokens share one passage, all of them.
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
    result = align(
        [texts[pair.first]],
        [texts[pair.second]],
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
        first = (row["query_start"], row["query_end"])
        second = (row["doc_start"], row["doc_end"])
        of_first, of_second = _find_changes(places[pair.first], places[pair.second], first, second)
        if pair.first == 1:
            first, second, of_first, of_second = second, first, of_second, of_first
        found.append(SharedPassage(first, second, row["similarity"], of_first, of_second))
    return sorted(found, key=lambda passage: (passage.a, passage.b))


def _find_changes(
    x: TokenPlaces, y: TokenPlaces, x_range: Range, y_range: Range
) -> tuple[Ranges | None, Ranges | None]:
    """Return the ranges of two passages outside a longest common subsequence of tokens.

    None if it would take too much memory.
    """
    x_slice, y_slice = x.slice_of(x_range), y.slice_of(y_range)
    x_hashes, y_hashes = x.hashes[x_slice], y.hashes[y_slice]
    n_same = _count_same(x_hashes, y_hashes)
    x_hashes, y_hashes = x_hashes[n_same:], y_hashes[n_same:]
    n_last = _count_same(x_hashes[::-1], y_hashes[::-1])
    n, m = len(x_hashes) - n_last, len(y_hashes) - n_last
    if n * m > _MOST_CELLS:
        return None, None
    hashes = np.concatenate([x_hashes[:n], y_hashes[:m]])
    numbers = np.unique(hashes, return_inverse=True)[1].astype(np.uint32)
    offsets = np.array([0, n, n + m], np.int64)
    left, right = as_strings(EditSignatures(numbers, offsets, np.diff(offsets)))
    changed: tuple[list[Range], list[Range]] = ([], [])
    x_first, y_first = x_last, y_last = x_slice.start + n_same, y_slice.start + n_same
    for block in LCSseq.editops(left, right).as_matching_blocks():
        x_next, y_next = x_first + block.a, y_first + block.b
        if x_next > x_last:
            _append(changed[0], x.range_of(x_last, x_next))
        if y_next > y_last:
            _append(changed[1], y.range_of(y_last, y_next))
        x_last, y_last = x_next + block.size, y_next + block.size
    return tuple(changed[0]), tuple(changed[1])


def _count_same(x: Uint64s, y: Uint64s) -> int:
    n = min(len(x), len(y))
    differing = np.flatnonzero(x[:n] != y[:n])
    return int(differing[0]) if len(differing) else n


def _append(ranges: list[Range], place: Range) -> None:
    """Add a range, or widen the last one: several tokens may be in one character."""
    if ranges and place[0] <= ranges[-1][1]:
        place = (ranges.pop()[0], place[1])
    ranges.append(place)


def find_differences(tokens: TokenPlaces, shared: Sequence[Range]) -> tuple[Ranges, float]:
    """Return the ranges of tokens outside all passages, and the share of tokens inside.

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


def plan_comparison(options: CompareOptions) -> Makers:
    """Make the sketch makers, before any work starts."""
    common = options.part(SketchOptions, num_perm=None, size=None, compression=None)
    return make_makers(
        common, num_perm=options.num_perm, size=options.size, compression=options.compression
    )


def compare_texts(
    texts: tuple[str, str],
    options: CompareOptions,
    *,
    names: tuple[str, str] = ("a", "b"),
    runner: Runner,
) -> CompareResult:
    """Compare two texts; see ``compare``. ``names`` are their names in the result."""
    makers = plan_comparison(options)
    for name, text in zip(names, texts, strict=True):
        check_text(name, text)
    strings = pa.array(texts, pa.large_string())
    order = sorted((0, 1), key=lambda row: (len(texts[row]), texts[row]))
    pair = Pair(Texts.from_arrow(strings), *order)
    with runner.stage("measure"):
        measures, sizes = measure_pair(pair, makers, options.edit_limit)
    with runner.stage("align"):
        places = locate(strings, pair, makers.weighted.texts.shingles.tokenizer)
        passages = find_passages(texts, pair, places, options, runner)
    a, share_a = find_differences(places[0], [passage.a for passage in passages])
    b, share_b = find_differences(places[1], [passage.b for passage in passages])
    described = _describe(options, makers)
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


def _describe(options: CompareOptions, makers: Makers) -> dict[str, Any]:
    sets = [maker.describe() for maker in makers.of_shingles["set"]]
    of_shingles = makers.of_shingles["set"][0].texts.shingles.describe()
    weighted = makers.weighted.describe()
    return {
        **{name: value for name, value in of_shingles.items() if name != "occurrences"},
        "weighted_ngram": weighted["ngram"],
        "tf": weighted["tf"],
        "idf": weighted["idf"],
        "num_perm": weighted["num_perm"],
        "smallest_size": sets[1]["size"],
        "modulo_size": sets[2]["size"],
        "compression": makers.edit.describe()["compression"],
        "seed": weighted["seed"],
        "threshold": float(exact_fraction("threshold", options.threshold)),
        "min_tokens": options.min_tokens,
        "edit_limit": options.edit_limit,
    }


def compare(
    text_a: str,
    text_b: str,
    *,
    threshold: Number = "0.5",
    min_tokens: int | None = None,
    edit_limit: int = 100_000,
    num_perm: int | None = None,
    size: int | None = None,
    compression: int | None = None,
    text: TextOptions | None = None,
    run: RunOptions | None = None,
) -> CompareResult:
    """Compare two texts: all measures, exact and estimated, and shared passages.

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
        most the square of this, or the texts are equal; otherwise it is estimated.
    num_perm, size, compression
        Options of the sketches for estimates, as of ``sketch``.
    text, run
        Tokens and shingles, and threads. A function as tokenizer must return positions, too.

    Returns
    -------
    ``measures``: for shingles as a ``set`` and ``numbered`` (as a multiset) Jaccard, cosine, Dice,
    containment both ways, max-containment and overlap; weighted Jaccard; edit distance and
    similarity. Each with its exact value and what sketches of each kind estimate. ``sizes``,
    ``passages`` and ``differences``. With the texts exchanged the result is the same, mirrored.

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
    different characters; all other measures are linear in the texts, except for parts repeated many
    times in both.

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
        num_perm=num_perm,
        size=size,
        compression=compression,
    )
    with open_runner(run, "compare") as runner:
        return compare_texts((text_a, text_b), options, runner=runner)
