"""Coates' signatures, window by window."""

from __future__ import annotations

from tests.oracles.hashing import ALL, GOLDEN, POWER, mix


def sign(
    text: str,
    compression: int,
    neighbourhood: int,
    *,
    seed: int = 42,
) -> list[tuple[int, int]]:
    """Give (position, symbol) of every window that has one."""
    found = []
    for position in range(len(text) - neighbourhood + 1):
        codes = [ord(character) for character in text[position : position + neighbourhood]]
        value = 0
        for code in codes:
            value = (value * POWER + code) & ALL
        z = mix(value ^ mix(seed ^ GOLDEN))
        if z < (1 << 64) // compression:
            found.append((position, z & 0xFFFFFFFF))
    return found
