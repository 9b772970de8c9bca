"""What kind of text some documents are, by a sample of them: code, misread letters, bare letters.

Thresholds stand between what was measured on texts of either kind, to which tests hold them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from neardup.text.characters import UNSPACED_BLOCKS

# Program source, by its lines.

_LINE_OF_CODE = re.compile(
    r"""[;{}]\s*(?://.*|/\*.*)?$              # the end of a statement, or of a block
    | ^\s*(?:def|class|function|if|elif|for|while|with|except|switch|case)\b.*[:{]\s*$
    | ^\s*(?:import|from)\s+[\w.]+(?:\s+import\b.*)?$
    | ^\s*(?:else|try|finally)\s*:\s*$
    | ^\s*return\b(?:\s+[\w.\[\](]+.*)?$
    | ^\s*\#\s*(?:include|define|if|ifdef|ifndef|endif|else|undef)\b
    | ^\s*[\w.\[\]"'*>-]+(?:,\s*[\w.]+)*\s*(?:[-+*/|&]|:\s*[\w.\[\], |]+)?=(?!=)\s*\S   # assigned
    | ^\s*[\w.]+\(.*\)?[,:]?\s*$              # called
    """,
    re.VERBOSE,
)
_COMMENT = re.compile(
    r'\s*(?://|/\*|\*|#(?!\s*(?:include|define|if|ifdef|ifndef|endif|else|undef)\b)|"""|--|;)'
)
# Of the lines of a program two thirds are of code; of a page with examples a tenth is.
_LEAST_OF_CODE = 0.4
_FEWEST_LINES = 3
# Expressions take long on lines that nobody has written.
_LONGEST_LINE = 300


def are_code(texts: Sequence[str]) -> bool:
    """Return whether most texts are program source, and not prose, nor prose with examples."""
    return 2 * sum(map(_is_code, texts)) > len(texts)


def _is_code(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip() and not _COMMENT.match(line)]
    short = [line for line in lines if len(line) < _LONGEST_LINE]
    n_of_code = sum(_LINE_OF_CODE.search(line) is not None for line in short)
    return len(lines) >= _FEWEST_LINES and n_of_code >= _LEAST_OF_CODE * len(lines)


# Letters that a machine has misread, as in OCR: words that differ in one letter from a frequent
# one. Of words in the language most such neighbours differ in the first letter or an ending.

_LEAST_LETTERS, _ENDING = 6, 2
# How often a word has to be there to be known, and how many times as often as its neighbour.
_KNOWN, _TIMES = 10, 10
# 1 % of letters misread are 2 to 5 % of such words; clean texts have up to 0.5 %, German most.
_LEAST_MISREAD, _FEWEST_MISREAD = 0.0075, 5
_OUTER = ".,;:!?()[]{}\"'“”‘’«»-—*_`"


def are_misread(texts: Sequence[str]) -> bool:
    """Return whether texts have misread letters in about 1 % of places or more."""
    counts = Counter[str]()
    for text in texts:
        counts.update(word.strip(_OUTER) for word in text.casefold().split())
    words = {word: n for word, n in counts.items() if len(word) >= _LEAST_LETTERS}
    known = {word: n for word, n in words.items() if n >= _KNOWN and word.isalpha()}
    # For each way to leave a letter open the most frequent word that is like that.
    like: dict[tuple[str, str], tuple[int, str]] = {}
    for word, n in known.items():
        for i in range(1, len(word) - _ENDING):
            around = (word[:i], word[i + 1 :])
            if around not in like or like[around][0] < n:
                like[around] = (n, word)
    n_misread = sum(n for word, n in words.items() if _is_misread(word, n, like))
    return n_misread >= max(_FEWEST_MISREAD, _LEAST_MISREAD * sum(known.values()))


def _is_misread(word: str, n: int, like: dict[tuple[str, str], tuple[int, str]]) -> bool:
    """Return whether a word that is there ``n`` times may be a frequent one with a wrong letter."""
    for i in range(1, len(word) - _ENDING):
        n_known, known = like.get((word[:i], word[i + 1 :]), (0, word))
        if n_known >= _TIMES * n and known != word and _bare(known) != _bare(word):
            return True
    return False


def _bare(word: str) -> str:
    """Return a word without accents, which change it in many languages."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


# Letters of alphabets that are written without spaces: each is a token by ``words``, and they are
# so few that unlike passages have most of them.

_ALPHABETS = "".join(
    f"{chr(first)}-{chr(last)}"
    for first, last in UNSPACED_BLOCKS
    if last < 0x2E80 or 0xA9E0 <= first < 0xF900
)
_LETTER_OF_ALPHABET = re.compile(f"[{_ALPHABETS}]")
_WORD_OR_LETTER = re.compile(f"[{_ALPHABETS}]|[^\\W{_ALPHABETS}]+")


def are_bare_letters(texts: Sequence[str]) -> bool:
    """Return whether most tokens by ``words`` are letters of Thai, Lao, Khmer, Burmese or the like.

    Not of Chinese, whose signs are many, nor of Japanese, which has both.
    """
    n_tokens = sum(len(_WORD_OR_LETTER.findall(text)) for text in texts)
    n_letters = sum(len(_LETTER_OF_ALPHABET.findall(text)) for text in texts)
    return 2 * n_letters > n_tokens
