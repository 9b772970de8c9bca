"""Measures of two texts: exact values, and what sketches say of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.jobs.compare.result import Elements, Estimated, Measured, TextSize
from neardup.jobs.sketch.options import make_maker_of
from neardup.matching.measures import SET_MEASURES, Overlap, WeightedJaccard
from neardup.matching.verify import score_pairs
from neardup.options.sketches import SketchOptions
from neardup.sketches.edit.estimate import edit_estimates, exact_distances
from neardup.sketches.edit.kind import EditKind, fold_texts
from neardup.sketches.intervals import ShareKind
from neardup.sketches.kind import LEAST_SAMPLES
from neardup.sketches.minhash import MinHashKind
from neardup.sketches.modulo import ModuloKind
from neardup.sketches.registry import SketchMaker
from neardup.sketches.smallest import SmallestKind
from neardup.sketches.weighted_minhash import WeightedKind
from neardup.tables import (
    EditEstimates,
    EditSignatures,
    Estimates,
    Int64s,
    ShingleSets,
    Texts,
    TokenLists,
)
from neardup.text.shingles import shingle_sets
from neardup.text.weighting import count_documents, frequency_lists, weighted_sets

if TYPE_CHECKING:
    from neardup.options.choices import Occurrences

_UNIT = 2**20

# The rows of the two texts, as pairs of rows.
_A: Int64s = np.zeros(1, np.int64)
_B: Int64s = _A + 1

SetMaker = SketchMaker[ShareKind[Any, Any]]


@dataclass(frozen=True)
class Pair:
    """Two texts in a table, and their rows.

    ``first`` and ``second`` are the rows in an order that does not depend on how the texts were
    given, for what would tell them apart.
    """

    texts: Texts
    first: int
    second: int


@dataclass(frozen=True)
class Makers:
    """Sketches of all kinds: for sets and numbered shingles three each, weighted, and edit."""

    of_shingles: dict[Elements, tuple[SetMaker, ...]]
    weighted: SketchMaker[WeightedKind]
    edit: SketchMaker[EditKind]


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
    kinds: tuple[tuple[type[ShareKind[Any, Any]], SketchOptions], ...] = (
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
    edit = plain.but(compression=compression, tokenizer=None, ngram=None)
    return Makers(of_shingles, weighted, make_maker_of(EditKind, edit))


def measure_pair(
    pair: Pair, makers: Makers, edit_limit: int
) -> tuple[list[Measured], tuple[TextSize, TextSize], float | None, float | None]:
    """Work out all measures; also sizes, significance and spread.

    Time is linear in the texts, and for the exact edit distance a 64th of the product of lengths.
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
    characters = _count_characters(pair.texts)
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
    measures += [weighted, *edits.measures]
    return measures, (sizes[0], sizes[1]), edits.significance, edits.spread


def _count_characters(texts: Texts) -> list[int]:
    strings = texts.to_arrow()
    return [len(text) for text in strings.to_pylist()]


def _score_sets(sets: ShingleSets) -> Iterator[tuple[str, float]]:
    """Yield all measures of two sets; an empty one is similar to nothing."""
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
    """Estimate what the kinds tell, by name of the measure."""
    found: dict[str, list[Estimated]] = {}
    for maker in makers:
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
    texts: Texts, tokens: TokenLists, maker: SketchMaker[WeightedKind]
) -> tuple[Measured, list[int]]:
    """Work out and estimate weighted similarity; also the sums of the weights."""
    maker = _count_both(tokens, maker)
    sets = weighted_sets(tokens, maker.texts.shingles, maker.texts.weights)
    exact = 0.0
    if sets.sizes.min() > 0:
        exact = float(score_pairs(sets, _A, _B, WeightedJaccard.lowest())[0])
    shares = maker.kind.shares(maker.make(texts), _A, _B)
    estimated = _of_estimates(maker.kind.name, shares.jaccard)
    return Measured(WeightedJaccard.name, "weighted", exact, (estimated,)), sets.totals.tolist()


def _count_both(tokens: TokenLists, maker: SketchMaker[WeightedKind]) -> SketchMaker[WeightedKind]:
    """Count in how many of the two texts each shingle is, where weights depend on it."""
    how = maker.texts
    if not how.weights.needs_frequencies:
        return maker
    frequencies = count_documents([frequency_lists(tokens, how.shingles)])
    weights = replace(how.weights, frequencies=frequencies)
    return replace(maker, texts=replace(how, weights=weights))


@dataclass(frozen=True)
class _Edits:
    """Edit distance and similarity; significance and spread where they are known."""

    measures: list[Measured]
    significance: float | None
    spread: float | None


def _measure_edits(pair: Pair, maker: SketchMaker[EditKind], limit: int) -> _Edits:
    """Work out and estimate the edit distance."""
    rows: EditSignatures = maker.make(pair.texts)
    left, right = (np.array([row], np.int64) for row in (pair.first, pair.second))
    exact = _exact_distance(
        fold_texts(pair.texts, maker.texts.shingles.normalisation), rows, left, right, limit
    )
    found = edit_estimates(rows, maker.kind.scheme, left, right)
    usable = bool(found.is_usable[0])
    distance = Measured("edit-distance", "characters", exact, (_estimated_distance(found, rows),))
    spread = float(found.spreads[0])
    return _Edits(
        [distance, _as_similarity(distance, int(rows.lengths.max()))],
        float(found.significances[0]) if usable else None,
        None if np.isnan(spread) else spread,
    )


def _exact_distance(
    texts: Texts, rows: EditSignatures, left: Int64s, right: Int64s, limit: int
) -> int | None:
    """Count the edits; None where the texts are too long and differ."""
    x, y = rows.lengths.tolist()
    if x * y <= limit * limit:
        return int(exact_distances(texts, left, right)[0])
    first, second = texts.to_arrow()
    return 0 if first == second else None


def _estimated_distance(found: EditEstimates, rows: EditSignatures) -> Estimated:
    value = float(found.distances[0]) if found.is_usable[0] else None
    n_symbols = int(np.diff(rows.offsets).min())
    return Estimated("edit", value, None, float(found.low[0]), float(found.high[0]), n_symbols)


def _as_similarity(distance: Measured, longer: int) -> Measured:
    """Turn a distance and what is told of it into the share that is left of the longer text."""
    [told] = distance.estimates
    low, high = (_similarity(edits, longer) or 0.0 for edits in (told.high, told.low))
    value = _similarity(told.value, longer)
    likeness = Estimated(told.kind, value, None, low, high, told.samples)
    exact = _similarity(distance.exact, longer)
    return Measured("edit-similarity", distance.elements, exact, (likeness,))


def _similarity(edits: float | None, longer: int) -> float | None:
    """Give the share of the longer text that edits leave alone; an empty text is like nothing."""
    if edits is None:
        return None
    return (longer - edits) / longer if longer else 0.0
