"""Pairs of samples whose estimate may reach a threshold, found without looking at all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from neardup.matching.measures import Dice, Measure
from neardup.matching.set_join import join_sets
from neardup.runtime.runner import Runner
from neardup.sketches.pairs import Pairs
from neardup.tables import Bytes, Int64s, SetSketches, ShingleSets, Uint64s

_LEFT, _RIGHT = 1, 2


def join_smallest(
    sketches: SetSketches, threshold: Fraction, *, n_left: int | None = None, runner: Runner
) -> Pairs:
    """Find all pairs of smallest sketches whose estimated resemblance may reach a threshold.

    Parameters
    ----------
    sketches
        n sketches made by one scheme.
    threshold
        Of the estimate, in (0, 1].
    n_left
        So many rows at the start are the first of two collections, of which pairs have one each.
    runner
        Runs the join.

    Returns
    -------
    Rows, the lesser first, in ascending order; none is missed whose estimate reaches the threshold.

    Notes
    -----
    With o common values of sketches of sizes x and y the estimate is o / max(x, y) at most, so that
    Dice's measure of the sketches reaches the threshold if it does.
    """
    sets = _sets(sketches.values, sketches.offsets)
    sides = None if n_left is None else _sides(len(sketches), n_left)
    pairs, _ = join_sets(sets, Dice(threshold), sides=sides, runner=runner)
    return pairs.left, pairs.right


def join_modulo(
    sketches: SetSketches,
    measure: Measure,
    *,
    n_left: int | None = None,
    runner: Runner,
) -> Pairs:
    """Find all pairs of modulo sketches whose estimate of a measure may reach its threshold.

    Parameters
    ----------
    sketches
        n sketches made by one scheme.
    measure
        Jaccard similarity, or a containment, with the threshold of the estimate.
    n_left
        So many rows at the start are the first of two collections, of which pairs have one each.
    runner
        Runs the join.

    Returns
    -------
    As of ``join_smallest``. Where the measure is directed the first row is the one that lies in the
    other.

    Notes
    -----
    The estimate is that of the values at the larger modulus: a join for each modulus, of all rows
    up to it. A sketch of a larger modulus may hold a whole set; compared with another whole set all
    values count, of which the intersection is the same, so that estimates are no greater.
    """
    sides = None if n_left is None else _sides(len(sketches), n_left)
    found: list[Pairs] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for modulus, rows, sets in _levels(sketches):
        chosen = None if sides is None else sides[rows]
        pairs, _ = join_sets(sets, measure, sides=chosen, runner=runner)
        left, right = rows[pairs.left], rows[pairs.right]
        at_level = np.maximum(sketches.moduli[left], sketches.moduli[right]) == modulus
        found.append((left[at_level], right[at_level]))
    left, right = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order]


def _levels(sketches: SetSketches) -> Iterator[tuple[int, Int64s, ShingleSets]]:
    """Yield for each modulus the rows of no larger one, as sets of the values that it divides."""
    owners = np.repeat(np.arange(len(sketches)), np.diff(sketches.offsets))
    values = sketches.values
    for modulus in np.unique(sketches.moduli).tolist():
        stays = (values % np.uint64(modulus) == 0) & (sketches.moduli[owners] <= modulus)
        rows: Int64s = np.flatnonzero(sketches.moduli <= modulus)
        counts = np.bincount(owners[stays], minlength=len(sketches))[rows]
        offsets: Int64s = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        yield modulus, rows, _sets(values[stays], offsets)


def _sides(n: int, n_left: int) -> Bytes:
    sides: Bytes = np.full(n, _RIGHT, np.uint8)
    sides[:n_left] = _LEFT
    return sides


def _sets(values: Uint64s, offsets: Int64s) -> ShingleSets:
    return ShingleSets(values, offsets[:-1], np.diff(offsets).astype(np.int64))
