"""Conditions on passages, and the recall of min-hashes and windows.

A passage of n tokens that shares K tokens with a similar one is found by a window of L tokens,
which has more or fewer of the K: a hypergeometric number if words were changed independently. The
other text has about L tokens in the window's position, so with X common tokens, the similarity is
X / (2 L - X), and the contained share of the window X / L. At the passage's own threshold, a window
misses half of the passages at it, and short ones have few windows. A lower one finds almost all.

The probability is a mean over all offsets between windows and a passage in unrelated surroundings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, nextafter

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.options.passage_options import DEFAULT_RECALL
from neardup.passages.windows import PassageScheme
from neardup.tables import Floats, Int64s


@dataclass(frozen=True)
class SearchPlan:
    """Conditions on a passage.

    ``threshold`` is the least similarity. Passages with ``hits`` common min-hashes, or all with 0,
    are compared exactly. With ``times``, the similarity is the share of the query in a passage of
    at most ``times`` its weight, of any length; min-hashes are not used then.
    """

    threshold: Fraction
    hits: int
    min_tokens: int
    times: int = 0


def make_search_plan(
    scheme: PassageScheme, threshold: Fraction, recall: Fraction | None, times: int = 0
) -> SearchPlan:
    """Choose the required number of common min-hashes.

    It is 0 if nothing may be missed, or without min-hashes.
    """
    num_perm = scheme.num_perm
    recall = Fraction(1) if times else DEFAULT_RECALL if recall is None else recall
    hits = least_hits(num_perm, threshold, recall) if num_perm and recall < 1 else 0
    return SearchPlan(threshold, hits, scheme.least_shingles, times)


@lru_cache(maxsize=64)
def least_hits(num_perm: int, threshold: Fraction, recall: Fraction) -> int:
    """Return the most min-hashes that keep the recall.

    Each of ``num_perm`` min-hashes agrees independently with probability ``threshold``; at least
    this many (1 or more) agree with probability ``recall`` or more.
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
    """Return the probability that a passage has ``hits`` common min-hashes.

    It is 1 only if nothing can be missed, not by rounding.
    """
    exact = sum(
        comb(num_perm, k) * similarity**k * (1 - similarity) ** (num_perm - k)
        for k in range(hits, num_perm + 1)
    )
    return float(exact) if exact == 1 else min(float(exact), nextafter(1.0, 0.0))


def passage_recall(
    n_tokens: int, similarity: Fraction, length: int, step: int, seed_threshold: Fraction
) -> float:
    """Return the probability that a window finds a passage.

    The passage has ``n_tokens`` different tokens. Windows of ``length`` tokens begin every
    ``step``, at most ``length``; one must be similar by ``seed_threshold`` to the text in its
    position. One of overlapping windows is counted, so the true probability is at least this if
    words were changed independently.
    """
    kept, least = _common(n_tokens, similarity), _common(length, seed_threshold)
    logs = np.log(np.arange(1, n_tokens + 1))
    log_factorials = np.concatenate([[0.0], np.cumsum(logs)])

    def log_choose(n: int, k: Int64s) -> Floats:
        ways: Floats = log_factorials[n] - log_factorials[k] - log_factorials[n - k]
        return ways

    found = 0.0
    for (size, n_apart), count in Counter(_windows_of(n_tokens, length, step)).items():
        mean = size * kept / n_tokens
        # At least 9 standard deviations, beyond the precision of a float.
        margin = ceil(4.5 * size**0.5)
        low = max(int(mean) - margin, kept - n_tokens + size, least)
        common = np.arange(low, min(ceil(mean) + margin, size, kept) + 1)
        ways = log_choose(size, common) + log_choose(n_tokens - size, kept - common)
        probabilities = np.exp(ways - log_choose(n_tokens, np.array(kept)))
        found += count * (1 - (1 - float(probabilities.sum())) ** n_apart)
    return found / step


def _windows_of(n_tokens: int, length: int, step: int) -> Iterator[tuple[int, int]]:
    """Yield each offset's tokens of a window and number of disjoint windows."""
    for phase in range(step):
        # The first window that begins in the passage, and the one before it.
        n_whole = max((n_tokens - length - phase) // step + 1, 0)
        size = min(phase + length, n_tokens) - phase
        if not n_whole:
            size = max(size, min(phase - step + length, n_tokens))
        yield size, (max(n_whole, 1) - 1) // ceil(length / step) + 1


def choose_seed_threshold(
    n_tokens: int, similarity: Fraction, length: int, step: int, recall: Fraction
) -> Fraction:
    """Return the greatest seed threshold with at least this ``passage_recall``.

    It is at most ``similarity``. With a recall of 1, it covers any choice of changed words.
    InvalidParameterError if no threshold suffices, as windows may share nothing with a passage.
    """
    low, high = 0, _common(length, similarity)
    # Binary search: this many common tokens reach the recall; one more than high do not.
    while low < high:
        middle = (low + high + 1) // 2
        chance = passage_recall(n_tokens, similarity, length, step, _jaccard(middle, length))
        if chance >= recall - _ROUNDING:
            low = middle
        else:
            high = middle - 1
    if not low:
        message = (
            f"recall {float(recall):g} is out of reach for passages of {n_tokens} tokens, which "
            f"windows of {length} may miss; ask for less, or for a smaller min_tokens"
        )
        raise InvalidParameterError(message, "recall", "min_tokens")
    return min(_jaccard(low, length), similarity)


def jaccard_of_share(share: Fraction) -> Fraction:
    """Return the Jaccard similarity for equally long passages' common share."""
    return share / (2 - share)


def share_of_jaccard(similarity: Fraction) -> Fraction:
    """Return the common share for equally long passages' Jaccard similarity."""
    return 2 * similarity / (1 + similarity)


# Rounding error of a sum of probabilities.
_ROUNDING = 1e-9


def _common(n: int, similarity: Fraction) -> int:
    return ceil(2 * n * similarity / (1 + similarity))


def _jaccard(common: int, n: int) -> Fraction:
    return Fraction(common, 2 * n - common)
