"""How low windows are looked up, so that a passage at the threshold is found.

A passage of n tokens that is similar to another one, K of its tokens being in both, is found by a
window of it. Which tokens were changed is chance: a window of L tokens has more or fewer of the K.
If words were changed independently, that number is hypergeometric, and the other text has L tokens,
or so, in the place of the window: with X common ones their similarity is X / (2 L - X), and the
share of the window that is contained X / L. A window that must be as similar as the whole passage
misses half of those that are just so, and with few windows in a short passage there is no second
chance; looked up lower, it finds nearly all.

Words that were moved, too, are lost to the window if they left its place. If they stay in their
sentences, that is so only at its two ends: of a sentence that lies partly in the window the other
text has the words anywhere. It is taken whole there or not at all, whichever is more similar, so
that the number of tokens on the other side varies.

Where windows begin has nothing to do with where passages do, so that the probability is a mean over
all ways in which a passage may lie among them. What lies around a passage shares nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.tables import Floats, Int64s

# Tokens of a sentence in which words may have been moved: those that sentences seldom are below.
SENTENCE = 12


def passage_recall(
    n_tokens: int,
    similarity: Fraction,
    length: int,
    step: int,
    seed_threshold: Fraction,
    sentence: int = 1,
) -> float:
    """Give the probability that a passage is found by a window.

    Parameters
    ----------
    n_tokens
        Tokens of the passage, all different, on either side.
    similarity
        Jaccard similarity of the two sides, in (0, 1].
    length, step
        Windows of ``length`` tokens begin every ``step`` of them, at most ``length``.
    seed_threshold
        How similar a window must be to what stands in its place.
    sentence
        Words are in any order within so many tokens, of which the passage consists; 1: they stand
        where they stood.

    Notes
    -----
    Of windows that overlap one is counted, so that the true probability is not below, as far as
    words were changed independently, and moved at random. Cost O(step + sentence^3 n^(1/2)) after a
    table of n logarithms: 1 ms for 100 tokens or, with sentences, 3, for 10,000 tokens 20 or 200.
    """
    return _Chances(n_tokens, similarity, length, step, sentence).recall(seed_threshold)


def choose_seed_threshold(
    n_tokens: int, similarity: Fraction, length: int, step: int, recall: Fraction
) -> Fraction:
    """Give the greatest seed threshold by which ``passage_recall`` is ``recall`` or more.

    At most ``similarity``. With a recall of 1 it is one that no choice of the changed words misses.

    Raises
    ------
    InvalidParameterError
        If windows may have nothing of a passage, so that no threshold does.
    """
    chances = _Chances(n_tokens, similarity, length, step, 1)
    low, high = 0, _common(length, similarity)
    # So many common tokens are few enough; one more than high are too many.
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
    """Give the Jaccard similarity of two passages as long that have so much in common."""
    return share / (2 - share)


def share_of_jaccard(similarity: Fraction) -> Fraction:
    """Give which share of either is in common of two passages as long that are so similar."""
    return 2 * similarity / (1 + similarity)


# What is left of a sum of probabilities that is 1.
_ROUNDING = 1e-9


def _common(n: int, similarity: Fraction) -> int:
    """Give the least number of common tokens by which two sets of n are so similar."""
    return _common_of(n, n, similarity)


def _common_of(m: int, n: int, similarity: Fraction) -> int:
    """Give the least number of common tokens by which sets of m and n are so similar."""
    return ceil((m + n) * similarity / (1 + similarity))


def _jaccard(common: int, n: int) -> Fraction:
    """Give the similarity of two sets of n with some common tokens."""
    return Fraction(common, 2 * n - common)


class _Chances:
    """How likely each number of common tokens is, in all ways in which windows lie in a passage."""

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
        """Give the probability that a window is so similar to what stands in its place."""
        found = 0.0
        tails = {parts: self._tail(parts, seed_threshold) for parts in self._spreads}
        for (parts, n_apart), count in self._ways.items():
            found += count * (1 - (1 - tails[parts]) ** n_apart)
        return found / self._step

    def _places(self) -> Iterator[tuple[_Parts, int]]:
        """Yield, for each place of the first window, what it has, and how many lie apart."""
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
        """Return the tokens in whole sentences, and of the others those inside, and in all."""
        n, sentence = self._n_tokens, self._sentence
        first = -(-start // sentence) * sentence
        last = n if stop == n else stop // sentence * sentence
        if first > last:
            begin = first - sentence
            return (0, 0), (stop - start, min(first, n) - begin)
        ends = (first - start, sentence), (stop - last, min(sentence, n - last))
        return (last - first, last - first), *(end for end in ends if end[0])

    def _spread(self, insides: tuple[int, ...]) -> tuple[list[Int64s], Floats]:
        """Return numbers of common tokens in each part, and the probability of each."""
        size, kept, n = sum(insides), self._kept, self._n_tokens
        # Nothing is lost that a float could hold: these are 9 standard deviations, or more.
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
        """Give the probability that, with some of the parts, a window is similar enough."""
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


# Tokens of a window inside a part of a passage, and of that part: first of whole sentences.
_Parts = tuple[tuple[int, int], ...]
