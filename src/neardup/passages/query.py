"""Queries: texts whose passages are looked for, as weighted tokens and min-hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neardup.kernels import active, consistent, weights
from neardup.passages.scheme import PassageScheme
from neardup.passages.weights import inverse_frequencies, text_log_weights
from neardup.passages.windows import ALL_COPIES, group_occurrences
from neardup.tables import Int64s, TokenLists, Uint64s
from neardup.text.weighting import DocumentFrequencies, term_frequencies


@dataclass(frozen=True)
class Query:
    """A text to look for.

    ``hashes`` are its different tokens, ``weights`` what each weighs, ``keys`` the identity of its
    least hash value under each hash function. ``number`` counts queries.
    """

    number: int
    n_tokens: int
    hashes: Uint64s
    weights: Int64s
    keys: Uint64s

    @property
    def total(self) -> int:
        """What all tokens weigh."""
        return int(self.weights.sum())


def make_queries(
    token_lists: TokenLists,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    first_number: int = 0,
) -> Iterator[Query]:
    """Make a query of every text that has a token with a weight; the others find nothing."""
    texts = group_occurrences(token_lists)
    weighting = scheme.weighting
    counts = np.diff(texts.type_starts)
    table = term_frequencies(weighting.tf, int(counts.max(initial=0)))
    inverses = inverse_frequencies(texts.type_hashes, scheme, frequencies)
    all_weights: Int64s = np.empty(len(counts), np.int64)
    weights.fill_weights(counts, table, inverses, all_weights)
    last_logs = None
    if not weighting.counts_only:
        log_weights = text_log_weights(texts, scheme, frequencies)
        last_logs = log_weights[texts.type_starts[1:] - 1]
    most_copies = 1 if weighting.tf == "binary" else ALL_COPIES
    seeds = scheme.seeds
    for text in range(len(token_lists)):
        start, stop = texts.type_offsets[text], texts.type_offsets[text + 1]
        keys: Uint64s = np.empty(len(seeds), np.uint64)
        hashes = texts.type_hashes[start:stop]
        if not all_weights[start:stop].any():
            continue
        if last_logs is None:
            starts = texts.type_starts[start : stop + 1]
            active.least_values(hashes, starts, most_copies, seeds, keys)
        else:
            consistent.weighted_minimum(hashes, last_logs[start:stop], seeds, keys)
        yield Query(
            first_number + text,
            int(texts.offsets[text + 1] - texts.offsets[text]),
            hashes,
            all_weights[start:stop],
            keys,
        )
