"""What kind of text some documents are, by a sample of them: code, misread letters, bare letters.

Thresholds stand between what was measured on texts of either kind, to which tests hold them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from neardup.text.characters import UNSPACED_BLOCKS

# Program source, by its lines.

_DIRECTIVE = r"\#\s*(?:include|define|if|ifdef|ifndef|endif|else|undef)\b"
# Of the lines of a program two thirds are of code; of a page with examples a tenth is.
_LEAST_OF_CODE = 0.4
_FEWEST_LINES = 3
# Expressions take long on lines that nobody has written.
_LONGEST_LINE = 300
# As much of so many texts tells it as well.
_TEXTS_OF_CODE, _CHARACTERS_OF_CODE = 32, 3000
# Each line of code has one of these, and so has each comment.
_MARKS = (";", "{", "}", ":", "=", "(", "import", "from", "return", "#", "//", "*", '"""', "--")


# Expressions are made where they are needed, which most texts do not: it takes as long as they do.
@cache
def _begins_code() -> re.Pattern[str]:
    return re.compile(
        rf"""\s*(?:
          (?:def|class|function|if|elif|for|while|with|except|switch|case)\b.*[:{{]\s*$
        | (?:import|from)\s+[\w.]+(?:\s+import\b.*)?$
        | (?:else|try|finally)\s*:\s*$
        | return\b(?:\s+[\w.\[\](]+.*)?$
        | {_DIRECTIVE}
        | [\w.\[\]"'*>-]+(?:,\s*[\w.]+)*\s*(?:[-+*/|&]|:\s*[\w.\[\], |]+)?=(?!=)\s*\S   # assigned
        | [\w.]+\(.*\)?[,:]?\s*$              # called
        )""",
        re.VERBOSE,
    )


@cache
def _ends_code() -> re.Pattern[str]:
    """Return what ends a statement, or a block."""
    return re.compile(r"[;{}]\s*(?://.*|/\*.*)?$")


@cache
def _comment() -> re.Pattern[str]:
    return re.compile(rf'\s*(?://|/\*|\*|(?!{_DIRECTIVE})#|"""|--|;)')


