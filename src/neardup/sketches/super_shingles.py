"""Hash many min-hashes into few super-shingles, for very similar documents."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.runs.runner import Runner
from neardup.sketches.kind import Pairs
from neardup.sketches.minhash import band_keys
from neardup.tables import Bytes, Int64s, ShingleSets, Signatures, Uint32s, Uint64s


@dataclass(frozen=True)
class SuperShingleRule:
    """Rule for alike documents: ``least`` of ``groups`` hashes agree.

    Parameters
    ----------
    groups
        Super-shingles of a document, 1 or more.
    rows
        Min-hashes in each, 1 or more; a signature of at least groups * rows of them is needed.
    least
        From 1 to ``groups``.
    """

    groups: int = 6
    rows: int = 14
    least: int = 2

    def __post_init__(self) -> None:
        if self.groups < 1 or self.rows < 1:
            message = f"groups and rows must be 1 or more, got {self.groups} and {self.rows}"
            raise InvalidParameterError(message, "groups", "rows")
        if not 1 <= self.least <= self.groups:
            message = f"least must lie between 1 and the {self.groups} groups, got {self.least}"
            raise InvalidParameterError(message)

    def group_probability(self, resemblance: float) -> float:
        """Return the probability that a group agrees: resemblance^rows."""
        return resemblance**self.rows

    def probability(self, resemblance: float) -> float:
        """Return the probability that ``least`` groups or more agree.

        With p = resemblance^rows, the sum of C(groups, k) p^k (1 - p)^(groups - k) from k = least;
        groups of different min-hashes agree independently.
        """
        p = self.group_probability(resemblance)
        g = self.groups
        return sum(comb(g, k) * p**k * (1 - p) ** (g - k) for k in range(self.least, g + 1))


def super_shingles(signatures: Uint32s, rule: SuperShingleRule) -> Uint64s:
    """Hash each group of ``rows`` consecutive min-hashes to 64 bits, shape (n, groups).

    They are the band keys of banding. Signatures of empty documents agree with each other in all
    groups; leave them out.

    Raises
    ------
    InvalidParameterError
        If the signatures have fewer than groups * rows positions.

    References
    ----------
    Broder, Glassman, Manasse and Zweig (1997), Syntactic clustering of the Web.
    """
    return band_keys(signatures, rule.groups, rule.rows)


def count_agreements(keys: Uint64s, other: Uint64s, left: Int64s, right: Int64s) -> Int64s:
    """Count the groups in which ``left`` of one table agrees with ``right`` of the other.

    A pair is alike by a rule if it has ``rule.least`` agreements or more.
    """
    if keys.shape[1] != other.shape[1]:
        message = f"other must have {keys.shape[1]} groups, as keys, got {other.shape[1]}"
        raise InvalidParameterError(message)
    agreements: Int64s = (keys[left] == other[right]).sum(axis=1, dtype=np.int64)
    return agreements


@dataclass(frozen=True)
class SuperShingles:
    """Super-shingles of n documents, and the rule of similarity.

    ``keys`` has shape (n, groups); ``filled`` are the documents that have shingles.
    """

    keys: Uint64s
    filled: Int64s
    rule: SuperShingleRule

    @classmethod
    def of(cls, signatures: Signatures, rule: SuperShingleRule) -> SuperShingles:
        """Make the super-shingles of signatures; errors as of ``super_shingles``."""
        filled: Int64s = np.flatnonzero(signatures.sizes != 0)
        return cls(super_shingles(signatures.values, rule), filled, rule)

    def count(self, left: Int64s, right: Int64s) -> Int64s:
        """Count the groups in which pairs agree, 0 for an empty document."""
        counts = count_agreements(self.keys, self.keys, left, right)
        counts[~(np.isin(left, self.filled) & np.isin(right, self.filled))] = 0
        return counts

    def join(self, n_left: int | None, runner: Runner) -> Pairs:
        """Find all pairs that are alike, the lesser row first, in ascending order.

        With two collections, the first of ``n_left`` documents, pairs have one document of each.
        Keys of different groups differ, so that agreements are common elements of sets of keys.
        """
        # Only this needs them.
        from neardup.matching.measures import Overlap
        from neardup.matching.set_join import join_sets

        keys = np.sort(self.keys[self.filled], axis=1)
        groups = self.rule.groups
        starts = np.arange(0, keys.size, groups, dtype=np.int64)
        sets = ShingleSets(keys.reshape(-1), starts, np.full(len(keys), groups, np.int64))
        sides: Bytes | None = None
        if n_left is not None:
            sides = np.where(self.filled < n_left, 1, 2).astype(np.uint8)
        least = Overlap(Fraction(self.rule.least))
        pairs, _ = join_sets(sets, least, sides=sides, runner=runner)
        return self.filled[pairs.left], self.filled[pairs.right]
