"""Word differences of two texts, without long equal stretches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from rapidfuzz.distance import LCSseq

from neardup.text.forms import UNSPACED_BLOCKS

MOST_CHARACTERS, MOST_WORDS = 400_000, 20_000
"""Parts of either text that are compared, from the first difference on."""

CONTEXT = 12
"""Equal words that are shown on either side of a difference."""

# A longer word is split into its characters.
_LONG_WORD = 40
# Equal characters that are kept before the first difference; the step of their comparison.
_MARGIN, _STEP = 4_000, 1 << 16
# Words that are shown of one difference, and of either text in all.
_MOST_CHANGED, _MOST_SHOWN = 80, 800
# Equal words are left out only if a note about them is shorter.
_WORTH_IT = 6
# Characters between two words of which the middle is left out.
_LONG_GAP = 200

Kind = Literal["same", "changed", "omitted", "around"]


@dataclass(frozen=True)
class Run:
    """A stretch of one text.

    ``kind`` is ``same`` in both texts, ``changed`` in this one only, ``omitted`` from the page, or
    text ``around`` the compared part. ``text`` is empty if omitted. ``line`` is the number of its
    first line, from 1, or 0 if lines are not numbered.
    """

    kind: Kind
    text: str
    n_words: int
    line: int = 0


@dataclass(frozen=True)
class SideBySide:
    """The runs of two texts, and counts of shared words.

    Equal runs come in the same order in ``a`` and ``b``. ``n_common`` words are in both texts,
    ``n_only`` in the first or second only. ``is_whole``: both were compared to their ends.
    """

    a: Sequence[Run]
    b: Sequence[Run]
    n_common: int
    n_only: tuple[int, int]
    is_whole: bool


def find_words(text: str) -> list[tuple[int, int]]:
    """Find the places of the words of a text.

    In scripts without spaces, and in words of more than 40 characters, each character is a word.
    """
    return [match.span() for match in _word_pattern().finditer(text)]


@cache
def _word_pattern() -> re.Pattern[str]:
    unspaced = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED_BLOCKS)
    letter = f"[^\\W{unspaced}]"
    return re.compile(f"[{unspaced}]|{letter}(?={letter}{{{_LONG_WORD}}})|{letter}+")


def equal_words(a: Sequence[str | int], b: Sequence[str | int]) -> list[tuple[int, int, int]]:
    """Return a longest common subsequence as blocks.

    A block is its first word in ``a``, in ``b``, and its number of words. Time is n m / 64, memory
    n m bits, for n and m words between the first and the last difference.
    """
    numbers: dict[str | int, int] = {}
    left, right = ([numbers.setdefault(word, len(numbers)) for word in words] for words in (a, b))
    blocks = LCSseq.opcodes(left, right).as_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks if block.size]


def side_by_side(
    text_a: str, text_b: str, *, context: int | None = CONTEXT, has_lines: bool = False
) -> SideBySide:
    """Compare two texts word by word, ignoring case and punctuation.

    ``context`` equal words are shown before and after a difference, None shows all. With a context,
    a difference of more than 80 words is shown by its beginning and its end, equal texts by their
    beginning, and 800 words of either text or a few more in all. With ``has_lines``, as for source
    code, the runs' lines are numbered.
    """
    start = _first_difference(text_a, text_b) if context is not None else 0
    sides = [_Side(text, start, has_lines) for text in (text_a, text_b)]
    blocks = equal_words(sides[0].words, sides[1].words)
    n_common = sum(size for _, _, size in blocks)
    n_before = len(find_words(text_a[:start]))
    # Beginnings and ends are equal only if they are so in both.
    is_start = [block[0] == block[1] == 0 for block in blocks]
    ends = len(sides[0].words), len(sides[1].words)
    is_end = [(a + size, b + size) == ends for a, b, size in blocks]
    edges = list(zip(is_start, is_end, strict=True))
    runs = [side.runs(blocks, k, edges, context, n_before) for k, side in enumerate(sides)]
    for k, side in enumerate(sides):
        if side.text and not side.words and not n_before:
            runs[k] = [Run("same" if text_a == text_b else "changed", _clip(side.text), 0)]
    n_only = len(sides[0].words) - n_common, len(sides[1].words) - n_common
    is_whole = all(side.is_whole for side in sides)
    return SideBySide(runs[0], runs[1], n_common + n_before, n_only, is_whole)


def _first_difference(a: str, b: str) -> int:
    """Return a word's end before the first difference of texts."""
    most, n, step = min(len(a), len(b)), 0, _STEP
    while step:
        while n + step <= most and a[n : n + step] == b[n : n + step]:
            n += step
        step //= 2
    if a == b or n <= _MARGIN:
        return 0
    start = n - _MARGIN
    while start and a[start].isalnum():
        start -= 1
    return start


