"""Edit distances of pairs of strings of tokens, exactly."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup.errors import InvalidParameterError
from neardup.matching.postings import number_values
from neardup.tables import Int32s, Int64s, TokenLists

# A token is a code point while strings are compared; surrogates are left out.
_FIRST_SURROGATE, _N_SURROGATES, _MOST_TOKENS = 0xD800, 0x800, 0x110000 - 0x800

Characters = npt.NDArray[np.object_]


def as_characters(strings: TokenLists) -> Characters:
    """Return strings in which each token is one character, whichever; RapidFuzz compares those.

    Raises
    ------
    InvalidParameterError
        For more different tokens than there are characters.
    """
    numbers, frequencies = number_values(strings.values)
    if len(frequencies) > _MOST_TOKENS:
        message = (
            f"an edit-distance join may have {_MOST_TOKENS:,} different tokens at most, "
            f"got {len(frequencies):,}; choose another tokenizer, such as characters"
        )
        raise InvalidParameterError(message, "tokenizer")
    numbers[numbers >= _FIRST_SURROGATE] += _N_SURROGATES
    text = numbers.astype("<u4").tobytes().decode("utf-32-le")
    characters = np.empty(len(strings), np.object_)
    characters[:] = [text[start:stop] for start, stop in pairwise(strings.offsets.tolist())]
    return characters


def distances_within(left: Characters, right: Characters, most: Int64s, workers: int) -> Int32s:
    """Work out the edit distance of each pair; of those beyond ``most`` only that they are."""
    # One bound for all: beyond it RapidFuzz stops early and gives the next larger number.
    distances: Int32s = process.cpdist(
        left,
        right,
        scorer=Levenshtein.distance,
        score_cutoff=int(most.max(initial=0)),
        dtype=np.int32,
        workers=workers,
    )
    return distances
