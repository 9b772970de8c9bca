"""How low windows are looked up, so that a passage at the threshold is found.

A passage of n tokens that is similar to another one, K of its tokens being in both, is found by a
window of it. Which tokens were changed is chance: a window of L tokens has more or fewer of the K.
If words were changed independently, that number is hypergeometric, and the other text has L tokens,
or so, in the place of the window: with X common ones their similarity is X / (2 L - X), and the
share of the window that is contained X / L. A window that must be as similar as the whole passage
misses half of those that are just so, and with few windows in a short passage there is no second
chance; looked up lower, it finds nearly all.

Where windows begin has nothing to do with where passages do, so that the probability is a mean over
all ways in which a passage may lie among them. What lies around a passage shares nothing.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, lgamma

from neardup.errors import InvalidParameterError


def passage_recall(
    n_tokens: int, similarity: Fraction, length: int, step: int, seed_threshold: Fraction
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

    Notes
    -----
    Of windows that overlap one is counted, so that the true probability is not below, as far as
    words were changed independently. Cost O(length + step), 20 ms for 10,000 tokens.
    """
    kept = _common(n_tokens, similarity)
    wanted = _common(length, seed_threshold)
    found = 0.0
    tails: dict[int, float] = {}
    for phase in range(step):
        # The first window that begins in the passage, and the one before it.
        n_whole = max((n_tokens - length - phase) // step + 1, 0)
        size = length
        if not n_whole:
            size = max(min(n_tokens - phase, length), min(phase - step + length, n_tokens))
        if size not in tails:
            tails[size] = _upper_tail(n_tokens, kept, size, wanted)
        n_apart = (max(n_whole, 1) - 1) // ceil(length / step) + 1
        found += 1 - (1 - tails[size]) ** n_apart
    return found / step


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
    low, high = 0, _common(length, similarity)
    # So many common tokens are few enough; one more than high are too many.
    while low < high:
        middle = (low + high + 1) // 2
        reached = passage_recall(n_tokens, similarity, length, step, _jaccard(middle, length))
        if reached >= recall - _ROUNDING:
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
    return ceil(2 * n * similarity / (1 + similarity))


def _jaccard(common: int, n: int) -> Fraction:
    """Give the similarity of two sets of n with some common tokens."""
    return Fraction(common, 2 * n - common)


def _upper_tail(n: int, kept: int, size: int, wanted: int) -> float:
    """Give the probability that ``size`` of n tokens have ``wanted`` or more of those kept."""
    most = min(size, kept)
    least = max(wanted, size + kept - n)
    if wanted <= size + kept - n:
        return 1.0
    ways = _log_choose(n, size)
    return sum(
        exp(_log_choose(kept, k) + _log_choose(n - kept, size - k) - ways)
        for k in range(least, most + 1)
    )


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
