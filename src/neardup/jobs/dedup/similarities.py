"""Similarities of all pairs of a sample, and the cheapest bands at a collection's size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neardup.jobs.dedup.costs import Load
from neardup.jobs.dedup.method import SIGN_SECONDS, SORT_SECONDS
from neardup.jobs.dedup.plan import DedupPlan
from neardup.matching.bands import Banding, list_choices
from neardup.tables import Int64s, Uint32s

SAMPLE_FUNCTIONS = 256

# Seconds of one core: a pair told apart by filters; an element of a text that is read again; an
# element of a pair that filters leave, which are so many of the false ones.
_SIEVE_SECONDS, _READ_SECONDS, _COMPARE_SECONDS = 150e-9, 20e-9, 3e-9
_LEFT = 0.05

# Numbers of hash functions that are looked at, and how much less work one must be.
_NUM_PERMS = (128, 192, 256, 384, 512, 768, 1024)
_WORTHWHILE = 0.9


@dataclass(frozen=True)
class Similarities:
    """In how many of ``SAMPLE_FUNCTIONS`` hash functions the pairs of some documents agree."""

    n_documents: int
    agreements: Int64s

    @classmethod
    def of(cls, sample: Uint32s) -> Similarities:
        """Compare the signatures of all pairs."""
        agreements: Int64s = np.zeros(SAMPLE_FUNCTIONS + 1, np.int64)
        for i in range(len(sample) - 1):
            agreeing = (sample[i + 1 :] == sample[i]).sum(axis=1)
            agreements += np.bincount(agreeing, minlength=len(agreements))
        return cls(len(sample), agreements)

    def count_similar(self, threshold: float, n_documents: int) -> float:
        """Return how many pairs of so many documents reach a Jaccard similarity."""
        reached = np.arange(len(self.agreements)) / SAMPLE_FUNCTIONS >= threshold
        return float(self.agreements[reached].sum()) * self._scale(n_documents)

    def count_false(self, banding: Banding, threshold: float, n_documents: int) -> float:
        """Return how many pairs of so many documents are candidates below that.

        Of the ways to choose the rows of a band among all functions those count in which the pair
        agrees: the mean is right, however unlike documents are.
        """
        probability = np.zeros(len(self.agreements))
        for agreeing in range(banding.rows, len(self.agreements)):
            if agreeing / SAMPLE_FUNCTIONS < threshold and self.agreements[agreeing]:
                ways = math.comb(agreeing, banding.rows)
                in_a_band = ways / math.comb(SAMPLE_FUNCTIONS, banding.rows)
                probability[agreeing] = -math.expm1(banding.bands * math.log1p(-in_a_band))
        return float((self.agreements * probability).sum()) * self._scale(n_documents)

    def _scale(self, n_documents: int) -> float:
        return (n_documents / self.n_documents) ** 2 if self.n_documents else 0.0


@dataclass(frozen=True)
class BandCost:
    """Bands, and what they make of a collection: false candidates, and seconds of one core.

    ``work_seconds`` are those that depend on the bands.
    """

    num_perm: int
    bands: int
    rows: int
    pairs_false: float
    work_seconds: float


def cost_of_bands(
    banding: Banding, num_perm: int, similarities: Similarities, load: Load, least_jaccard: float
) -> BandCost:
    """Return what bands cost: the signing grows with them, false candidates with the square."""
    n = load.documents
    false = similarities.count_false(banding, least_jaccard, n)
    left = _LEFT * false
    read_again = n * -math.expm1(-2 * left / n) if n else 0.0
    mean = load.shingles / n if n else 0.0
    work = (
        load.shingles * banding.num_perm * SIGN_SECONDS
        + n * banding.bands * SORT_SECONDS
        + false * _SIEVE_SECONDS
        + left * mean * _COMPARE_SECONDS
        + read_again * mean * _READ_SECONDS
    )
    return BandCost(num_perm, banding.bands, banding.rows, false, work)


def compare_bands(
    plan: DedupPlan, similarities: Similarities, load: Load
) -> tuple[BandCost, BandCost | None]:
    """Return what the planned bands cost, and those of more hash functions that cost clearly less.

    None are looked for where bands and rows were given.
    """
    least = plan.measure.least_jaccard
    most = plan.options.num_perm or 128
    planned = cost_of_bands(plan.banding, most, similarities, load, float(least))
    if plan.options.bands is not None or plan.reading.banding is None:
        return planned, None
    larger = [num_perm for num_perm in _NUM_PERMS if num_perm > most]
    others = [
        cost_of_bands(choice.banding, choice.num_perm, similarities, load, float(least))
        for choice in list_choices(least, plan.recall, larger)
    ]
    best = min(others, key=lambda cost: cost.work_seconds, default=planned)
    return planned, best if best.work_seconds < _WORTHWHILE * planned.work_seconds else None
