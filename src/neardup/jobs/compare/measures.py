"""Measures of two texts: exact values, and what sketches say of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.jobs.compare.compare_result import Elements, Estimated, Measured, TextSize
from neardup.matching.measures import SET_MEASURES, Overlap, WeightedJaccard
from neardup.matching.verify import score_pairs
from neardup.options.sketches import SketchOptions
from neardup.sketches.edit.estimate import edit_estimates, exact_distances
from neardup.sketches.edit.kind import EditKind, fold_texts
from neardup.sketches.from_texts import SketchMaker, make_maker_of
from neardup.sketches.intervals import ShareKind
from neardup.sketches.kind import LEAST_SAMPLES
from neardup.sketches.minhash import MinHashKind
from neardup.sketches.modulo import ModuloKind
from neardup.sketches.smallest import SmallestKind
from neardup.sketches.weighted_minhash import WeightedKind
from neardup.tables import (
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
    edits, significance, spread = _measure_edits(pair, makers.edit, edit_limit)
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
    return measures, (sizes[0], sizes[1]), significance, spread


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
    how = maker.texts
    if how.weights.needs_frequencies:
        # It is counted in how many of the two texts each shingle is.
        frequencies = count_documents([frequency_lists(tokens, how.shingles)])
        how = replace(how, weights=replace(how.weights, frequencies=frequencies))
        maker = replace(maker, texts=how)
    sets = weighted_sets(tokens, how.shingles, how.weights)
    exact = 0.0
    if sets.sizes.min() > 0:
        exact = float(score_pairs(sets, _A, _B, WeightedJaccard.lowest())[0])
    shares = maker.kind.shares(maker.make(texts), _A, _B)
    estimated = _of_estimates(maker.kind.name, shares.jaccard)
    return Measured(WeightedJaccard.name, "weighted", exact, (estimated,)), sets.totals.tolist()


def _measure_edits(
    pair: Pair, maker: SketchMaker[EditKind], limit: int
) -> tuple[list[Measured], float | None, float | None]:
    """Work out and estimate edit distance and similarity; also significance and spread."""
    rows: EditSignatures = maker.make(pair.texts)
    left, right = (np.array([row], np.int64) for row in (pair.first, pair.second))
    found = edit_estimates(rows, maker.kind.scheme, left, right)
    usable, longer = bool(found.is_usable[0]), int(rows.lengths.max())
    # Of texts that are too long only that they are equal is worked out.
    folded = fold_texts(pair.texts, maker.texts.shingles.normalisation)
    x, y = rows.lengths.tolist()
    if x * y <= limit * limit:
        exact: int | None = int(exact_distances(folded, left, right)[0])
    else:
        first, second = folded.to_arrow()
        exact = 0 if first == second else None

    def left_alone(edits: float | None) -> float | None:
        """Return the share of the longer text without edits; an empty text is like nothing."""
        if edits is None:
            return None
        return (longer - edits) / longer if longer else 0.0

    n_symbols = int(np.diff(rows.offsets).min())
    distance = float(found.distances[0]) if usable else None
    low, high = float(found.low[0]), float(found.high[0])
    told = Estimated("edit", distance, None, low, high, n_symbols)
    least, most = (left_alone(edits) or 0.0 for edits in (high, low))
    likeness = Estimated("edit", left_alone(distance), None, least, most, n_symbols)
    spread = float(found.spreads[0])
    return (
        [
            Measured("edit-distance", "characters", exact, (told,)),
            Measured("edit-similarity", "characters", left_alone(exact), (likeness,)),
        ],
        float(found.significances[0]) if usable else None,
        None if np.isnan(spread) else spread,
    )