def are_code(texts: Sequence[str]) -> bool:
    """Return whether most texts are program source, and not prose, nor prose with examples."""
    some = texts[:: max(len(texts) // _TEXTS_OF_CODE, 1)]
    n_code, n_left = 0, len(some)
    for text in some:
        n_code, n_left = n_code + _is_code(text[:_CHARACTERS_OF_CODE]), n_left - 1
        if 2 * (n_code + n_left) <= len(some):
            return False
    return 2 * n_code > len(some)


def _is_code(text: str) -> bool:
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    if len(lines) < _FEWEST_LINES or sum(map(text.count, _MARKS)) < _LEAST_OF_CODE * len(lines):
        return False
    lines = [line for line in lines if not _comment().match(line)]
    short = [line for line in lines if len(line) < _LONGEST_LINE]
    begins, ends = _begins_code(), _ends_code()
    n_of_code = sum(bool(begins.match(line) or ends.search(line)) for line in short)
    return len(lines) >= _FEWEST_LINES and n_of_code >= _LEAST_OF_CODE * len(lines)


# Letters that a machine has misread, as in OCR: words that differ in one letter from a frequent
# one. Of words in the language most such neighbours differ in the first letter or an ending.

_LEAST_LETTERS, _ENDING = 6, 2
# How often a word has to be there to be known, and how many times as often as its neighbour.
_KNOWN, _TIMES = 10, 10
# 1 % of letters misread are 2 to 5 % of such words; clean texts have up to 0.5 %, German most.
_LEAST_MISREAD, _FEWEST_MISREAD = 0.0075, 5
# So many fewer than these say that texts are clean before all of them are looked at. Of those with
# 1 % misread letters it says so once in 100 times. Fewer characters have too few known words.
_FEWER, _LEAST_CHARACTERS = 1.75, 12_000
_OUTER = ".,;:!?()[]{}\"'“”‘’«»-—*_`"


def are_misread(texts: Sequence[str]) -> bool:
    """Return whether texts have misread letters in about 1 % of places or more."""
    counts, ends, n_characters = Counter[str](), [0] * len(texts), sum(map(len, texts))
    for parts in (8, 4, 2):
        if n_characters < parts * _LEAST_CHARACTERS:
            continue
        for i, text in enumerate(texts):
            end = text.rfind(" ", ends[i], len(text) // parts) + 1
            if end:
                counts.update(text[ends[i] : end].casefold().split())
                ends[i] = end
        n_known, n_misread = _count_misread(counts)
        if n_misread <= _LEAST_MISREAD * n_known - _FEWER:
            return False
    for text, end in zip(texts, ends, strict=True):
        counts.update(text[end:].casefold().split())
    n_known, n_misread = _count_misread(counts)
    return n_misread >= max(_FEWEST_MISREAD, _LEAST_MISREAD * n_known)


def _count_misread(counts: Mapping[str, int]) -> tuple[int, int]:
    """Count words that are known, and such as may be one of them with a wrong letter."""
    words: dict[str, int] = {}
    for word, n in counts.items():
        if len(word) >= _LEAST_LETTERS and len(bare := word.strip(_OUTER)) >= _LEAST_LETTERS:
            words[bare] = words.get(bare, 0) + n
    known = {word: n for word, n in words.items() if n >= _KNOWN and word.isalpha()}
    # Known words by what a misread one has of the word that it was.
    alike: dict[str, list[str]] = {}
    for word in known:
        alike.setdefault(word[0] + word[-_ENDING:], []).append(word)
    n_misread = 0
    for word, n in words.items():
        for other in alike.get(word[0] + word[-_ENDING:], ()):
            if known[other] >= _TIMES * n and _is_misread(word, other):
                n_misread += n
                break
    return sum(known.values()), n_misread


def _is_misread(word: str, known: str) -> bool:
    """Return whether a word is another one with one wrong letter."""
    if len(word) != len(known) or sum(map(str.__ne__, word, known)) != 1:
        return False
    return _bare(known) != _bare(word)


def _bare(word: str) -> str:
    """Return a word without accents, which change it in many languages."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


# Letters of alphabets that are written without spaces: each is a token by ``words``, and they are
# so few that unlike passages have most of them.

_ALPHABETS = [
    (first, last) for first, last in UNSPACED_BLOCKS if last < 0x2E80 or 0xA9E0 <= first < 0xF900
]


def are_bare_letters(texts: Sequence[str]) -> bool:
    """Return whether most tokens by ``words`` are letters of Thai, Lao, Khmer, Burmese or the like.

    Not of Chinese, whose signs are many, nor of Japanese, which has both.
    """
    codes = np.frombuffer("\n".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    far = codes[codes >= _ALPHABETS[0][0]]
    n_letters = sum(int(((far >= first) & (far <= last)).sum()) for first, last in _ALPHABETS)
    if not n_letters:
        return False
    alphabets = "".join(f"{chr(first)}-{chr(last)}" for first, last in _ALPHABETS)
    n_words = sum(len(re.findall(f"[^\\W{alphabets}]+", text)) for text in texts)
    return n_letters > n_words


# Web pages, by the lines that they have in common.

# Other pages of the sample that have a line of a frame, at least, and the part of a page's
# characters that is in such lines. Without frames of the site it is 0.17 at most, of RFCs with
# their own heads and feet; with 20 entries of a menu around a paragraph it is 0.6 to 0.9.
_PAGES_OF_A_LINE, _LEAST_OF_FRAME = 5, 0.5
_FEWEST_PAGES, _CHARACTERS_OF_PAGE = 10, 8000


def are_framed(texts: Sequence[str]) -> bool:
    """Return whether most pages consist, for the most part, of lines that others have, too.

    Copies count once: what they share is no frame.
    """
    stripped = (map(str.strip, text[:_CHARACTERS_OF_PAGE].split("\n")) for text in texts)
    pages = {tuple(filter(None, lines)) for lines in stripped} - {()}
    if len(pages) < _FEWEST_PAGES:
        return False
    counts = Counter(line for lines in pages for line in set(lines))
    n_framed = 0
    for lines in pages:
        shared = (len(line) for line in lines if counts[line] >= _PAGES_OF_A_LINE)
        n_framed += sum(shared) >= _LEAST_OF_FRAME * sum(map(len, lines))
    return 2 * n_framed > len(pages)
