"""The part of two long texts in which they differ, found by characters before any word is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MOST_CHARACTERS = 400_000
"""Characters of either text whose words are looked for."""

# Equal characters that stay on either side, of which the words around a difference are shown.
_MARGIN = 16_000
# Characters that are compared at once, and looked through for the end of a word.
_AT_ONCE = 1 << 16
_LONG_WORD = 100


@dataclass(frozen=True)
class Part:
    """From the same ``start`` in both texts to an end in each.

    What comes before is equal, and so is what comes after if the part ``is_whole``.
    """

    start: int
    end_a: int
    end_b: int
    is_whole: bool


def find_part(a: str, b: str) -> Part:
    """Leave out most of how two texts begin and end alike, and what is too much to be looked at.

    Notes
    -----
    Time linear in the texts, and next to no memory.
    """
    if a == b:
        end = _word_end(a, _MARGIN)
        return Part(0, end, end, is_whole=True)
    shorter = min(len(a), len(b))
    n_first = _count_equal(shorter, lambda i, j: a[i:j] == b[i:j])
    n_last = _count_equal(
        shorter - n_first,
        lambda i, j: a[len(a) - j : len(a) - i] == b[len(b) - j : len(b) - i],
    )
    start = _word_end(a, n_first - _MARGIN) if n_first > _MARGIN else 0
    n_after = 0
    if n_last > _MARGIN:
        n_after = len(a) - _word_end(a, len(a) - n_last + _MARGIN)
    end_a, end_b = len(a) - n_after, len(b) - n_after
    if max(end_a, end_b) - start <= MOST_CHARACTERS:
        return Part(start, end_a, end_b, is_whole=True)
    most = start + MOST_CHARACTERS
    return Part(start, _word_end(a, min(most, len(a))), _word_end(b, min(most, len(b))), False)


def _count_equal(most: int, are_equal: Callable[[int, int], bool]) -> int:
    """Count equal characters from one end on, by comparing stretches."""
    n, step = 0, _AT_ONCE
    while step:
        while n + step <= most and are_equal(n, n + step):
            n += step
        step //= 2
    return n


def _word_end(text: str, place: int) -> int:
    """Return where the word at a place ends, or the place if the word is too long to be one."""
    for end in range(place, min(place + _LONG_WORD, len(text))):
        if not text[end].isalnum():
            return end
    return place
