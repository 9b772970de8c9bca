"""Words of texts, and which of two texts are the same in the same order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import LCSseq

from neardup.reports.order import find_moved
from neardup.tables import Int64s
from neardup.text.characters import UNSPACED_BLOCKS

# A longer word is one of characters.
_LONG_WORD = 40
# Products of numbers of words up to which two stretches are compared at once, and at all.
_AT_ONCE, _MOST = 1 << 24, 1 << 30
# Words in a row that two texts have once each, by which long texts are cut.
_ANCHOR = 4
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class EqualWords(NamedTuple):
    """Words that are the same: ``n`` from ``a`` of the one text and from ``b`` of the other."""

    a: int
    b: int
    n: int

    @property
    def end(self) -> tuple[int, int]:
        """The words after the last ones."""
        return self.a + self.n, self.b + self.n


def find_words(text: str) -> list[tuple[int, int]]:
    """Find where the words of a text begin and end.

    In scripts without spaces, and in words of more than 40 characters, each character is one.
    """
    return [found.span() for found in _word_pattern().finditer(text)]


def count_words(text: str, start: int, stop: int) -> int:
    """Count the words of a part of a text."""
    return sum(1 for _ in _word_pattern().finditer(text, start, stop))


@cache
def _word_pattern() -> re.Pattern[str]:
    unspaced = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED_BLOCKS)
    # A letter of a script without spaces; one of a word that is too long to be one; a word.
    letter = f"[^\\W{unspaced}]"
    return re.compile(f"[{unspaced}]|{letter}(?={letter}{{{_LONG_WORD}}})|{letter}+")


def equal_words(a: Sequence[str], b: Sequence[str]) -> list[EqualWords]:
    """Find words that are the same in both, in one order; stretches that adjoin are one.

    Notes
    -----
    A longest common subsequence, in time n m / 64 and n m bits for n and m words. Longer texts are
    cut where runs of four words are the same that each has once; what is in between of one text and
    another is compared alike, and left out where it is still too long.
    """
    numbers: dict[str, int] = {}
    left, right = (
        np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)
        for words in (a, b)
    )
    joined: list[EqualWords] = []
    for block in _ascending(left, right):
        if joined and joined[-1].end == (block.a, block.b):
            joined[-1] = joined[-1]._replace(n=joined[-1].n + block.n)
        else:
            joined.append(block)
    return joined


def _ascending(a: Int64s, b: Int64s) -> Iterator[EqualWords]:
    """Yield the same words in order, of stretches that may adjoin."""
    most = min(len(a), len(b))
    differing = np.flatnonzero(a[:most] != b[:most])
    first = int(differing[0]) if len(differing) else most
    if first:
        yield EqualWords(0, 0, first)
    most -= first
    differing = np.flatnonzero(a[::-1][:most] != b[::-1][:most])
    last = int(differing[0]) if len(differing) else most
    middle = a[first : len(a) - last], b[first : len(b) - last]
    for block in _between(*middle):
        yield EqualWords(first + block.a, first + block.b, block.n)
    if last:
        yield EqualWords(len(a) - last, len(b) - last, last)


def _between(a: Int64s, b: Int64s) -> Iterator[EqualWords]:
    if len(a) * len(b) <= _AT_ONCE:
        yield from _compared(a, b)
        return
    ends = [*_anchors(a, b), EqualWords(len(a), len(b), 0)]
    place = EqualWords(0, 0, 0)
    for anchor in ends:
        start_a, start_b = place.end
        parts = a[start_a : anchor.a], b[start_b : anchor.b]
        if len(parts[0]) * len(parts[1]) <= _MOST:
            for block in _compared(*parts):
                yield EqualWords(start_a + block.a, start_b + block.b, block.n)
        if anchor.n:
            yield anchor
        place = anchor


def _compared(a: Int64s, b: Int64s) -> Iterator[EqualWords]:
    if not (len(a) and len(b)):
        return
    for block in LCSseq.opcodes(a.tolist(), b.tolist()).as_matching_blocks():
        if block.size:
            yield EqualWords(block.a, block.b, block.size)


def _anchors(a: Int64s, b: Int64s) -> list[EqualWords]:
    """Find runs of words that each text has once, in one order."""
    if min(len(a), len(b)) < _ANCHOR:
        return []
    runs_a, places_a = _once(a)
    runs_b, places_b = _once(b)
    _, in_a, in_b = np.intersect1d(runs_a, runs_b, assume_unique=True, return_indices=True)
    x, y = places_a[in_a], places_b[in_b]
    # Hashes of different words may be equal.
    is_same = a[x] == b[y]
    order = np.argsort(x[is_same])
    x, y = x[is_same][order], y[is_same][order]
    stays = ~find_moved(x, x + 1, y, y + 1)
    x, y = x[stays], y[stays]
    # Of each run only the first word is taken, so that runs do not overlap.
    heads = np.flatnonzero(np.append(True, (np.diff(x) > 1) | (np.diff(y) > 1))[: len(x)])
    stops = np.append(heads, len(x))[1:]
    return [
        EqualWords(int(x[head]), int(y[head]), int(stop - head))
        for head, stop in zip(heads, stops, strict=True)
    ]


def _once(words: Int64s) -> tuple[Int64s, Int64s]:
    """Return hashes of the runs of words that a text has once, and where these begin."""
    n = len(words) - _ANCHOR + 1
    hashes = np.zeros(n, np.uint64)
    for k in range(_ANCHOR):
        hashes = (hashes ^ words[k : k + n].astype(np.uint64)) * _FACTOR
        hashes ^= hashes >> np.uint64(29)
    _, places, counts = np.unique(hashes, return_index=True, return_counts=True)
    chosen = places[counts == 1]
    return hashes[chosen].view(np.int64), chosen
