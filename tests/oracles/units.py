"""Lines, paragraphs and sentences of a text, on strings."""

from __future__ import annotations

import re
from collections.abc import Callable

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


_CLOSING = "[\"')\\]}\u00bb\u2019\u201c\u201d\u203a\u300d\u300f\u3011\uff09]"
_ENDS = "[!?\u061f\u06d4\u0964\u0965\u1362]"
_WIDE_ENDS = "[\u3002\uff01\uff0e\uff1f\uff61]"
# What ends a sentence, with what it closes; then, if need be, white space.
_MARKS = re.compile(
    rf"{_ENDS}{_CLOSING}*(?=\s)|[.\u2026]{_CLOSING}*(?=\s+[^\sa-z]|\s+$)"
    rf"|{_WIDE_ENDS}{_CLOSING}*+(?!{_ENDS}|[.\u2026]|{_WIDE_ENDS})"
)


def sentences(text: str) -> list[Unit]:
    found = []
    for start, stop, _ in _all_lines(text):
        line, place = text[start:stop], 0
        while line[place:].strip():
            place = stop - start - len(line[place:].lstrip())
            mark = _MARKS.search(line, place)
            end = stop - start if mark is None else mark.end()
            rest = line[end:]
            behind = stop - start - len(rest.lstrip())
            found.append(
                (start + place, start + place + len(line[place:end].rstrip()), start + behind)
            )
            place = behind
    return found


def spans(text: str, has_tokens: Callable[[str], bool]) -> list[Unit]:
    """Any three sentences in a row, of those with tokens; with the line end, if whole lines."""
    own = [unit for unit in sentences(text) if has_tokens(text[unit[0] : unit[1]])]
    found = []
    for (start, *_), _, (_, stop, end) in zip(own, own[1:], own[2:], strict=False):
        line_end = re.compile(r"\r\n|\r|\n").match(text, end)
        if line_end is not None and (start == 0 or text[start - 1] in "\r\n"):
            end = line_end.end()
        found.append((start, stop, end))
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
