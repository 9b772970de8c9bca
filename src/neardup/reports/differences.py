"""Word differences of two texts, without long equal stretches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

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


def find_words(text: str, *, has_symbols: bool = False) -> list[tuple[int, int]]:
    """Find the places of the words of a text.

    In scripts without spaces, and in words of more than 40 characters, each character is a word.
    With ``has_symbols``, as for source code, each punctuation mark is one, too.
    """
    return [match.span() for match in _word_pattern(has_symbols).finditer(text)]


@cache
def _word_pattern(has_symbols: bool) -> re.Pattern[str]:
    unspaced = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED_BLOCKS)
    letter = f"[^\\W{unspaced}]"
    symbol = "|[^\\w\\s]" * has_symbols
    return re.compile(f"[{unspaced}]|{letter}(?={letter}{{{_LONG_WORD}}})|{letter}+{symbol}")


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
    code, the runs' lines are numbered, and symbols are words.
    """
    start = _first_difference(text_a, text_b) if context is not None else 0
    sides = [_Side.of(text, start, has_lines=has_lines) for text in (text_a, text_b)]
    ends = len(sides[0].words), len(sides[1].words)
    blocks = equal_words(sides[0].words, sides[1].words)
    n_common = sum(size for _, _, size in blocks)
    n_before = len(find_words(text_a[:start], has_symbols=has_lines))
    runs = []
    for k, side in enumerate(sides):
        stretches: list[Stretch] = [("omitted", 0, n_before)] if n_before else []
        place = 0
        for block in (*blocks, (*ends, 0)):
            first, stop = block[k], block[k] + block[2]
            most = first - place if context is None else _MOST_CHANGED // 2
            stretches += _shorten("changed", place, first, most, most)
            # Beginnings and ends are equal only if they are so in both.
            is_start = block[0] == block[1] == 0
            is_end = (block[0] + block[2], block[1] + block[2]) == ends
            before = after = block[2]
            if context is not None:
                before, after = (0 if is_start else context), (0 if is_end else context)
                if is_start and is_end:
                    before = _MOST_CHANGED
            stretches += _shorten("same", first, stop, before, after)
            place = stop
        most = len(side.words) + 1 if context is None else _MOST_SHOWN
        runs.append(side.runs(stretches, most, has_before=n_before > 0))
        if side.text and not side.words and not n_before:
            runs[k] = [Run("same" if text_a == text_b else "changed", _clip(side.text), 0)]
    n_only = ends[0] - n_common, ends[1] - n_common
    is_whole = all(side.is_whole for side in sides)
    return SideBySide(runs[0], runs[1], n_common + n_before, n_only, is_whole)


Stretch = tuple[Kind, int, int]
"""A kind, and the first and last word (exclusive)."""


def _shorten(kind: Kind, start: int, stop: int, before: int, after: int) -> Iterator[Stretch]:
    """Yield a stretch, with a long middle omitted."""
    if stop - start <= before + after + _WORTH_IT:
        parts: list[Stretch] = [(kind, start, stop)]
    else:
        parts = [
            (kind, start, start + before),
            ("omitted", start + before, stop - after),
            (kind, stop - after, stop),
        ]
    yield from (part for part in parts if part[1] < part[2])


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


class _Side(NamedTuple):
    """The compared part of a text; ``line`` is its first or 0."""

    text: str
    places: list[tuple[int, int]]
    words: list[str]
    is_whole: bool
    line: int

    @classmethod
    def of(cls, whole: str, start: int, *, has_lines: bool) -> _Side:
        text = whole[start : start + MOST_CHARACTERS]
        places = find_words(text, has_symbols=has_lines)
        is_whole = len(whole) - start <= MOST_CHARACTERS and len(places) <= MOST_WORDS
        if len(places) > MOST_WORDS:
            text = text[: places[MOST_WORDS][0]]
        places = places[:MOST_WORDS]
        words = [text[first:stop].casefold() for first, stop in places]
        line = whole.count("\n", 0, start) + 1 if has_lines else 0
        return cls(text, places, words, is_whole, line)

    def runs(self, stretches: Sequence[Stretch], left: int, *, has_before: bool) -> list[Run]:
        """Write stretches, until ``left`` words are shown."""
        found: list[Run] = []
        n_omitted, end = 0, 0
        for number, (kind, first, stop) in enumerate(stretches):
            if kind == "omitted":
                n_omitted += stop - first
            elif left <= 0:
                break
            else:
                if n_omitted:
                    found.append(Run("omitted", "", n_omitted))
                found.append(self._run(kind, first, stop))
                left, n_omitted = left - (stop - first), 0
            end = end if has_before and not number else stop
        n_omitted += len(self.places) - end
        return [*found, Run("omitted", "", n_omitted)] if n_omitted else found

    def _run(self, kind: Kind, first: int, stop: int) -> Run:
        start = self.places[first][0] if first else 0
        last = self.places[stop][0] if stop < len(self.places) else len(self.text)
        text = self.text[start:last]
        if self.line:
            return Run(kind, text, stop - first, self.line + self.text.count("\n", 0, start))
        return Run(kind, _clip(text), stop - first)


_LONG_GAPS = re.compile(rf"\W{{{_LONG_GAP + 1},}}")


def _clip(text: str) -> str:
    """Shorten long stretches without words."""
    return _LONG_GAPS.sub(lambda gap: f"{gap[0][: _LONG_GAP // 2]}…", text)
