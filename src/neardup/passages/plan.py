"""Conditions on a passage, and the number of common min-hashes of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, nextafter

from neardup.errors import InvalidParameterError
from neardup.options.passages import DEFAULT_RECALL
from neardup.passages.scheme import PassageScheme


@dataclass(frozen=True)
class SearchPlan:
    """Conditions on a passage.

    ``threshold`` is the least similarity. Passages with ``hits`` common min-hashes, or all with 0,
    are compared exactly. With ``times``, the similarity is the share of the query that a passage of
    any length contains, if it weighs at most ``times`` the query; min-hashes are not used then.
    """

    threshold: Fraction
    hits: int
    min_tokens: int
    times: int = 0


def make_search_plan(
    scheme: PassageScheme,
    threshold: Fraction,
    recall: Fraction | None,
    hits: int | None = None,
    times: int = 0,
) -> SearchPlan:
    """Choose the number of common min-hashes: ``hits``, or by the recall.

    It is 0 if nothing may be missed, or if there are no min-hashes.
    """
    num_perm = scheme.num_perm
    if hits is None:
        recall = Fraction(1) if times else DEFAULT_RECALL if recall is None else recall
        hits = least_hits(num_perm, threshold, recall) if num_perm and recall < 1 else 0
    elif hits > num_perm:
        message = f"hits must be at most num_perm, got {hits} of {num_perm} hash functions"
        raise InvalidParameterError(message, "hits", "num_perm")
    return SearchPlan(threshold, hits, scheme.least_shingles, times)


@lru_cache(maxsize=64)
def least_hits(num_perm: int, threshold: Fraction, recall: Fraction) -> int:
    """Return the largest number of min-hashes that keeps the recall at the threshold.

    Each of ``num_perm`` min-hashes agrees independently with probability ``threshold``; the
    probability that at least this many agree is ``recall`` or more. At least 1.
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
    """Return the probability that a passage of this similarity has ``hits`` common min-hashes.

    It is 1 only if nothing can be missed, not by rounding.
    """
    exact = sum(
        comb(num_perm, k) * similarity**k * (1 - similarity) ** (num_perm - k)
        for k in range(hits, num_perm + 1)
    )
    return float(exact) if exact == 1 else min(float(exact), nextafter(1.0, 0.0))
