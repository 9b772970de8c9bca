"""Searches in an index by their definitions: every sub-text of every document, one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import comb

from tests.oracles import passages, weighted
from tests.oracles.hashing import ALL, GOLDEN, mix

Tokens = Sequence[int]
Cell = tuple[int, int]


@dataclass(frozen=True)
class Scheme:
    """What decides min-hashes; ``counts`` are document frequencies among ``total`` documents."""

    min_tokens: int
    num_perm: int
    tf: str = "binary"
    idf: str = "unary"
    seed: int = 42
    counts: Mapping[int, int] = field(default_factory=dict)
    total: int = 0

    @property
    def seeds(self) -> list[int]:
        start = mix(self.seed ^ GOLDEN)
        return [mix((start + i * GOLDEN) & ALL) for i in range(1, self.num_perm + 1)]

    @property
    def hashes_counts(self) -> bool:
        return self.idf == "unary" and self.tf in ("binary", "raw")

    def weigh(self, token: int, count: int) -> int:
        return _weight(self.tf, self.idf, count, self.counts.get(token, 0), self.total)

    def keys(self, tokens: Iterable[int]) -> list[object]:
        """Give the least hash value under each function; None where there is none."""
        counts = Counter(tokens)
        if self.hashes_counts:
            most = 1 if self.tf == "binary" else max(counts.values(), default=0)
            return [
                min((_least_of_copies(t, seed, min(n, most)) for t, n in counts.items()), default=0)
                for seed in self.seeds
            ]
        weights = {token: self.weigh(token, count) for token, count in counts.items()}
        return [
            min((_weighted_value(t, seed, w) for t, w in weights.items()), default=None)
            for seed in self.seeds
        ]


@cache
def _weight(tf: str, idf: str, count: int, n: int, total: int) -> int:
    if count == 0:
        return 0
    return weighted.scaled(
        weighted.term_frequency(tf, count) * weighted.inverse_frequency(idf, n, total)
    )


@cache
def _least_of_copies(token: int, seed: int, copies: int) -> int:
    mixed = mix(token ^ seed)
    return min(mix((mixed + x * GOLDEN) & ALL) for x in range(1, copies + 1))


@cache
def _weighted_value(token: int, seed: int, weight: int) -> weighted.Value:
    (level,) = weighted.levels(token, seed, [weight])
    assert level is not None
    return weighted.value(token, seed, level)


def common_hashes(scheme: Scheme, query: Tokens, document: Tokens) -> dict[Cell, int]:
    """Count the min-hashes that each sub-text (first token, last token) shares with a query."""
    wanted = scheme.keys(query)
    return {
        (i, j): sum(
            key is not None and key == other
            for key, other in zip(wanted, scheme.keys(document[i : j + 1]), strict=True)
        )
        for i in range(len(document))
        for j in range(i + scheme.min_tokens - 1, len(document))
    }


def similar(
    scheme: Scheme,
    query: Tokens,
    document: Tokens,
    threshold: Fraction,
    rows: Sequence[Cell] | None = None,
) -> dict[Cell, tuple[int, int]]:
    """Find the sub-texts that reach a threshold: what they share with a query, and the union.

    Only those that end, by their start, in ``rows``, if these are given.
    """
    weights = {token: scheme.weigh(token, n) for token, n in Counter(query).items()}
    everything = [(i, len(document) - 1) for i in range(len(document))]
    return passages.similar_cells(
        document,
        everything if rows is None else rows,
        scheme.min_tokens,
        scheme.weigh,
        weights,
        sum(weights.values()),
        threshold,
    )


def holding(
    scheme: Scheme, query: Tokens, document: Tokens, threshold: Fraction, times: int
) -> tuple[dict[Cell, tuple[int, int]], int]:
    """Find the sub-texts that hold a share of a query: what of it, and their weight; and its own.

    They weigh at most so many times what it does.
    """
    weights = {token: scheme.weigh(token, n) for token, n in Counter(query).items()}
    total = sum(weights.values())
    cells = passages.holding_cells(document, scheme.weigh, weights, total, threshold, times)
    return cells, total


def hull_rows(cells: Iterable[Cell], n_tokens: int) -> list[Cell]:
    """Give, for each start, the first and the last end of some sub-texts that start there."""
    rows = [(n_tokens, -1)] * n_tokens
    for i, j in cells:
        rows[i] = min(rows[i][0], j), max(rows[i][1], j)
    return rows


def probability_of_hits(num_perm: int, hits: int, similarity: Fraction) -> Fraction:
    """Give the probability that so many min-hashes or more agree."""
    miss = 1 - similarity
    return sum(
        (
            comb(num_perm, k) * similarity**k * miss ** (num_perm - k)
            for k in range(hits, 1 + num_perm)
        ),
        Fraction(0),
    )
