"""Pairs within blocks and pairs one to one, by their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def block_of(row: dict[str, Any], columns: Sequence[str]) -> tuple[str, ...] | None:
    """Return the values of some columns as text; None if one is missing or empty."""
    values = []
    for name in columns:
        value = row.get(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = "" if value is None else str(value)
        if not text.strip():
            return None
        values.append(text)
    return tuple(values)


def match_greedily(pairs: Sequence[tuple[Any, Any, Any]]) -> set[tuple[Any, Any]]:
    """Match (a, b, rank), least rank first, ties by a, then b, while neither is in a match."""
    taken: set[Any] = set()
    matched = set()
    for _, a, b in sorted((rank, a, b) for a, b, rank in pairs):
        if a not in taken and b not in taken:
            matched.add((a, b))
            taken |= {a, b}
    return matched
