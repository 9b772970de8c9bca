"""Which words of two passages the other one lacks."""

from __future__ import annotations

from neardup.reports.words import equal_words, find_words


def changed_places(a: str, b: str) -> tuple[list[int], list[int]]:
    """Return where runs of words that the other text lacks begin and end, in turn, of both texts.

    Case does not count, and neither does what stands between words.
    """
    places = find_words(a), find_words(b)
    keys = [
        [text[start:stop].casefold() for start, stop in words]
        for text, words in zip((a, b), places, strict=True)
    ]
    found: tuple[list[int], list[int]] = ([], [])
    ends = [0, 0]
    for block in [*equal_words(*keys), (len(places[0]), len(places[1]), 0)]:
        for side in (0, 1):
            if block[side] > ends[side]:
                found[side].extend((places[side][ends[side]][0], places[side][block[side] - 1][1]))
            ends[side] = block[side] + block[2]
    return found
