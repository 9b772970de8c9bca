"""Hash the stems of words instead of the words.

References
----------
Porter (1980), An algorithm for suffix stripping. PyStemmer compiles Snowball's for many languages.
"""

from __future__ import annotations

import numpy as np

from neardup.errors import InvalidParameterError, MissingExtraError
from neardup.kernels.text import tokens
from neardup.tables import Bytes, Int64s, Uint64s

try:
    import Stemmer
except ImportError:
    raise MissingExtraError("stem", "comparing stems (stem)") from None

VERSION = f"PyStemmer {Stemmer.version()}"
"""The library whose rules make the stems; another version may cut some words differently."""


def check_stem(language: str) -> None:
    """Raise for a language without a stemmer."""
    if language not in Stemmer.algorithms():
        message = f"stem must be one of {', '.join(Stemmer.algorithms())}, got {language!r}"
        raise InvalidParameterError(message, "stem")


def stem_hashes(folded: Bytes, hashes: Uint64s, language: str) -> Uint64s:
    """Return the hashes of tokens, with words stemmed.

    ``folded`` has these and maybe more words, with a zero byte after each. Each distinct word is
    stemmed once.
    """
    if not len(hashes):
        return hashes
    is_edge = np.diff((folded != 0).view(np.int8), prepend=0, append=0)
    starts, stops = np.flatnonzero(is_edge == 1), np.flatnonzero(is_edge == -1)
    _, firsts, numbers = np.unique(hashes, return_index=True, return_inverse=True)
    edges = zip(starts[firsts].tolist(), stops[firsts].tolist(), strict=True)
    data = folded.tobytes()
    # A stemmer belongs to one thread.
    stemmer = Stemmer.Stemmer(language, 0)
    stems = stemmer.stemWords([data[start:stop].decode() for start, stop in edges])
    return _hash_words(stems)[numbers]


def _hash_words(words: list[str]) -> Uint64s:
    # The kernel reads up to 72 bytes beyond the end.
    data = np.frombuffer("\0".join([*words, "\0" * 72]).encode(), np.uint8)
    hashes: Uint64s = np.empty(len(words) + 1, np.uint64)
    offsets: Int64s = np.empty(2, np.int64)
    tokens.hash_tokens(data, np.array([0, len(data) - 72]), hashes, offsets)
    return hashes[:-1]
