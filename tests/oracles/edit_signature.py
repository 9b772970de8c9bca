"""Coates' signatures, window by window, and the nearest stretch by trying all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tests.oracles.edits import distance
from tests.oracles.hashing import ALL, GOLDEN, POWER, mix


def sign(
    text: str,
    compression: int,
    neighbourhood: int,
    *,
    is_sum: bool = False,
    residue: int = 0,
    letters: int = 1 << 32,
    seed: int = 42,
) -> list[tuple[int, int]]:
    """Give (position, symbol) of every window that has one."""
    found = []
    for position in range(len(text) - neighbourhood + 1):
        codes = [ord(character) for character in text[position : position + neighbourhood]]
        if is_sum:
            value = sum(codes)
        else:
            value = 0
            for code in codes:
                value = (value * POWER + code) & ALL
        z = mix(value ^ mix(seed ^ GOLDEN))
        if value % compression == residue if is_sum else z < (1 << 64) // compression:
            found.append((position, (z & 0xFFFFFFFF) * letters >> 32))
    return found


def nearest(inner: Sequence[Hashable], outer: Sequence[Hashable]) -> int:
    """Count the fewest edits between the inner sequence and any stretch of the outer one."""
    return min(
        distance(inner, outer[start:stop])
        for start in range(len(outer) + 1)
        for stop in range(start, len(outer) + 1)
    )


def common(x: Sequence[Hashable], y: Sequence[Hashable]) -> int:
    """Count the symbols of a longest common subsequence."""
    row = [0] * (len(y) + 1)
    for a in x:
        above = row.copy()
        for j, b in enumerate(y, 1):
            row[j] = above[j - 1] + 1 if a == b else max(above[j], row[j - 1])
    return row[-1]
