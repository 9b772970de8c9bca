"""Measures of two texts: exact values, and what sketches tell of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.compare.values import Elements, Estimated, Measured, TextSize
from neardup.jobs.sketch.estimators import LEAST_SAMPLES
from neardup.jobs.sketch.sketch import SketchOptions, make_maker
from neardup.matching.measures import SET_MEASURES, Overlap, WeightedJaccard
from neardup.matching.verify import score_pairs
from neardup.sketches.agreement import estimate_agreement
from neardup.sketches.edit.distances import exact_distances
from neardup.sketches.edit.estimate import edit_estimates
from neardup.sketches.edit.signature import EditScheme
from neardup.sketches.modulo import ModuloScheme, estimate_containment
from neardup.sketches.rows import SketchMaker
from neardup.sketches.samples.resemblance import estimate_resemblance
from neardup.sketches.smallest import SmallestScheme
from neardup.tables import (
    EditSignatures,
    Estimates,
    Int64s,
    SetSketches,
    ShingleSets,
    Signatures,
    Texts,
    TokenLists,
    WeightedSets,
)
from neardup.text.shingles import ShingleScheme, shingle_sets
from neardup.text.weighted_sets import WeightedScheme, frequency_lists, weighted_sets
from neardup.text.weighting import count_documents

if TYPE_CHECKING:
    from neardup.options.choices import Occurrences, SketchKind

_UNIT = 2**20
_SET_KINDS: tuple[SketchKind, ...] = ("minhash", "smallest", "modulo")


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

    of_shingles: dict[Elements, tuple[SketchMaker, ...]]
    weighted: SketchMaker
    edit: SketchMaker


def shingles_of(maker: SketchMaker) -> ShingleScheme:
    """Give how texts become sets, for any kind but ``edit``."""
    assert maker.shingles is not None
    return maker.shingles


def make_makers(
    options: SketchOptions,
    *,
    num_perm: int | None,
    size: int | None,
    compression: int | None,
) -> Makers:
    """Check all options of sketches.

    Raises
    ------
    InvalidParameterError
        For the first one that is out of range.
    """
    plain = replace(options, tf=None, idf=None)
    readings: tuple[Occurrences, ...] = ("set", "numbered")
    of_shingles: dict[Elements, tuple[SketchMaker, ...]] = {
        occurrences: tuple(
            make_maker(
                replace(
                    plain,
                    kind=kind,
                    occurrences=occurrences,
                    num_perm=num_perm if kind == "minhash" else None,
                    size=None if kind == "minhash" else size,
                )
            )
            for kind in _SET_KINDS
        )
        for occurrences in readings
    }
    weighted = make_maker(replace(options, kind="weighted", num_perm=num_perm))
    edit = replace(plain, kind="edit", compression=compression, tokenizer=None, ngram=None)
    return Makers(of_shingles, weighted, make_maker(edit))


def measure_pair(
    pair: Pair, makers: Makers, edit_limit: int
) -> tuple[list[Measured], tuple[TextSize, TextSize], float | None, float | None]:
    """Work out all measures; also sizes, significance and spread.

    Time is linear in the texts, and for the exact edit distance a 64th of the product of lengths.
    """
    measures: list[Measured] = []
    n_shingles = []
    for elements, of_kinds in makers.of_shingles.items():
        shingles = shingles_of(of_kinds[0])
        sets = shingle_sets(pair.texts, shingles)
        n_shingles.append(sets.sizes.tolist())
        estimates = _estimate_sets(pair.texts, of_kinds)
        measures += [
            Measured(name, elements, exact, tuple(estimates.get(name, ())))
            for name, exact in _score_sets(sets)
        ]
    tokens = shingles_of(makers.weighted).tokenizer.hash_tokens(pair.texts)
    weighted, totals = _measure_weights(pair.texts, tokens, makers.weighted)
    edits, significance, spread = _measure_edits(pair, makers.edit, edit_limit)
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
    return [*measures, weighted, *edits], (sizes[0], sizes[1]), significance, spread


def _count_characters(texts: Texts) -> list[int]:
    strings = texts.to_arrow()
    return [len(text) for text in strings.to_pylist()]


def _score_sets(sets: ShingleSets) -> Iterator[tuple[str, float]]:
    """Give all measures of two sets; an empty one is similar to nothing."""
    sizes = sets.sizes
    zero: Int64s = np.zeros(1, np.int64)
    overlaps = zero
    if sizes.min() > 0:
        counted = score_pairs(sets, zero, zero + 1, Overlap.lowest())
        overlaps = counted.astype(np.int64)
    sides = ((sizes[:1], sizes[1:]), (sizes[1:], sizes[:1]))
    for kind in SET_MEASURES:
        measure = kind.lowest()
        for name, (left, right) in zip(measure.sided_names(), sides, strict=False):
            score = 0.0
            if sizes.min() > 0:
                score = float(measure.similarities(overlaps, left, right)[0])
            yield name, score


def _estimate_sets(texts: Texts, makers: Sequence[SketchMaker]) -> dict[str, list[Estimated]]:
    """Estimate what the kinds tell, by name of the measure."""
    found: dict[str, list[Estimated]] = {}
    zero: Int64s = np.zeros(1, np.int64)
    for maker in makers:
        rows, scheme = maker.make(texts), maker.scheme
        pairs = {"jaccard": (zero, zero + 1)}
        if isinstance(scheme, ModuloScheme):
            pairs |= {
                "containment-a-in-b": (zero, zero + 1),
                "containment-b-in-a": (zero + 1, zero),
            }
        for name, (left, right) in pairs.items():
            if isinstance(rows, Signatures):
                estimates = estimate_agreement(rows, rows, left, right)
            else:
                assert isinstance(rows, SetSketches)
                assert isinstance(scheme, SmallestScheme | ModuloScheme)
                if name == "jaccard":
                    estimates = estimate_resemblance(rows, rows, left, right, scheme)
                else:
                    assert isinstance(scheme, ModuloScheme)
                    estimates = estimate_containment(rows, rows, left, right, scheme)
            kind = str(scheme.describe()["kind"])
            found.setdefault(name, []).append(_of_estimates(kind, estimates))
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
    """Work out and estimate weighted similarity; also the sums of the weights."""
    maker = _count_both(tokens, maker)
    assert maker.weights is not None
    sets: WeightedSets = weighted_sets(tokens, shingles_of(maker), maker.weights)
    zero: Int64s = np.zeros(1, np.int64)
    exact = 0.0
    if sets.sizes.min() > 0:
        exact = float(score_pairs(sets, zero, zero + 1, WeightedJaccard.lowest())[0])
    rows = maker.make(texts)
    assert isinstance(rows, Signatures)
    estimated = _of_estimates("weighted", estimate_agreement(rows, rows, zero, zero + 1))
    found = Measured(WeightedJaccard.name, "weighted", exact, (estimated,))
    return found, sets.totals.tolist()


def _count_both(tokens: TokenLists, maker: SketchMaker) -> SketchMaker:
    """Count in how many of the two texts each shingle is, where weights depend on it."""
    weights = maker.weights
    assert isinstance(weights, WeightedScheme)
    if not weights.needs_frequencies:
        return maker
    frequencies = count_documents([frequency_lists(tokens, shingles_of(maker))])
    return replace(maker, weights=replace(weights, frequencies=frequencies))


def _measure_edits(
    pair: Pair, maker: SketchMaker, limit: int
) -> tuple[list[Measured], float | None, float | None]:
    """Work out and estimate the edit distance; also significance and spread."""
    texts = maker.fold(pair.texts)
    rows, scheme = maker.make(pair.texts), maker.scheme
    assert isinstance(rows, EditSignatures)
    assert isinstance(scheme, EditScheme)
    left, right = (np.array([row], np.int64) for row in (pair.first, pair.second))
    x, y = rows.lengths.tolist()
    first, second = texts.to_arrow()
    distance = 0 if first == second else None
    if x * y <= limit * limit:
        distance = int(exact_distances(texts, left, right)[0])
    found = edit_estimates(rows, scheme, left, right)
    usable = bool(found.is_usable[0])
    n_symbols = int(np.diff(rows.offsets).min())
    low, high = float(found.low[0]), float(found.high[0])
    value = float(found.distances[0]) if usable else None
    longer = max(x, y)
    estimated = Estimated("edit", value, None, low, high, n_symbols)
    shares = [_similarity(edits, longer) for edits in (distance, value, high, low)]
    likeness = Estimated("edit", shares[1], None, shares[2] or 0.0, shares[3] or 0.0, n_symbols)
    spread = float(found.spreads[0])
    return (
        [
            Measured("edit-distance", "characters", distance, (estimated,)),
            Measured("edit-similarity", "characters", shares[0], (likeness,)),
        ],
        float(found.significances[0]) if usable else None,
        None if np.isnan(spread) else spread,
    )


def _similarity(edits: float | None, longer: int) -> float | None:
    """Give the share of the longer text that edits leave alone; an empty text is like nothing."""
    if edits is None:
        return None
    return (longer - edits) / longer if longer else 0.0
