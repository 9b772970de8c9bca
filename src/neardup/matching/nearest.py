"""The strings of a list that are nearest to another by edits: each is compared, nothing indexed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup.tables import Int64s, Texts
from neardup.text.tokenizers import folded_strings

if TYPE_CHECKING:
    from neardup.text.forms import Normalisation
    from neardup.text.tokenizers import Tokenizer

# Characters, or hashes of other tokens.
String = Sequence[Hashable]

# Strings whose edit distances are worked out together: those that follow need only be as near as
# the nearest so far.
_FIRST_STRINGS, _MOST_STRINGS = 1 << 10, 1 << 15

# RapidFuzz compares similarities with the least in single precision: what is as near as that to it
# is decided here.
_TOO_CLOSE = 1e-6


class Near(NamedTuple):
    """A string near another: its place, the edits between them, and how long the longer one is."""

    place: int
    distance: int
    longer: int

    @property
    def similarity(self) -> float:
        """The share of the longer string that stays."""
        return (self.longer - self.distance) / self.longer


def nearest_strings(
    wanted: String, strings: Sequence[String], least: Fraction | int, limit: int
) -> list[Near]:
    """Find so many strings with the fewest edits for their length, ties as they come.

    None is less similar than ``least``, and none has nothing in common with the string wanted. They
    are found in blocks, each with the least similarity that may still be among them.
    """
    if not len(wanted):
        return []
    cutoff = max(float(least) - _TOO_CLOSE, 0.0)
    found: list[tuple[float, Near]] = []
    start, step = 0, _FIRST_STRINGS
    while start < len(strings):
        near = process.extract(
            wanted,
            strings[start : start + step],
            scorer=Levenshtein.normalized_similarity,
            score_cutoff=cutoff,
            limit=limit,
        )
        for string, _, place in near:
            longer = max(len(wanted), len(string))
            same = longer - Levenshtein.distance(wanted, string)
            if same and same >= least * longer:
                found.append((-same / longer, Near(start + place, longer - same, longer)))
        found.sort()
        if len(found) >= limit:
            del found[limit:]
            cutoff = max(cutoff, -found[-1][0] - _TOO_CLOSE)
        start, step = start + step, _MOST_STRINGS
    return [near for _, near in found]


def string_maker(tokenizer: Tokenizer, normalisation: Normalisation) -> Callable[[str], String]:
    """Return what makes of a text the string whose edits are counted."""
    if tokenizer.name != "characters":
        return lambda text: tokenizer.hash_tokens(texts_of(text)).values.tolist()
    if normalisation.unicode_form is not None:
        return lambda text: folded_strings(texts_of(text), normalisation)[0]
    return normalisation.fold_text if normalisation.folds else as_it_is


def as_it_is(text: str) -> str:
    """Return the text."""
    return text


def texts_of(*strings: str) -> Texts:
    """Return strings one behind the other, in UTF-8."""
    encoded = [string.encode() for string in strings]
    offsets: Int64s = np.array([0, *accumulate(map(len, encoded))], np.int64)
    return Texts(np.frombuffer(b"".join(encoded) or b"\0", np.uint8), offsets)
