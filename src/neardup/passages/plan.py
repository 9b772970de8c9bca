"""Conditions on passages, and the recall of min-hashes and windows.

A passage of n tokens that shares K tokens with a similar one is found by a window of L tokens,
which has more or fewer of the K: a hypergeometric number if words were changed independently. The
other text has about L tokens in the window's position, so with X common tokens, the similarity is
X / (2 L - X), and the contained share of the window X / L. At the passage's own threshold, a window
misses half of the passages just at it, and a short passage has few windows; a lower threshold finds
nearly all.

Moved words are also lost if they left the window's position. If they stay in their sentences, that
happens only at the window's ends: a sentence partly in the window has its words anywhere in the
other text. It is counted completely or not at all, whichever is more similar, so that the number of
tokens on the other side varies.

The probability is a mean over all offsets between windows and the passage, whose surroundings share
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, comb, nextafter

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.options.passages import DEFAULT_RECALL
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
    scheme: PassageScheme,
    threshold: Fraction,
    recall: Fraction | None,
    hits: int | None = None,
    times: int = 0,
) -> SearchPlan:
    """Choose the required number of common min-hashes.

    It is ``hits`` or follows from ``recall``; 0 if nothing may be missed, or without min-hashes.
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


# Tokens of a sentence with possibly moved words; few sentences are shorter.
SENTENCE = 12


def passage_recall(
    n_tokens: int,
    similarity: Fraction,
    length: int,
    step: int,
    seed_threshold: Fraction,
    sentence: int = 1,
) -> float:
    """Return the probability that a window finds a passage.

    The passage has ``n_tokens`` different tokens. Windows of ``length`` tokens begin every
    ``step``, at most ``length``; one must be similar by ``seed_threshold`` to the text in its
    position. Words are shuffled within sentences of ``sentence`` tokens, which make up the passage;
    1: not at all.

    One of overlapping windows is counted, so the true probability is at least this if words were
    changed independently and moved at random. Cost O(step + sentence^3 n^(1/2)) after a table of n
    logarithms: 1 ms for 100 tokens or, with sentences, 3, for 10,000 tokens 20 or 200.
    """
    return _Chances(n_tokens, similarity, length, step, sentence).recall(seed_threshold)


def choose_seed_threshold(
    n_tokens: int, similarity: Fraction, length: int, step: int, recall: Fraction
) -> Fraction:
    """Return the greatest seed threshold with at least this ``passage_recall``.

    It is at most ``similarity``. With a recall of 1, it covers any choice of changed words.
    InvalidParameterError if no threshold suffices, as windows may share nothing with a passage.
    """
    chances = _Chances(n_tokens, similarity, length, step, 1)
    low, high = 0, _common(length, similarity)
    # Binary search: this many common tokens reach the recall; one more than high do not.
    while low < high:
        middle = (low + high + 1) // 2
        if chances.recall(_jaccard(middle, length)) >= recall - _ROUNDING:
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
    return _common_of(n, n, similarity)


def _common_of(m: int, n: int, similarity: Fraction) -> int:
    return ceil((m + n) * similarity / (1 + similarity))


def _jaccard(common: int, n: int) -> Fraction:
    return Fraction(common, 2 * n - common)


class _Chances:
    """Probabilities of common token counts over all window offsets."""

    def __init__(
        self, n_tokens: int, similarity: Fraction, length: int, step: int, sentence: int
    ) -> None:
        self._n_tokens, self._kept = n_tokens, _common(n_tokens, similarity)
        self._length, self._step, self._sentence = length, step, sentence
        logs = np.log(np.arange(1, n_tokens + 1))
        self._log_factorials: Floats = np.concatenate([[0.0], np.cumsum(logs)])
        self._ways = Counter(self._places())
        self._spreads = {
            parts: self._spread(tuple(inside for inside, _ in parts)) for parts, _ in self._ways
        }

    def recall(self, seed_threshold: Fraction) -> float:
        found = 0.0
        tails = {parts: self._tail(parts, seed_threshold) for parts in self._spreads}
        for (parts, n_apart), count in self._ways.items():
            found += count * (1 - (1 - tails[parts]) ** n_apart)
        return found / self._step

    def _places(self) -> Iterator[tuple[_Parts, int]]:
        """Yield each offset's window parts and number of disjoint windows."""
        n, length, step = self._n_tokens, self._length, self._step
        for phase in range(step):
            # The first window that begins in the passage, and the one before it.
            n_whole = max((n - length - phase) // step + 1, 0)
            places = [(phase, min(phase + length, n))]
            if not n_whole:
                places.append((0, min(phase - step + length, n)))
            start, stop = max(places, key=lambda place: place[1] - place[0])
            n_apart = (max(n_whole, 1) - 1) // ceil(length / step) + 1
            yield self._parts(start, stop), n_apart

    def _parts(self, start: int, stop: int) -> _Parts:
        """Return tokens of whole sentences, then inside/total of partial sentences."""
        n, sentence = self._n_tokens, self._sentence
        first = -(-start // sentence) * sentence
        last = n if stop == n else stop // sentence * sentence
        if first > last:
            begin = first - sentence
            return (0, 0), (stop - start, min(first, n) - begin)
        ends = (first - start, sentence), (stop - last, min(sentence, n - last))
        return (last - first, last - first), *(end for end in ends if end[0])

    def _spread(self, insides: tuple[int, ...]) -> tuple[list[Int64s], Floats]:
        """Return common token counts of each part with their probabilities."""
        size, kept, n = sum(insides), self._kept, self._n_tokens
        # At least 9 standard deviations, beyond the precision of a float.
        margin = ceil(4.5 * insides[0] ** 0.5)
        mean = insides[0] * kept / n
        low, high = max(int(mean) - margin, 0), min(ceil(mean) + margin, insides[0])
        ranges = [np.arange(low, high + 1), *(np.arange(part + 1) for part in insides[1:])]
        common = [np.ravel(each) for each in np.meshgrid(*ranges, indexing="ij")]
        shared = np.sum(common, axis=0)
        possible = (shared <= kept) & (kept - shared <= n - size)
        common, shared = [each[possible] for each in common], shared[possible]
        logs = self._log_choose(n - size, kept - shared) - self._log_choose(n, np.array(kept))
        for part, each in zip(insides, common, strict=True):
            logs += self._log_choose(part, each)
        return common, np.exp(logs)

    def _tail(self, parts: _Parts, seed_threshold: Fraction) -> float:
        """Return the probability that one window is similar enough."""
        common, probabilities = self._spreads[parts]
        is_found = np.zeros(len(probabilities), bool)
        for chosen in product((False, True), repeat=len(parts) - 1):
            taken = [0, *(i for i, is_taken in enumerate(chosen, 1) if is_taken)]
            size = max(sum(parts[i][1] for i in taken), self._length)
            shared = np.sum([common[i] for i in taken], axis=0)
            is_found |= shared >= _common_of(self._length, size, seed_threshold)
        return float(probabilities[is_found].sum())

    def _log_choose(self, n: int, k: Int64s) -> Floats:
        logs = self._log_factorials
        ways: Floats = logs[n] - logs[k] - logs[n - k]
        return ways


# Tokens of a window inside a part of a passage, and tokens of the part; whole sentences first.
_Parts = tuple[tuple[int, int], ...]
