"""Windows that find a passage, by every way in which its words may have been changed."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import combinations, permutations, product


def least_common(n: int, similarity: Fraction) -> int:
    """Give how many common tokens two sets of n have at least that are so similar."""
    return next(k for k in range(n + 1) if Fraction(k, 2 * n - k) >= similarity)


def is_found(
    n_tokens: int, kept: Collection[int], phase: int, length: int, step: int, least: Fraction
) -> bool:
    """Tell whether a window has enough of the kept tokens; one begins at ``phase``."""
    starts = range(phase - (length // step + 1) * step, n_tokens, step)
    common = (len(set(kept) & set(range(start, start + length))) for start in starts)
    return any(Fraction(x, 2 * length - x) >= least for x in common)


def recall(
    n_tokens: int, similarity: Fraction, length: int, step: int, least: Fraction
) -> Fraction:
    """Give in how many of all cases a passage is found."""
    kept = list(combinations(range(n_tokens), least_common(n_tokens, similarity)))
    found = sum(
        is_found(n_tokens, each, phase, length, step, least)
        for each in kept
        for phase in range(step)
    )
    return Fraction(found, step * len(kept))


def moved_recall(
    n_tokens: int, similarity: Fraction, length: int, step: int, least: Fraction, sentence: int
) -> Fraction:
    """Give in how many of all cases one is found whose words were moved in their sentences, too."""
    sentences = [
        range(n_tokens)[first : first + sentence] for first in range(0, n_tokens, sentence)
    ]
    orders = [sum(order, ()) for order in product(*map(permutations, sentences))]
    kept = list(combinations(range(n_tokens), least_common(n_tokens, similarity)))
    found = sum(
        is_found_moved(n_tokens, each, order, phase, length, step, least)
        for each in kept
        for order in orders
        for phase in range(step)
    )
    return Fraction(found, step * len(kept) * len(orders))


def is_found_moved(
    n_tokens: int,
    kept: Collection[int],
    order: tuple[int, ...],
    phase: int,
    length: int,
    step: int,
    least: Fraction,
) -> bool:
    """Tell whether a window is like any part of the other side, which has its words in an order."""
    starts = range(phase - (length // step + 1) * step, n_tokens, step)
    for start, first in product(starts, range(n_tokens)):
        for last in range(first + 1, n_tokens + 1):
            common = len(set(kept) & set(range(start, start + length)) & set(order[first:last]))
            size = max(last - first, length)
            if Fraction(common, length + size - common) >= least:
                return True
    return False


def whole_sentence_recall(
    n_tokens: int, similarity: Fraction, length: int, step: int, least: Fraction, sentence: int
) -> Fraction:
    """Give in how many cases one window finds it, with sentences that it has in part or without.

    It is the first of those that have most of the passage, for passages shorter than two windows.
    """
    kept = list(combinations(range(n_tokens), least_common(n_tokens, similarity)))
    sentences = [set(range(n_tokens)[i : i + sentence]) for i in range(0, n_tokens, sentence)]
    found = 0
    for phase in range(step):
        starts = (phase, phase - step) if phase + length > n_tokens else (phase,)
        windows = [set(range(n_tokens)) & set(range(start, start + length)) for start in starts]
        window = max(windows, key=len)
        whole = set().union(*(each for each in sentences if each <= window))
        parts = [each for each in sentences if each & window and not each <= window]
        some = [
            whole.union(*chosen)
            for size in range(len(parts) + 1)
            for chosen in combinations(parts, size)
        ]
        for each in kept:
            shared = window & set(each)
            found += any(
                Fraction(len(shared & part), length + max(len(part), length) - len(shared & part))
                >= least
                for part in some
            )
    return Fraction(found, step * len(kept))
