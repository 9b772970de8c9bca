"""Shingles as tuples of tokens, not as hashes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def shingle_tuples(tokens: Sequence[Hashable], ngram: int) -> list[tuple[Hashable, ...]]:
    """Give all runs of ``ngram`` tokens; all tokens at once where there are fewer."""
    if not tokens:
        return []
    if len(tokens) < ngram:
        return [tuple(tokens)]
    return [tuple(tokens[i : i + ngram]) for i in range(len(tokens) - ngram + 1)]


def elements(tokens: Sequence[Hashable], ngram: int, occurrences: str) -> frozenset[Hashable]:
    """Give the set that is compared; numbered, the x-th copy is an element of its own."""
    shingles = shingle_tuples(tokens, ngram)
    if occurrences == "set":
        return frozenset(shingles)
    return frozenset((s, shingles[:i].count(s)) for i, s in enumerate(shingles))
