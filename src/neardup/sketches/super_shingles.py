"""Super-shingles: few hashes of many min-hashes each, for documents that are very much alike."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.sketches.minhash import band_keys
from neardup.tables import Int64s, Uint32s, Uint64s


@dataclass(frozen=True)
class SuperShingleRule:
    """When two documents are taken for alike: ``least`` of their ``groups`` hashes agree.

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
        """Give the probability that a group agrees: resemblance^rows."""
        return resemblance**self.rows

    def probability(self, resemblance: float) -> float:
        """Give the probability that ``least`` groups or more agree.

        With p = resemblance^rows, the sum of C(groups, k) p^k (1 - p)^(groups - k) from k = least;
        groups of different min-hashes agree independently.
        """
        p = self.group_probability(resemblance)
        g = self.groups
        return sum(comb(g, k) * p**k * (1 - p) ** (g - k) for k in range(self.least, g + 1))


def super_shingles(signatures: Uint32s, rule: SuperShingleRule) -> Uint64s:
    """Hash each group of ``rows`` consecutive min-hashes to one of 64 bits, shape (n, groups).

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
    """Count the groups in which documents agree, ``left`` of the one table, ``right`` of the other.

    A pair is alike by a rule if it has ``rule.least`` agreements or more.
    """
    if keys.shape[1] != other.shape[1]:
        message = f"other must have {keys.shape[1]} groups, as keys, got {other.shape[1]}"
        raise InvalidParameterError(message)
    agreements: Int64s = (keys[left] == other[right]).sum(axis=1, dtype=np.int64)
    return agreements
