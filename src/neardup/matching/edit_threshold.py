"""How far two strings may be apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from neardup.matching.measures.thresholds import falling_shares, rising_distances
from neardup.tables import Int64s

_LONGEST = 2**31 - 1


@dataclass(frozen=True)
class EditThreshold:
    """How far two strings may be apart: so many edits, or such a share of the longer one.

    ``max_distance`` edits at most, or, where that is None, a similarity of 1 - distance / length
    of the longer string that is at least ``similarity``.
    """

    max_distance: int | None
    similarity: Fraction | None = None

    def allowed(self, lengths: Int64s) -> Int64s:
        """Return the most edits between strings of which the longer one has these lengths."""
        if self.similarity is None:
            # No pair is further apart than its longer string is long.
            return np.minimum(lengths, min(self.max_distance or 0, _LONGEST))
        p, q = self.similarity.numerator, self.similarity.denominator
        most: Int64s = lengths * (q - p) // q
        return most

    def fractions(self, distances: Int64s, longer: Int64s) -> tuple[Int64s, Int64s]:
        """Return what pairs are ranked by, the nearest highest: numerators and denominators.

        Similarities, or distances where those are what is limited. ``longer`` is the length of each
        pair's longer string.
        """
        if self.similarity is None:
            return int(distances.max(initial=0)) - distances, np.ones_like(longer)
        return longer - distances, longer

    def falling(self) -> Iterator[EditThreshold]:
        """Yield thresholds that allow more and more edits, ending with this one."""
        if self.similarity is not None:
            for similarity in falling_shares(self.similarity):
                yield EditThreshold(None, similarity)
            return
        for most in rising_distances(self.max_distance or 0):
            yield EditThreshold(most)
