"""Two texts side by side: what both have, what only one has, and long equal stretches left out."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from rapidfuzz.distance import LCSseq

from neardup.tables import Bools, Int64s
from neardup.text.forms import UNSPACED_BLOCKS

# Passages that stand in another order in the other text: those beside the main line.


def find_moved(a_starts: Int64s, a_stops: Int64s, b_starts: Int64s, b_stops: Int64s) -> Bools:
    """Return which passages of two texts have moved.

    The passages that have not are the heaviest that stand in one order in both texts: of all sets
    whose starts ascend in both, the one with the most characters, and of equal ones the one that
    is found first in the order of the places.

    Notes
    -----
    Time O(n log n) for n passages, but for chains that are overtaken, of which each goes once.
    """
    n = len(a_starts)
    weights = ((a_stops - a_starts) + (b_stops - b_starts)).tolist()
    order = np.lexsort((-b_starts, a_starts)).tolist()
    places = b_starts.tolist()
    before = [-1] * n
    # Ends of chains: starts in the second text ascend, and so do weights.
    ends: list[int] = []
    totals: list[int] = []
    chains: list[int] = []
    for row in order:
        place = places[row]
        # What starts at the same place does not follow it.
        k = bisect_right(ends, place - 1)
        total = weights[row] + (totals[k - 1] if k else 0)
        before[row] = chains[k - 1] if k else -1
        stop = k
        while stop < len(ends) and totals[stop] <= total:
            stop += 1
        if stop == k and k < len(ends) and ends[k] == place:
            # A heavier chain ends here already.
            continue
        ends[k:stop], totals[k:stop], chains[k:stop] = [place], [total], [row]
    moved: Bools = np.ones(n, np.bool_)
    row = chains[-1] if chains else -1
    while row >= 0:
        moved[row] = False
        row = before[row]
    return moved


# Words of texts, and which of two texts are the same in the same order.

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


def words_of(text: str) -> tuple[list[tuple[int, int]], list[str]]:
    """Return places of the words of a text, and the words without regard to case."""
    places = find_words(text)
    return places, [text[start:stop].casefold() for start, stop in places]


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


# The part of two long texts in which they differ, found by characters before any word is.

MOST_CHARACTERS = 400_000
"""Characters of either text whose words are looked for."""

# Equal characters that stay on either side, of which the words around a difference are shown.
_MARGIN = 16_000
# Characters that are compared at once, and looked through for the end of a word.
_LOOKED_AT_ONCE = 1 << 16
_LONGEST_WORD = 100


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
    n, step = 0, _LOOKED_AT_ONCE
    while step:
        while n + step <= most and are_equal(n, n + step):
            n += step
        step //= 2
    return n


def _word_end(text: str, place: int) -> int:
    """Return where the word at a place ends, or the place if the word is too long to be one."""
    for end in range(place, min(place + _LONGEST_WORD, len(text))):
        if not text[end].isalnum():
            return end
    return place


MOST_WORDS = 20_000
"""Words of either text that are looked at, from where the two begin to differ."""

# Equal words that are shown on either side of a difference, and words of a difference itself.
CONTEXT = 12
_MOST_CHANGED = 80
# Words of either text that are shown in all.
_MOST_SHOWN = 800
# As many equal words as a note about them would take are shown instead.
_WORTH_IT = 6
# More between two words is not shown.
_LONG_GAP = 200

Kind = Literal["same", "changed", "omitted"]


@dataclass(frozen=True)
class Run:
    """A stretch of one text: in both, in this one only, or left out.

    ``text`` of one that is left out is empty; ``n_words`` says how many words it has.
    """

    kind: Kind
    text: str
    n_words: int


@dataclass(frozen=True)
class SideBySide:
    """The runs of two texts, in order; the equal ones are the same in both, in the same order.

    ``n_common`` words are in both, ``n_only`` in the first and in the second only. Unless it
    ``is_whole``, both texts go on beyond ``MOST_WORDS``, and nothing is said of the rest.
    """

    a: Sequence[Run]
    b: Sequence[Run]
    n_common: int
    n_only: tuple[int, int]
    is_whole: bool


def side_by_side(text_a: str, text_b: str, *, context: int | None = CONTEXT) -> SideBySide:
    """Compare two texts word by word, without regard to case and to what stands between words.

    Parameters
    ----------
    text_a, text_b
        The texts. In scripts without spaces, and in words of more than 40 characters, each
        character is a word.
    context
        Equal words that are shown before and after a difference; None shows all words.

    Returns
    -------
    The runs of both. With a context, of a difference of more than 80 words the beginning and the
    end are shown, of texts without a difference the beginning, and 800 words of either text or a
    few more in all.

    Notes
    -----
    By a longest common subsequence of the words between the first and the last difference, in time
    n m / 64 and n m bits for texts of n and m words, each at most ``MOST_WORDS``. With a context,
    words are looked for in ``MOST_CHARACTERS`` of either text at most, from where the two begin to
    differ in any character; how both begin and end alike is only counted.
    """
    if context is None or max(len(text_a), len(text_b)) <= MOST_CHARACTERS:
        return _compare(text_a, text_b, context)
    part = find_part(text_a, text_b)
    found = _compare(text_a[part.start : part.end_a], text_b[part.start : part.end_b], context)
    n_before = count_words(text_a, 0, part.start)
    n_after_a = count_words(text_a, part.end_a, len(text_a))
    n_after_b = n_after_a if part.is_whole else count_words(text_b, part.end_b, len(text_b))
    is_whole = part.is_whole and found.is_whole
    return SideBySide(
        _with_omitted(n_before, found.a, n_after_a),
        _with_omitted(n_before, found.b, n_after_b),
        found.n_common + n_before + (n_after_a if is_whole else 0),
        found.n_only,
        is_whole,
    )


def _with_omitted(n_before: int, runs: Sequence[Run], n_after: int) -> list[Run]:
    """Put words that are left out on either side of some runs."""
    every = [Run("omitted", "", n_before), *runs, Run("omitted", "", n_after)]
    joined: list[Run] = []
    for run in every:
        if joined and joined[-1].kind == run.kind == "omitted":
            joined[-1] = Run("omitted", "", joined[-1].n_words + run.n_words)
        else:
            joined.append(run)
    return [run for run in joined if run.kind != "omitted" or run.n_words]


def _compare(text_a: str, text_b: str, context: int | None) -> SideBySide:
    places_a, keys_a = words_of(text_a)
    places_b, keys_b = words_of(text_b)
    blocks, ends = _equal_blocks(keys_a, keys_b)
    n_common = sum(block.n for block in blocks)
    runs_a, runs_b = (
        list(_runs(text, places, _within(_stretches(blocks, ends, side, context), context)))
        for side, (text, places) in enumerate(((text_a, places_a), (text_b, places_b)))
    )
    # What has no words is shown as it is.
    kind: Kind = "same" if text_a == text_b else "changed"
    if text_a and not places_a:
        runs_a = [Run(kind, _clipped(text_a), 0)]
    if text_b and not places_b:
        runs_b = [Run(kind, _clipped(text_b), 0)]
    is_whole = ends == (len(keys_a), len(keys_b))
    return SideBySide(runs_a, runs_b, n_common, (ends[0] - n_common, ends[1] - n_common), is_whole)


def _equal_blocks(
    keys_a: Sequence[str], keys_b: Sequence[str]
) -> tuple[list[EqualWords], tuple[int, int]]:
    """Find equal words in order, and up to which word of either was looked."""
    shorter = min(len(keys_a), len(keys_b))
    first = next((i for i in range(shorter) if keys_a[i] != keys_b[i]), shorter)
    most = shorter - first
    last = next((i for i in range(most) if keys_a[-1 - i] != keys_b[-1 - i]), most)
    stop_a, stop_b = len(keys_a) - last, len(keys_b) - last
    ends = len(keys_a), len(keys_b)
    if max(stop_a, stop_b) - first > MOST_WORDS:
        stop_a, stop_b = min(stop_a, first + MOST_WORDS), min(stop_b, first + MOST_WORDS)
        ends = stop_a, stop_b
    return equal_words(keys_a[: ends[0]], keys_b[: ends[1]]), ends


def _stretches(
    blocks: Sequence[EqualWords], ends: tuple[int, int], side: int, context: int | None
) -> Iterator[tuple[Kind, int, int]]:
    """Cut the words of one side into runs: kind, first word, and the one after the last."""
    place = 0
    for block in blocks:
        start, stop = block[side], block[side] + block.n
        yield from _changed(place, start, context)
        is_first = block.a == block.b == 0
        is_last = block.end == ends
        yield from _same(start, stop, is_first, is_last, context)
        place = stop
    yield from _changed(place, ends[side], context)


def _changed(start: int, stop: int, context: int | None) -> Iterator[tuple[Kind, int, int]]:
    half = _MOST_CHANGED // 2
    if context is None or stop - start <= _MOST_CHANGED + _WORTH_IT:
        if stop > start:
            yield "changed", start, stop
        return
    yield "changed", start, start + half
    yield "omitted", start + half, stop - half
    yield "changed", stop - half, stop


def _same(
    start: int, stop: int, is_first: bool, is_last: bool, context: int | None
) -> Iterator[tuple[Kind, int, int]]:
    if context is None:
        yield "same", start, stop
        return
    before = 0 if is_first else context
    after = 0 if is_last else context
    if is_first and is_last:
        before = _MOST_CHANGED
    if stop - start <= before + after + _WORTH_IT:
        yield "same", start, stop
        return
    if before:
        yield "same", start, start + before
    yield "omitted", start + before, stop - after
    if after:
        yield "same", stop - after, stop


def _within(
    stretches: Iterator[tuple[Kind, int, int]], context: int | None
) -> Iterator[tuple[Kind, int, int]]:
    """Stop where as much of a text as is to be shown has been."""
    left = _MOST_SHOWN
    for kind, first, stop in stretches:
        if context is not None and kind != "omitted":
            if left <= 0:
                return
            left -= stop - first
        yield kind, first, stop


def _runs(
    text: str, places: Sequence[tuple[int, int]], stretches: Iterator[tuple[Kind, int, int]]
) -> Iterator[Run]:
    """Write the runs of a text out; what follows a word goes with it."""
    end = 0
    for kind, first, stop in stretches:
        end = stop
        if kind == "omitted":
            yield Run(kind, "", stop - first)
            continue
        start = places[first][0] if first else 0
        last = places[stop][0] if stop < len(places) else len(text)
        yield Run(kind, _clipped(text[start:last]), stop - first)
    if end < len(places):
        yield Run("omitted", "", len(places) - end)


_LONG_GAPS = re.compile(rf"\W{{{_LONG_GAP + 1},}}")


def _clipped(text: str) -> str:
    """Leave out most of what stands between two words where it is long."""
    return _LONG_GAPS.sub(lambda gap: f"{gap[0][: _LONG_GAP // 2]}…", text)


def around(text: str | None, start: int, stop: int, most: int) -> tuple[str, str]:
    """Return what stands before a part of a text and behind it, as far as the text is known."""
    text = text or ""
    before = f"{'…' if start > most else ''}{text[max(start - most, 0) : start]}"
    return before, f"{text[stop : stop + most]}{'…' if stop + most < len(text) else ''}"


# An example: two texts side by side, as all pages show them.


@dataclass(frozen=True)
class Example:
    """Two texts beside each other; ``side_by_side`` of ``parts.html`` shows them.

    ``place_a`` and ``place_b`` say where they stand, and may be empty. With ``both_stay`` neither
    went for the other, and differences are marked alike on both sides.
    """

    title: str
    note: str
    name_a: str
    name_b: str
    place_a: str
    place_b: str
    differences: SideBySide
    both_stay: bool = False
