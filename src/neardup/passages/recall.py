"""How many min-hashes a passage must share with a query to be compared with it."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb

from neardup.errors import InvalidParameterError

# Unless recall or hits are given.
DEFAULT_RECALL = Fraction(99, 100)


def check_either(recall: object, hits: int | None) -> None:
    """Make sure that either recall or hits decide.

    Raises
    ------
    InvalidParameterError
        If both are given.
    """
    if recall is not None and hits is not None:
        message = "recall chooses hits, so that only one of them can be given; leave out the other"
        raise InvalidParameterError(message, "recall", "hits")


def choose_hits(
    num_perm: int, threshold: Fraction, recall: Fraction | None = None, hits: int | None = None
) -> int:
    """Return how many min-hashes to ask for: ``hits``, or as many as the recall allows.

    Raises
    ------
    InvalidParameterError
        If there are no so many, or the recall is out of reach.
    """
    if hits is None:
        return least_hits(num_perm, threshold, DEFAULT_RECALL if recall is None else recall)
    if hits > num_perm:
        message = f"hits must be at most num_perm, got {hits} of {num_perm} hash functions"
        raise InvalidParameterError(message, "hits", "num_perm")
    return hits


@lru_cache(maxsize=64)
def least_hits(num_perm: int, threshold: Fraction, recall: Fraction) -> int:
    """Give the most min-hashes to ask for, so that a passage at the threshold has them.

    Each of ``num_perm`` min-hashes agrees with probability ``threshold``, apart from the others; at
    least so many of them agree with a probability of ``recall`` or more. At least 1.

    Raises
    ------
    InvalidParameterError
        If no number does it, because even a single one agrees too rarely.
    """
    tail = Fraction(0)
    for hits in range(num_perm, 0, -1):
        tail += comb(num_perm, hits) * threshold**hits * (1 - threshold) ** (num_perm - hits)
        if tail >= recall:
            return hits
    message = (
        f"recall {float(recall):g} is out of reach at threshold {float(threshold):g} with "
        f"{num_perm} hash functions; ask for less, or build the index with a greater num_perm"
    )
    raise InvalidParameterError(message, "recall", "threshold", "num_perm")


@lru_cache(maxsize=64)
def candidate_probability(num_perm: int, hits: int, similarity: Fraction) -> float:
    """Give the probability that a passage of this similarity shares at least so many."""
    return float(
        sum(
            comb(num_perm, k) * similarity**k * (1 - similarity) ** (num_perm - k)
            for k in range(hits, num_perm + 1)
        )
    )
