"""Lines and paragraphs of a text, on strings."""

from __future__ import annotations

import re

Unit = tuple[int, int, int]
"""Start, stop and end in characters: what it is, and that with what ends it."""

_LINE = re.compile(r"[^\r\n]*(\r\n|\r|\n|$)")


def lines(text: str) -> list[Unit]:
    return [(a, b, c) for a, b, c in _all_lines(text) if not _is_blank(text[a:b])]


def paragraphs(text: str) -> list[Unit]:
    found: list[Unit] = []
    after_blank = True
    for start, stop, end in _all_lines(text):
        is_blank = _is_blank(text[start:stop])
        if is_blank and found:
            found[-1] = (*found[-1][:2], end)
        elif not is_blank and after_blank:
            found.append((start, stop, end))
        elif not is_blank:
            found[-1] = (found[-1][0], stop, end)
        after_blank = is_blank
    return found


def _all_lines(text: str) -> list[Unit]:
    found, start = [], 0
    while start < len(text):
        match = _LINE.match(text, start)
        assert match is not None
        found.append((start, match.start(1), match.end()))
        start = match.end()
    return found


def _is_blank(line: str) -> bool:
    return not line or line.isspace()
