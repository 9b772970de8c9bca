"""Repeats by definition: every run of tokens compared with every run that stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

Tokens = list[int]
Run = tuple[int, ...]


def windows_of(tokens: Sequence[int], length: int) -> list[Run]:
    return [tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1)]


def runs_of(tokens: Tokens, heads: Sequence[bool], length: int) -> Iterator[tuple[int, Run]]:
    """Yield runs of at least so many tokens, whole characters, and where they begin.

    ``heads`` says which tokens begin a character.
    """
    edges = [i for i, head in enumerate([*heads, True]) if head]
    for start in edges:
        for stop in edges:
            if stop - start >= length:
                yield start, tuple(tokens[start:stop])


def shared_windows(documents: list[Tokens], length: int, least: int) -> set[Run]:
    """Windows that at least so many documents have."""
    counts = Counter(window for each in documents for window in set(windows_of(each, length)))
    return {window for window, count in counts.items() if count >= least}


def look(
    tokens: Tokens,
    heads: Sequence[bool],
    length: int,
    others: set[Run],
    wanted: set[Run] | None,
    is_within: bool,
) -> set[int]:
    """Which tokens of a text go, for runs of others and for earlier ones of its own."""
    gone: set[int] = set()
    runs = list(runs_of(tokens, heads, length))
    for i, run in runs:
        size = len(run)
        stays_before = is_within and any(
            q + size <= i and other == run and gone.isdisjoint(range(q, q + size))
            for q, other in runs
        )
        may_go = wanted is None or wanted.issuperset(windows_of(run, length))
        if may_go and (run in others or stays_before):
            gone.update(range(i, i + size))
    return gone


def removed_tokens(
    documents: list[Tokens],
    order: list[int],
    length: int,
    min_documents: int = 2,
    n_against: int = 0,
    heads: Sequence[Sequence[bool]] | None = None,
) -> list[set[int]]:
    """Which tokens of each document go."""
    texts = [documents[d] for d in order]
    if heads is None:
        heads = [[True] * len(tokens) for tokens in documents]
    wanted = shared_windows(texts, length, min_documents) if min_documents > 2 else None
    removed: list[set[int]] = [set() for _ in documents]
    others: set[Run] = set()
    for number, d in enumerate(order):
        places = list(range(len(documents[d])))
        while True:
            tokens, own_heads = ([each[d][i] for i in places] for each in (documents, heads))
            gone: set[int] = set()
            if number >= n_against:
                gone = look(tokens, own_heads, length, others, wanted, is_within=not n_against)
            if not gone:
                break
            removed[d].update(places[i] for i in gone)
            places = [place for i, place in enumerate(places) if i not in gone]
        if not n_against or number < n_against:
            others.update(run for _, run in runs_of(tokens, own_heads, length))
    return removed
