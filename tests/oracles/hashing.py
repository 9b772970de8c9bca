"""All hash functions in plain integers, written from their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ALL = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
POWER = 0xD6E8FEB86659FD93
DIGEST_LOW = 0xD1342543DE82EF95
DIGEST_HIGH = 0xAF251AF3B0F025B5


def mix(z: int) -> int:
    """Stafford's variant 13, the output function of SplitMix64."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & ALL
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & ALL
    return z ^ (z >> 31)


def hash_token(token: bytes) -> int:
    value = GOLDEN
    rest = token
    while len(rest) >= 8:
        value = mix(value ^ int.from_bytes(rest[:8], "little"))
        rest = rest[8:]
    last = rest.ljust(7, b"\0") + bytes([len(rest)])
    return mix(value ^ int.from_bytes(last, "little"))


def hash_shingle(tokens: Sequence[int]) -> int:
    m = len(tokens)
    total = sum(h * pow(POWER, m - i, 1 << 64) for i, h in enumerate(tokens, start=1))
    return mix((total + m * GOLDEN) & ALL)


def hash_shingles(tokens: Sequence[int], ngram: int) -> list[int]:
    if not tokens:
        return []
    if len(tokens) < ngram:
        return [hash_shingle(tokens)]
    return [hash_shingle(tokens[i : i + ngram]) for i in range(len(tokens) - ngram + 1)]


def number_occurrences(shingles: Iterable[int]) -> set[int]:
    seen: dict[int, int] = {}
    numbered = set()
    for shingle in shingles:
        copy = seen[shingle] = seen.get(shingle, 0) + 1
        numbered.add(shingle if copy == 1 else mix(shingle ^ mix(copy)))
    return numbered


def lane_masks(seed: int, lane: int) -> tuple[int, int]:
    """Give mask and even mask of a lane, counted from 0."""
    drawn = mix(mix(seed) ^ mix(lane + 1))
    return drawn >> 32, drawn & 0xFFFFFFFE


def lane_value(shingle: int, mask: int, even_mask: int) -> int:
    upper, odd = shingle >> 32, shingle & 0xFFFFFFFF | 1
    return (upper ^ mask) * (odd ^ even_mask) % (1 << 32)


def signature(shingles: Iterable[int], masks: Sequence[tuple[int, int]]) -> list[int]:
    elements = list(shingles)
    return [min((lane_value(s, *lane) for s in elements), default=2**32 - 1) for lane in masks]


def band_key(values: Sequence[int], band: int) -> int:
    key = mix(GOLDEN ^ band)
    for value in values:
        key = mix(key ^ value)
    return key


def digest(tokens: Sequence[int]) -> tuple[int, int]:
    low, high = GOLDEN, GOLDEN ^ ALL
    for token in tokens:
        low = (low ^ token) * DIGEST_LOW & ALL
        low ^= low >> 32
        high = (high ^ token) * DIGEST_HIGH & ALL
        high ^= high >> 29
    return mix(low ^ len(tokens)), mix(high ^ len(tokens))
