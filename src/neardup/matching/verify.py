"""Compare given pairs exactly, and find the nearest strings of a list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neardup.kernels.common import bits
from neardup.kernels.join import overlap
from neardup.kernels.join.overlap import MeasuredSets
from neardup.kernels.types import sealed
from neardup.matching.measures import Measure
from neardup.tables import Floats, Int64s, ShingleSets, Texts, WeightedSets
from neardup.text.tokenizers import folded_strings

if TYPE_CHECKING:
    from neardup.text.forms import Normalisation
    from neardup.text.tokenizers import Tokenizer


def measure_sets(sets: ShingleSets | WeightedSets) -> MeasuredSets:
    """Return the sets for kernels, with facts on each for faster comparison."""
    if isinstance(sets, WeightedSets):
        weights, totals, words = sets.weights, sets.totals, np.empty(0, np.uint64)
    else:
        weights, totals, words = np.empty(0, np.int64), sets.sizes, np.empty(len(sets), np.uint64)
        bits.set_parities(sets.values, sets.starts, sets.sizes, words)
    return sealed(MeasuredSets(sets.values, sets.starts, sets.sizes, weights, totals, words))


def overlaps_at_threshold(
    sets: ShingleSets | WeightedSets, left: Int64s, right: Int64s, measure: Measure
) -> Int64s:
    """Count common elements of pairs at the threshold.

    For weighted sets it sums common weights. Sets are not empty. -1 for the other pairs.
    ``left[k]`` is the set that would go, ``right[k]`` the one that stays.
    """
    return _score(sets, left, right, measure.in_kernels)[0]


def score_pairs(
    sets: ShingleSets | WeightedSets, left: Int64s, right: Int64s, measure: Measure
) -> Floats:
    """Compute the exact similarity of each pair of nonempty sets.

    The threshold of ``measure`` is ignored. Time O(size of both sets) per pair.
    """
    return _score(sets, left, right, measure.in_kernels._replace(p=0, q=1))[1]


def _score(
    sets: ShingleSets | WeightedSets, left: Int64s, right: Int64s, threshold: overlap.Threshold
) -> tuple[Int64s, Floats]:
    overlaps: Int64s = np.empty(len(left), np.int64)
    similarities: Floats = np.empty(len(left), np.float64)
    overlap.score_pairs(measure_sets(sets), left, right, threshold, overlaps, similarities)
    return overlaps, similarities


# Characters, or hashes of other tokens.
String = Sequence[Hashable]

# Strings compared in one batch: each batch raises the least similarity of the next.
_FIRST_STRINGS, _MOST_STRINGS = 1 << 10, 1 << 15

# RapidFuzz compares similarities in single precision: strings close to the limit are decided here.
_TOO_CLOSE = 1e-6


class Near(NamedTuple):
    """A nearby string: its position, its edit distance, and the length of the longer string."""

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
    """Find the nearest strings by edits per length.

    There are up to ``limit`` results, ties in input order. Results are at least ``least`` similar
    and share something with the string wanted. They are found in blocks, each with the least
    similarity that may still be among them.
    """
    # Loading it takes longer than a small deduplication, which needs no strings.
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    if not len(wanted):
        return []
    cutoff = max(float(least) - _TOO_CLOSE, 0.0)
    nearest: list[tuple[float, Near]] = []
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
                nearest.append((-same / longer, Near(start + place, longer - same, longer)))
        nearest.sort()
        if len(nearest) >= limit:
            del nearest[limit:]
            cutoff = max(cutoff, -nearest[-1][0] - _TOO_CLOSE)
        start, step = start + step, _MOST_STRINGS
    return [near for _, near in nearest]


def string_maker(tokenizer: Tokenizer, normalisation: Normalisation) -> Callable[[str], String]:
    """Return a function that makes a comparable string from a text."""
    if tokenizer.name != "characters":
        return lambda text: tokenizer.hash_tokens(texts_of(text)).values.tolist()
    if normalisation.unicode_form is not None:
        return lambda text: folded_strings(texts_of(text), normalisation)[0]
    return normalisation.fold_text if normalisation.folds else as_it_is


def as_it_is(text: str) -> str:
    """Return the text."""
    return text


def texts_of(*strings: str) -> Texts:
    """Return strings as concatenated UTF-8."""
    encoded = [string.encode() for string in strings]
    offsets: Int64s = np.array([0, *accumulate(map(len, encoded))], np.int64)
    return Texts(np.frombuffer(b"".join(encoded) or b"\0", np.uint8), offsets)
