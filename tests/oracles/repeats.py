"""Repeats by definition: every window compared with every window that stays."""

from __future__ import annotations

from collections import Counter

Tokens = list[int]


def windows_of(tokens: Tokens, length: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1)]


def shared_windows(documents: list[Tokens], length: int, least: int) -> set[tuple[int, ...]]:
    """Windows that at least so many documents have."""
    counts = Counter(window for each in documents for window in set(windows_of(each, length)))
    return {window for window, count in counts.items() if count >= least}


def look(
    tokens: Tokens,
    length: int,
    others: set[tuple[int, ...]],
    wanted: set[tuple[int, ...]] | None,
    is_within: bool,
) -> set[int]:
    """Which tokens of a text go, for windows of others and for earlier ones of its own."""
    gone: set[int] = set()
    windows = windows_of(tokens, length)
    for i, window in enumerate(windows):
        stays_before = is_within and any(
            windows[q] == window and gone.isdisjoint(range(q, q + length))
            for q in range(i - length + 1)
        )
        may_go = wanted is None or window in wanted
        if may_go and (window in others or stays_before):
            gone.update(range(i, i + length))
    return gone


def removed_tokens(
    documents: list[Tokens],
    order: list[int],
    length: int,
    min_documents: int = 2,
    n_against: int = 0,
) -> list[set[int]]:
    """Which tokens of each document go."""
    texts = [documents[d] for d in order]
    wanted = shared_windows(texts, length, min_documents) if min_documents > 2 else None
    removed: list[set[int]] = [set() for _ in documents]
    others: set[tuple[int, ...]] = set()
    for number, d in enumerate(order):
        places = list(range(len(documents[d])))
        while number >= n_against:
            tokens = [documents[d][place] for place in places]
            gone = look(tokens, length, others, wanted, is_within=not n_against)
            if not gone:
                break
            removed[d].update(places[i] for i in gone)
            places = [place for i, place in enumerate(places) if i not in gone]
        if not n_against or number < n_against:
            others.update(windows_of([documents[d][place] for place in places], length))
    return removed