class _Side:
    """The compared part of one text as words."""

    def __init__(self, text: str, start: int, has_lines: bool) -> None:
        self.text = text[start : start + MOST_CHARACTERS]
        places = find_words(self.text)
        self.is_whole = len(text) - start <= MOST_CHARACTERS and len(places) <= MOST_WORDS
        self.places = places[:MOST_WORDS]
        if len(places) > MOST_WORDS:
            self.text = self.text[: places[MOST_WORDS][0]]
        self.words = [self.text[first:stop].casefold() for first, stop in self.places]
        self._first_line = text.count("\n", 0, start) + 1 if has_lines else 0

    def runs(
        self,
        blocks: Sequence[tuple[int, int, int]],
        side: int,
        edges: Sequence[tuple[bool, bool]],
        context: int | None,
        n_before: int,
    ) -> list[Run]:
        """Write the text's runs, with separators after their words."""
        found: list[Run] = [Run("omitted", "", n_before)] if n_before else []
        left, end = _MOST_SHOWN, 0
        for kind, first, stop in self._stretches(blocks, side, edges, context):
            if kind == "omitted":
                if found and found[-1].kind == "omitted":
                    found[-1] = Run("omitted", "", found[-1].n_words + stop - first)
                else:
                    found.append(Run("omitted", "", stop - first))
            elif context is not None and left <= 0:
                break
            else:
                found.append(self._run(kind, first, stop))
                left -= stop - first
            end = stop
        if end < len(self.places):
            found.append(Run("omitted", "", len(self.places) - end))
        return found

    def _run(self, kind: Kind, first: int, stop: int) -> Run:
        start = self.places[first][0] if first else 0
        last = self.places[stop][0] if stop < len(self.places) else len(self.text)
        text = self.text[start:last]
        if self._first_line:
            line = self._first_line + self.text.count("\n", 0, start)
            return Run(kind, text, stop - first, line)
        return Run(kind, _clip(text), stop - first)

    def _stretches(
        self,
        blocks: Sequence[tuple[int, int, int]],
        side: int,
        edges: Sequence[tuple[bool, bool]],
        context: int | None,
    ) -> Iterator[tuple[Kind, int, int]]:
        n, place = len(self.places), 0
        for block, is_edge in zip(blocks, edges, strict=True):
            start, stop = block[side], block[side] + block[2]
            yield from _changed(place, start, context)
            yield from _same(start, stop, is_edge, context)
            place = stop
        yield from _changed(place, n, context)


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
    start: int, stop: int, is_edge: tuple[bool, bool], context: int | None
) -> Iterator[tuple[Kind, int, int]]:
    """Yield equal words next to differences.

    ``is_edge`` is whether both texts begin with these words, and whether they end with them.
    """
    if context is None:
        yield "same", start, stop
        return
    before, after = (0 if each else context for each in is_edge)
    if all(is_edge):
        before = _MOST_CHANGED
    if stop - start <= before + after + _WORTH_IT:
        yield "same", start, stop
        return
    if before:
        yield "same", start, start + before
    yield "omitted", start + before, stop - after
    if after:
        yield "same", stop - after, stop


_LONG_GAPS = re.compile(rf"\W{{{_LONG_GAP + 1},}}")


def _clip(text: str) -> str:
    """Shorten long stretches without words."""
    return _LONG_GAPS.sub(lambda gap: f"{gap[0][: _LONG_GAP // 2]}…", text)
