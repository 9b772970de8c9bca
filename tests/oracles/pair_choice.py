"""Who stays where the similar pairs are known, by brute force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Pair = tuple[int, int, float]


def similarity(pairs: Iterable[Pair], x: int, y: int, *, is_directed: bool) -> float | None:
    """Give how similar x is to y, None if they are no pair."""
    found = [
        score for a, b, score in pairs if (a, b) == (x, y) or (not is_directed and (b, a) == (x, y))
    ]
    return max(found) if found else None


def choose(
    pairs: Sequence[Pair], n: int, threshold: float, *, is_directed: bool = False
) -> list[tuple[int, float | None]]:
    """Give for each document, in keep order, the one that it goes for and how similar they are.

    (-1, None) if it stays.
    """
    decided: list[tuple[int, float | None]] = []
    for d in range(n):
        rivals = []
        for other in range(d):
            score = similarity(pairs, d, other, is_directed=is_directed)
            if decided[other][0] == -1 and score is not None and score >= threshold:
                rivals.append((score, other))
        if not rivals:
            decided.append((-1, None))
            continue
        most = max(score for score, _ in rivals)
        decided.append((min(other for score, other in rivals if score == most), most))
    return decided


def join(
    pairs: Sequence[Pair], n: int, threshold: float, *, is_directed: bool = False
) -> list[tuple[int, float | None]]:
    """Give for each document the first of its component, and how similar they are if they pair."""
    labels = list(range(n))
    for _ in range(n):
        for a, b, score in pairs:
            if score >= threshold:
                labels[a] = labels[b] = min(labels[a], labels[b])
    return [
        (-1, None) if label == d else (label, similarity(pairs, d, label, is_directed=is_directed))
        for d, label in enumerate(labels)
    ]
