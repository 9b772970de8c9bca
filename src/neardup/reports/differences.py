"""Two texts side by side: what both have, what only one has, and long equal stretches left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from neardup.reports.long_texts import MOST_CHARACTERS, find_part
from neardup.reports.words import EqualWords, count_words, equal_words, find_words

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
    places_a, places_b = find_words(text_a), find_words(text_b)
    keys_a = [text_a[i:j].casefold() for i, j in places_a]
    keys_b = [text_b[i:j].casefold() for i, j in places_b]
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
