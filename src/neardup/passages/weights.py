"""What the tokens of texts weigh under a scheme, and the windows that follow from it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels.text import weights
from neardup.passages.scheme import PassageScheme
from neardup.passages.windows import (
    ALL_COPIES,
    TokenOccurrences,
    WindowLists,
    group_occurrences,
    multiset_windows,
    weighted_windows,
)
from neardup.tables import Floats, TokenLists, Uint64s
from neardup.text.weighting import DocumentFrequencies, term_frequencies


def count_windows(
    token_lists: TokenLists, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> tuple[TokenOccurrences, Callable[[int], WindowLists]]:
    """Group the tokens of some texts; give what lists their windows under a seed."""
    texts = group_occurrences(token_lists)
    weighting = scheme.weighting
    if weighting.counts_only:
        most = 1 if weighting.tf == "binary" else ALL_COPIES
        return texts, lambda seed: multiset_windows(texts, seed, scheme.least_shingles, most)
    log_weights = text_log_weights(texts, scheme, frequencies)
    return texts, lambda seed: weighted_windows(texts, log_weights, seed, scheme.least_shingles)


def text_log_weights(
    texts: TokenOccurrences, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> Floats:
    """Give the logarithm of each token's weight at each number of copies, by type."""
    weighting = scheme.weighting
    counts = np.diff(texts.type_starts)
    table = term_frequencies(weighting.tf, int(counts.max(initial=0)))
    inverses = inverse_frequencies(texts.type_hashes, scheme, frequencies)
    log_weights: Floats = np.empty(len(texts.positions), np.float64)
    weights.fill_log_weights(texts.type_starts, len(counts), table, inverses, log_weights)
    return log_weights


def inverse_frequencies(
    hashes: Uint64s, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> Floats:
    """Give the inverse document frequency of tokens; 1 for all where none was counted."""
    if frequencies is None:
        return np.ones(len(hashes), np.float64)
    return frequencies.idf_of(hashes, scheme.weighting.idf)
