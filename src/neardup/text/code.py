"""Cut programs into tokens without names, values, comments and layout.

Pygments' lexers cut a program. All names, also of types, are one token, numbers another and strings
a third. Other keywords, operators and punctuation are their own tokens. Comments, docstrings,
preprocessor directives and white space are left out.

References
----------
Schleimer, Wilkerson, Aiken (2003), Winnowing: local algorithms for document fingerprinting.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from pygments import __version__
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

# Another version of the lexers may cut programs into other tokens.
LEXERS = f"pygments {__version__}"

# Tokens of a kind; none of them can be a token of a program.
NAME, NUMBER, STRING = " name", " number", " string"
# Concatenated names, as of a package; parts of keywords of several words; punctuation and the like.
_NAMES = re.compile(r"[^\s.]+|\.")
_WORDS, _PIECES = re.compile(r"\S+"), re.compile(r"\w+|[^\w\s]")
_DEPTHS = {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}


def language_of(name: str) -> str | None:
    """Return Pygments' first name of a language, or None."""
    try:
        return str(get_lexer_by_name(name).aliases[0])
    except ClassNotFound:
        return None


def cut_programs(
    texts: Sequence[str], languages: Sequence[str]
) -> list[list[tuple[str, int, int]]]:
    """Cut programs into tokens with positions, also invalid programs."""
    # Threads do not share a lexer.
    lexers = {language: get_lexer_by_name(language) for language in languages}
    programs = []
    for text, language in zip(texts, languages, strict=True):
        # Lexers expect these line ends, also after the last line, where a comment may end.
        lined = text.replace("\r\n", "\n").replace("\r", "\n") + "\n"
        tokens = _tokens(lined, lexers[language], has_docstrings=language == "python")
        programs.append(list(_placed(tokens, text)))
    return programs


def _placed(tokens: Iterator[tuple[str, int, int]], text: str) -> Iterator[tuple[str, int, int]]:
    """Shift tokens to account for newlines of two characters."""
    longer = [match.start() - i for i, match in enumerate(re.finditer("\r\n", text))]
    n_characters = len(text)
    for token, start, stop in tokens:
        if longer:
            start, stop = start + bisect_left(longer, start), stop + bisect_left(longer, stop)
        # An open string may have taken the newline at the end.
        yield token, start, min(stop, n_characters)


def _tokens(text: str, lexer: Any, *, has_docstrings: bool) -> Iterator[tuple[str, int, int]]:
    """Yield the tokens of a program, with adjacent parts of a string as one token."""
    # Where the open string starts, or -1; where the last token ends; the number of open brackets.
    string_start, stop, is_doc, depth = -1, 0, False, 0
    # An empty token of ours at the end closes an open string; lexers also return empty tokens.
    for start, kind, value in (*lexer.get_tokens_unprocessed(text), (len(text), Comment, "")):
        if start < stop or not (value or kind is Comment):
            continue
        is_string = kind in String
        if string_start >= 0 and not (is_string and start == stop):
            is_doc |= has_docstrings and not depth and _is_alone(text, string_start, stop)
            if not (is_doc or text[string_start:stop].isspace()):
                yield STRING, string_start, stop
            string_start, is_doc = -1, False
        stop = start + len(value)
        if is_string:
            string_start = start if string_start < 0 else string_start
            is_doc |= kind in String.Doc
        elif kind not in Comment:
            for token, offset, end in _parts(kind, value):
                depth += _DEPTHS.get(token, 0)
                yield token, start + offset, start + end


@lru_cache(1 << 16)
def _parts(kind: Any, value: str) -> list[tuple[str, int, int]]:
    """Split a lexer's token into neardup's tokens with their positions."""
    if kind in Number:
        return [(NUMBER, 0, len(value))]
    if kind in Name or kind in Keyword.Type:
        names = ((match[0], match.span()) for match in _NAMES.finditer(value))
        return [("." if name == "." else NAME, *span) for name, span in names]
    if kind in Keyword or kind in Operator:
        return [(match[0], *match.span()) for match in _WORDS.finditer(value)]
    pieces = ((match[0], match.span()) for match in _PIECES.finditer(value))
    return [(NAME if piece.isalnum() or len(piece) > 1 else piece, *span) for piece, span in pieces]


def _is_alone(text: str, start: int, stop: int) -> bool:
    """Return whether a string is alone on its lines."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    after = text[stop : text.find("\n", stop)]
    return not before.strip() and not after.strip()
