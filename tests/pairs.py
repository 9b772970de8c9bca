"""Pairs of texts as the kernels of passages take them, and their chains."""

from __future__ import annotations

import numpy as np

from neardup.kernels.passage.chains import Chains
from neardup.kernels.passage.ends import Pair, PassageRules, WordWeights, make_words
from neardup.text.weighting import term_frequencies

NO_HASHES = np.empty(0, np.uint64), np.empty(0)


def pair_of(query, document, threshold, reach, *, apart=-1, min_tokens=0, weights=None):
    """Two lists of small numbers, in which passages are looked for."""
    n_words = len(query) + len(document)
    if weights is None:
        table = term_frequencies("raw", max(len(query), len(document)))
        weights = WordWeights(table, *NO_HASHES, np.float64(1))
    p, q = threshold.as_integer_ratio()
    return Pair(
        *(np.array(text, np.uint64) for text in (query, document)),
        *(np.full(len(text), -1, np.int64) for text in (query, document)),
        *(make_words(n_words), weights),
        PassageRules(p, q, reach, 0, 0, min_tokens, 700 * p // q),
        apart,
    )


def rows_of(hits):
    """Return a table of places."""
    return np.array(list(hits), np.int64).reshape(-1, 4)


def room_of(n_hits):
    """Return room for the chains of some hits."""
    return Chains(*(np.zeros(n_hits + 1, np.int64) for _ in range(3)), np.zeros(n_hits + 1))


def chained(lists):
    """Return a table of hits, chains of these, and how many, from lists of runs of hits."""
    hits = [hit for chain in lists for run in chain for hit in run]
    chains = room_of(len(hits))
    chains.members[: len(hits)] = range(len(hits))
    sizes = [len(run) for chain in lists for run in chain]
    chains.runs[: len(sizes) + 1] = np.cumsum([0, *sizes])
    chains.bounds[: len(lists) + 1] = np.cumsum([0, *map(len, lists)])
    return rows_of(hits), chains, len(lists)
