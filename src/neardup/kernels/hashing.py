"""The one mixer that all hashes are made of, and the hash of a byte string.

docs/hashing.md states these functions in full, with known-answer vectors.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from neardup.kernels._compile import inlined

T = TypeVar("T", np.uint64, npt.NDArray[np.uint64])

# Start value of every hash: the golden ratio in 64 bits, so that nothing hashes to zero by default.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)


def mix_words(z: T) -> T:
    """Scramble 64 bits into 64 bits, one to one (Stafford's variant 13, as in SplitMix64).

    Takes a NumPy uint64 or an array of them; under NumPy a product that wraps around may warn.
    """
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


# The same for use inside kernels.
mix64 = inlined(mix_words)


def function_seeds(seed: int, count: int) -> npt.NDArray[np.uint64]:
    """Give each of ``count`` hash functions a seed; more functions never change the first ones."""
    numbers = np.arange(1, count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        start = mix_words(np.uint64(seed) ^ GOLDEN)
        return mix_words(start + numbers * GOLDEN)


def hash_bytes(data: bytes) -> int:
    """Hash a byte string as ``kernels.tokens.hash_tokens`` hashes a token's."""
    whole = len(data) // 8 * 8
    words = [data[start : start + 8] for start in range(0, whole, 8)]
    rest = data[whole:]
    last = int.from_bytes(rest, "little") ^ len(rest) << 56
    value = GOLDEN
    with np.errstate(over="ignore"):
        for word in (*(int.from_bytes(word, "little") for word in words), last):
            value = mix_words(value ^ np.uint64(word))
    return int(value)
