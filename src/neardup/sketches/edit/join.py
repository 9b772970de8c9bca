"""Pairs of edit sketches whose estimate may reach what is wanted, without looking at all pairs.

Unrelated texts have hardly a symbol in common, and texts with few symbols in common are far apart
by any estimate: ``floor.py`` says how far at least. Where symbols must be shared the pairs come
from an exact join of the signatures, as multisets of symbols.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from neardup.kernels.common.hashing import mix_words
from neardup.matching.measures import Dice, Measure, Overlap
from neardup.matching.set_join import join_sets
from neardup.runtime.runner import Runner
from neardup.sketches.edit.aligned import (
    KnownLengths,
    least_common,
    least_distances,
    most_similar_without_symbols,
)
from neardup.sketches.edit.estimate import LEAST_SYMBOLS, as_strings, expected_distances
from neardup.sketches.edit.signature import LEAST_ALIGNED_LETTERS, EditScheme
from neardup.sketches.kind import Wanted
from neardup.sketches.pairs import Pairs, cut_pairs, list_pairs
from neardup.tables import Bools, EditSignatures, Int64s, ShingleSets, Uint64s

# Estimates are rounded to a thousandth; sums of floats are nearer than that.
_ROUNDED = 0.01
# A threshold of a join is a whole number of so manieth parts.
_PARTS = 10**6
_LEFT, _RIGHT = 1, 2
_PIECE = 1 << 20


def join_edits(
    signatures: EditSignatures,
    scheme: EditScheme,
    wanted: Wanted,
    *,
    n_left: int | None,
    runner: Runner,
) -> Iterator[Pairs]:
    """Find the pairs of signatures that may be wanted, in ascending order, some at a time.

    None is missed whose estimated similarity reaches the threshold and whose significance the
    least one. With less than 65,536 letters, and with a threshold below 0.36 or so, which texts
    without a symbol in common may reach, these are all pairs whose lengths allow the threshold.

    Parameters
    ----------
    signatures, scheme
        n signatures, and what they were made by.
    wanted
        Threshold and least significance.
    n_left
        So many rows at the start are the first of two collections, of which pairs have one each.
    runner
        Runs the join.
    """
    rows: Int64s = np.flatnonzero(np.diff(signatures.offsets) >= LEAST_SYMBOLS)
    measure = _least_shared(signatures, scheme, wanted, rows)
    if measure is None:
        yield from list_pairs(
            len(signatures),
            n_left,
            lambda row, partners: partners[_fit(signatures, wanted, row, partners)],
        )
        return
    sides = None if n_left is None else np.where(rows < n_left, _LEFT, _RIGHT).astype(np.uint8)
    found, _ = join_sets(_symbol_sets(signatures, rows), measure, sides=sides, runner=runner)
    left, right, common = rows[found.left], rows[found.right], found.scores
    near = [np.empty(0, np.int64)]
    for start in range(0, len(left), _PIECE):
        part = slice(start, start + _PIECE)
        may_be = _may_be(signatures, scheme, wanted, left[part], right[part], common[part])
        near.append(start + np.flatnonzero(may_be))
    chosen = np.concatenate(near)
    yield from cut_pairs(left[chosen], right[chosen])


def _least_shared(
    signatures: EditSignatures, scheme: EditScheme, wanted: Wanted, rows: Int64s
) -> Measure | None:
    """Return what signatures of wanted pairs have in common at least; None if maybe nothing."""
    if scheme.letters < LEAST_ALIGNED_LETTERS:
        return None
    if not len(rows):
        return Overlap.lowest()
    measures: list[Measure] = []
    if wanted.threshold is not None:
        lengths, n = signatures.lengths[rows], scheme.neighbourhood
        # Whatever is rounded, it is far less.
        threshold, shortest = float(wanted.threshold) - 1e-6, int(lengths.min())
        threshold -= _ROUNDED / shortest
        if threshold > most_similar_without_symbols(threshold, shortest, n):
            sizes = np.diff(signatures.offsets)[rows]
            spacing = float(((lengths - n + 1) / sizes).min())
            share = math.floor(least_common(threshold, shortest, spacing, n) * _PARTS)
            measures.append(Dice(Fraction(share, _PARTS)) if share > 0 else Overlap.lowest())
    if wanted.min_significance is not None:
        # Each symbol in common takes one edit from the distance, and deviations are one at least.
        measures.append(Overlap(Fraction(max(math.ceil(wanted.min_significance - 1e-6), 1))))
    return measures[0] if measures else None


def _may_be(
    signatures: EditSignatures,
    scheme: EditScheme,
    wanted: Wanted,
    left: Int64s,
    right: Int64s,
    common: Int64s,
) -> Bools:
    """Mark the pairs that may be wanted with so many symbols in common."""
    sizes, lengths = np.diff(signatures.offsets), signatures.lengths
    may_be: Bools = np.ones(len(left), np.bool_)
    if wanted.threshold is not None:
        may_be &= _fit(signatures, wanted, left, right)
        is_turned = lengths[left] > lengths[right]
        first, second = np.where(is_turned, right, left), np.where(is_turned, left, right)
        known = KnownLengths(
            scheme.neighbourhood,
            lengths[first].astype(np.float64),
            lengths[second].astype(np.float64),
            (sizes[first] + sizes[second]).astype(np.float64),
        )
        least = least_distances(known, common.astype(np.float64), sizes[first].astype(np.float64))
        most = (1 - float(wanted.threshold)) * lengths[second]
        may_be &= least <= most + _ROUNDED + 1e-9 * lengths[second]
    if wanted.min_significance is not None:
        expected, deviations = expected_distances(sizes[left], sizes[right], scheme.letters)
        nearest = np.maximum(sizes[left], sizes[right]) - common
        may_be &= expected - nearest >= (wanted.min_significance - 1e-6) * deviations
    return may_be


def _fit(signatures: EditSignatures, wanted: Wanted, left: Int64s | int, right: Int64s) -> Bools:
    """Mark the pairs whose lengths do not say that they are too far apart."""
    if wanted.threshold is None:
        return np.ones(len(right), np.bool_)
    p, q = wanted.threshold.numerator, wanted.threshold.denominator
    lengths = signatures.lengths
    shorter = np.minimum(lengths[left], lengths[right])
    longer = np.maximum(lengths[left], lengths[right])
    # 1 - distance / longer >= p / q, the distance being the difference at least.
    fits: Bools = shorter * q >= longer * p
    return fits


def _symbol_sets(signatures: EditSignatures, rows: Int64s) -> ShingleSets:
    """Return the symbols of some signatures as sets: the k-th time that one is there counts by k.

    Symbols are those that distances compare.
    """
    sizes: Int64s = np.diff(signatures.offsets)
    data = "".join(as_strings(signatures).tolist()).encode("utf-32-le")
    symbols = np.frombuffer(data, "<u4").astype(np.uint64)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((symbols, owners))
    symbols, owners = symbols[order], owners[order]
    numbers = np.arange(len(symbols))
    is_first = np.ones(len(symbols), np.bool_)
    is_first[1:] = (symbols[1:] != symbols[:-1]) | (owners[1:] != owners[:-1])
    numbers -= np.maximum.accumulate(np.where(is_first, numbers, 0))
    # Joins want elements that are spread out; one to one.
    values: Uint64s = mix_words(symbols << np.uint64(32) | numbers.astype(np.uint64))
    return ShingleSets(
        values[np.lexsort((values, owners))], signatures.offsets[:-1][rows], sizes[rows]
    )
