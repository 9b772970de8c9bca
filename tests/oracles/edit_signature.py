"""Coates' signatures, window by window."""

from __future__ import annotations

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
