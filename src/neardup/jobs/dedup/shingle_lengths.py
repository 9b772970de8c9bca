"""How many tokens a shingle should have, told from documents of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from neardup.tables import Int64s, TokenLists, Uint64s
from neardup.text.shingles import ShingleScheme, shingle_lists

# Documents that are looked at, and tokens of each: what all lengths together take stays below a
# few seconds however long documents are.
LENGTH_DOCUMENTS, LENGTH_TOKENS = 300, 5_000

_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16)
_CHANGED = (0.01, 0.05)


@dataclass(frozen=True)
class ShingleLength:
    """What shingles of ``ngram`` tokens make of documents.

    ``chance`` is the probability that a shingle of one document is also in another, of the mean
    document: it should be low, so that documents are similar for what they share and not for what
    all texts have. ``similarity_at_1_percent`` and ``similarity_at_5_percent`` are the expected
    Jaccard similarities of a document and itself with so many of its tokens changed, one by one.
    """

    ngram: int
    chance: float
    similarity_at_1_percent: float
    similarity_at_5_percent: float


def compare_lengths(tokens: Sequence[TokenLists], scheme: ShingleScheme) -> list[ShingleLength]:
    """Compare lengths of shingles, the scheme's among them, on documents of a sample.

    There is nothing to compare without two documents that have tokens.
    """
    if sum(np.count_nonzero(np.diff(part.offsets)) for part in tokens) < 2:
        return []
    lengths = sorted({*_LENGTHS, scheme.ngram})
    return [
        ShingleLength(
            ngram,
            _chance(tokens, replace(scheme, ngram=ngram)),
            *(_left(ngram, x) for x in _CHANGED),
        )
        for ngram in lengths
    ]


def cut_documents(tokens: TokenLists, count: int) -> TokenLists:
    """Return the first tokens of some documents, evenly spread: no more than are looked at."""
    rows = np.linspace(0, len(tokens) - 1, min(count, len(tokens)), dtype=np.int64)
    starts = tokens.offsets[rows]
    sizes = np.minimum(tokens.offsets[rows + 1] - starts, LENGTH_TOKENS)
    parts = [
        tokens.values[start : start + size]
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    values: Uint64s = np.concatenate([np.empty(0, np.uint64), *parts])
    ends: Int64s = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TokenLists(values, ends)


def _chance(tokens: Sequence[TokenLists], scheme: ShingleScheme) -> float:
    """Return the mean share of a document's shingles that are in another one, over all pairs."""
    own = []
    for part in tokens:
        lists = shingle_lists(part, scheme)
        offsets = lists.offsets.tolist()
        shingles = (lists.values[start:stop] for start, stop in pairwise(offsets) if stop > start)
        own += [np.unique(values) for values in shingles]
    _, inverse, documents = np.unique(np.concatenate(own), return_inverse=True, return_counts=True)
    sizes = np.array([len(values) for values in own])
    others = (documents[inverse] - 1) / (len(own) - 1)
    return float((np.add.reduceat(others, np.cumsum(sizes) - sizes) / sizes).mean())


def _left(ngram: int, changed: float) -> float:
    """Return the Jaccard similarity when a share of tokens has changed at random.

    A shingle stays as it was if all its tokens do; the others are new on either side.
    """
    kept = (1 - changed) ** ngram
    return float(kept / (2 - kept))
