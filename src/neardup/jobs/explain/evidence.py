"""How alike two documents are, exactly, and whether the bands could see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.jobs.explain.scheme import DecidingScheme, SignedDocuments
from neardup.matching.measures import Jaccard, WeightedJaccard
from neardup.matching.verify import overlaps_at_threshold
from neardup.tables import Bools, Floats, Int64s, ShingleSets, WeightedSets

# Weights are whole numbers of this.
WEIGHT_UNIT = 2.0**-20


@dataclass(frozen=True)
class Evidence:
    """How alike two documents are: the first one is the one that would go.

    Parameters
    ----------
    common, sizes
        Numbers of shingles, or sums of weights: common ones, and those of each document.
    similarity, reaches
        The value of the measure, and whether it is at the threshold at least; decided exactly.
    jaccard
        The resemblance that bands see: Jaccard similarity of the same sets.
    are_copies
        Whether both have the same tokens.
    shared_bands
        Bands, from 0, in which both are in one bucket; None where there are no bands.
    n_bands, probability
        Number of bands, and the probability that two documents of this resemblance share a bucket;
        None where there are none.
    reverse, reverse_reaches
        Of a one-sided measure, its value and whether that reaches the threshold if the second
        document were the one to go; None of others.
    """

    common: float
    sizes: tuple[float, float]
    similarity: float
    reaches: bool
    jaccard: float
    are_copies: bool
    shared_bands: tuple[int, ...] | None = None
    n_bands: int | None = None
    probability: float | None = None
    reverse: float | None = None
    reverse_reaches: bool | None = None

    @property
    def were_compared(self) -> bool:
        """Whether the two met: in a bucket, or because all documents did."""
        return self.shared_bands is None or bool(self.shared_bands)


@dataclass(frozen=True)
class Overlaps:
    """One document beside many: common elements, similarities, and which reach the threshold."""

    common: Int64s
    similarities: Floats
    reach: Bools
    jaccards: Floats


def find_evidence(
    signed: SignedDocuments, goes: int, stays: int, scheme: DecidingScheme
) -> Evidence:
    """Compare two of some signed documents: the one that would go, and the one that stays."""
    one, other = (signed.sets.take(np.array([row])) for row in (goes, stays))
    forth = compare_with_all(one, other, scheme, np.ones(1, np.bool_))
    back = None
    if scheme.measure.is_directed:
        back = compare_with_all(one, other, scheme, np.zeros(1, np.bool_))
    unit = WEIGHT_UNIT if scheme.weighted else 1
    are_copies = signed.are_copies(goes, stays)
    bands = signed.shared_bands(goes, stays)
    jaccard = 1.0 if are_copies else float(forth.jaccards[0])
    return Evidence(
        common=int(forth.common[0]) * unit,
        sizes=(sizes_of(one).item() * unit, sizes_of(other).item() * unit),
        similarity=1.0 if are_copies else float(forth.similarities[0]),
        reaches=are_copies or bool(forth.reach[0]),
        jaccard=jaccard,
        are_copies=are_copies,
        shared_bands=bands,
        n_bands=None if scheme.banding is None else scheme.banding.bands,
        probability=_probability(signed, (goes, stays), jaccard, scheme),
        reverse=None if back is None else float(back.similarities[0]),
        reverse_reaches=None if back is None else bool(back.reach[0]),
    )


def _probability(
    signed: SignedDocuments, pair: tuple[int, int], jaccard: float, scheme: DecidingScheme
) -> float | None:
    if scheme.banding is None:
        return None
    if min(signed.n_tokens[row] for row in pair) == 0:
        return 0.0
    return scheme.banding.candidate_probability(jaccard)


def compare_with_all(
    own: ShingleSets | WeightedSets,
    others: ShingleSets | WeightedSets,
    scheme: DecidingScheme,
    own_goes: Bools,
) -> Overlaps:
    """Compare one set with many, exactly.

    Parameters
    ----------
    own
        One set.
    others
        Those that it is compared with.
    scheme
        Whose measure counts.
    own_goes
        For each of the others whether the one set is that of the document that would go.

    Notes
    -----
    An empty set is similar to nothing. Time that of going through all sets.
    """
    n, measure = len(others), scheme.measure
    sets = _joined(own, others)
    sizes = sizes_of(sets)
    rows = np.flatnonzero((sizes[1:] > 0) & (sizes[0] > 0)).astype(np.int64)
    goes = own_goes[rows]
    left: Int64s = np.where(goes, 0, rows + 1).astype(np.int64)
    right: Int64s = np.where(goes, rows + 1, 0).astype(np.int64)
    counted = overlaps_at_threshold(sets, left, right, type(measure).lowest())
    met = counted > 0
    rows, left, right, counted = rows[met], left[met], right[met], counted[met]
    common: Int64s = np.zeros(n, np.int64)
    common[rows] = counted
    x, y = sizes[left], sizes[right]
    found: Floats = np.zeros(n)
    found[rows] = measure.similarities(counted, x, y)
    jaccards: Floats = np.zeros(n)
    of_bands = WeightedJaccard if measure.is_weighted else Jaccard
    jaccards[rows] = of_bands.lowest().similarities(counted, x, y)
    reach: Bools = np.zeros(n, np.bool_)
    reach[rows] = overlaps_at_threshold(sets, left, right, measure) >= 0
    return Overlaps(common, found, reach, jaccards)


def sizes_of(sets: ShingleSets | WeightedSets) -> Int64s:
    """Return what measures take as sizes: numbers of shingles, or sums of weights."""
    return sets.totals if isinstance(sets, WeightedSets) else sets.sizes


def _joined(
    own: ShingleSets | WeightedSets, others: ShingleSets | WeightedSets
) -> ShingleSets | WeightedSets:
    """Put one set in front of others; values that it does not have itself are left behind."""
    start, size = int(own.starts[0]), int(own.sizes[0])
    here = slice(start, start + size)
    values = np.concatenate([own.values[here], others.values])
    starts = np.concatenate([[0], others.starts + size]).astype(np.int64)
    sizes = np.concatenate([own.sizes, others.sizes])
    if isinstance(own, WeightedSets) and isinstance(others, WeightedSets):
        weights = np.concatenate([own.weights[here], others.weights])
        totals = np.concatenate([own.totals, others.totals])
        return WeightedSets(values, weights, starts, sizes, totals)
    return ShingleSets(values, starts, sizes)
