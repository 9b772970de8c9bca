"""Weighted sets: the shingles of each document with what they weigh there.

What weighs how much is worked out in ``weighting``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.kernels.text import shingles as shingle_kernels
from neardup.kernels.text import weights as weight_kernels
from neardup.tables import Floats, Int64s, ShingleLists, TokenLists, Uint64s, WeightedSets
from neardup.text.shingles import (
    ShingleScheme,
    digest_token_lists,
    shingle_lists,
    sorting_room,
)
from neardup.text.weighting import (
    DocumentFrequencies,
    Weighting,
    term_frequencies,
    term_frequencies_of,
)


@dataclass(frozen=True)
class WeightedScheme:
    """How documents become weighted sets.

    Parameters
    ----------
    weighting
        Term frequency times inverse document frequency.
    frequencies
        In how many documents each shingle is; None for ``unary`` only.
    """

    weighting: Weighting
    frequencies: DocumentFrequencies | None = None

    def describe(self) -> dict[str, object]:
        """Give all that decides the weights, as plain values."""
        digest = None if self.frequencies is None else self.frequencies.digest()
        return self.weighting.describe() | {"frequencies": digest}

    @property
    def needs_frequencies(self) -> bool:
        """Whether documents have to be counted before anything can be weighed."""
        return self.weighting.idf != "unary"


def weighted_sets(
    token_lists: TokenLists, shingles: ShingleScheme, scheme: WeightedScheme
) -> WeightedSets:
    """Give each text's distinct shingles and their weights; what weighs nothing is left out.

    Parameters
    ----------
    token_lists
        n texts.
    shingles
        How tokens are joined; every copy counts, whatever its ``occurrences``.
    scheme
        What shingles weigh.

    Returns
    -------
    n sets; one is empty for a text without tokens, and for one of which nothing weighs anything.

    Notes
    -----
    Time that of sorting each text's shingles, and a search in all frequencies for each distinct
    one.
    """
    lists = shingle_lists(token_lists, shingles)
    sizes: Int64s = np.empty(len(lists), np.int64)
    copies: Int64s = np.empty(len(lists.values), np.int64)
    shingle_kernels.sort_bags(
        lists.values, lists.offsets, *sorting_room(lists.offsets), sizes, copies
    )
    starts = np.concatenate([[0], np.cumsum(sizes)])
    used = np.repeat(lists.offsets[:-1] - starts[:-1], sizes) + np.arange(starts[-1])
    values, counts = lists.values[used], copies[used]
    table = term_frequencies(scheme.weighting.tf, int(counts.max(initial=0)))
    return _weigh(values, starts, counts, table, scheme)


def weighted_set_of_numbers(
    tokens: TokenLists, numbers: Floats, shingles: ShingleScheme, scheme: WeightedScheme
) -> WeightedSets:
    """Give the weighted set of one text whose tokens, shingles of one each, occur so many times.

    The numbers need not be whole; of equal shingles they add up.
    """
    values, places = np.unique(shingle_lists(tokens, shingles).values, return_inverse=True)
    sums: Floats = np.bincount(places, numbers, len(values)).astype(np.float64)
    table = term_frequencies_of(scheme.weighting.tf, sums)
    return _weigh(values, np.array([0, len(values)]), np.arange(len(values)), table, scheme)


def _weigh(
    values: Uint64s, starts: Int64s, counts: Int64s, table: Floats, scheme: WeightedScheme
) -> WeightedSets:
    """Weigh the shingles of texts, by what ``table`` has for their counts."""
    inverses = np.ones(len(values))
    if scheme.frequencies is not None:
        inverses = scheme.frequencies.idf_of(values, scheme.weighting.idf)
    found: Int64s = np.empty(len(values), np.int64)
    weight_kernels.fill_weights(counts, table, inverses, found)
    weighs = found > 0
    kept = np.concatenate([[0], np.cumsum(weighs)])[starts]
    values, found = values[weighs], found[weighs]
    # A sum over all texts may wrap around; its differences do not.
    sums = np.concatenate([[0], np.cumsum(found)])
    return WeightedSets(
        values,
        found,
        kept[:-1].astype(np.int64),
        np.diff(kept).astype(np.int64),
        np.diff(sums[kept]).astype(np.int64),
    )


def digest_weighted_sets(sets: WeightedSets) -> Uint64s:
    """Digest each set to 128 bits, shape (n, 2): equal for equal elements of equal weights."""
    offsets: Int64s = np.concatenate([[0], np.cumsum(sets.sizes)]).astype(np.int64)
    both: Uint64s = np.empty((2, int(offsets[-1])), np.uint64)
    for column, source in zip(both, (sets.values, sets.weights), strict=True):
        shingle_kernels.copy_sets(
            source.view(np.uint64), sets.starts, sets.sizes, column, offsets[:-1]
        )
    return digest_token_lists(TokenLists(both.T.ravel(), 2 * offsets))


def frequency_lists(token_lists: TokenLists, shingles: ShingleScheme) -> TokenLists:
    """Give each text's shingles in the form in which documents are counted."""
    lists: ShingleLists = shingle_lists(token_lists, shingles)
    return TokenLists(lists.values, lists.offsets)
