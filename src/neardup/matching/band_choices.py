"""What more or fewer hash functions would give: the bands for a recall, number by number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from neardup.errors import InvalidParameterError
from neardup.matching.bands import Banding, choose_banding

NUM_PERMS = (16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class BandChoice:
    """The bands chosen within so many hash functions, for pairs of a Jaccard similarity."""

    num_perm: int
    banding: Banding
    jaccard: float

    @property
    def predicted_recall(self) -> float:
        """Probability that such a pair becomes a candidate."""
        return self.banding.candidate_probability(self.jaccard)

    @property
    def standard_error(self) -> float:
        """Standard error of such a pair's similarity estimated from all the functions.

        The number of functions in which it agrees is binomial: sqrt(s (1 - s) / n).
        """
        return math.sqrt(self.jaccard * (1 - self.jaccard) / self.num_perm)


def list_choices(
    least_jaccard: Fraction, recall: Fraction, num_perms: Iterable[int]
) -> list[BandChoice]:
    """Choose bands within each number of hash functions; those too few for the recall are left out.

    Parameters
    ----------
    least_jaccard
        Least Jaccard similarity of a pair at the threshold.
    recall
        Least probability that such a pair becomes a candidate.
    num_perms
        Numbers of hash functions, in the order of the result.
    """
    found = []
    for num_perm in num_perms:
        try:
            banding = choose_banding(least_jaccard, recall, num_perm)
        except InvalidParameterError:
            continue
        found.append(BandChoice(num_perm, banding, float(least_jaccard)))
    return found
