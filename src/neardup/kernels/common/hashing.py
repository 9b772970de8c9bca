"""Hashes and logarithms with equal bits on every machine.

Sampling by weight takes the floor of an expression with logarithms in it, so a last bit that
differs between two mathematical libraries would sometimes change a hash. The logarithm here uses
additions, subtractions, multiplications and divisions of 64-bit floating point, each rounded by
IEEE 754, in a fixed order; the compiler does not fuse or reorder them, and there are no branches,
so that loops over it become vector code.

docs/hashing.md states these functions in full, with known-answer vectors.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import (
    ConstBools,
    ConstBytes,
    ConstFloats,
    ConstInt64s,
    ConstUint64Rows,
    Floats,
    Int64s,
    Uint64Rows,
    Uint64s,
)

T = TypeVar("T", np.uint64, npt.NDArray[np.uint64])

# Start value of every hash: the golden ratio in 64 bits, so that nothing hashes to zero by default.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)


def mix_words(z: T) -> T:
    """Scramble 64 bits one to one by Stafford's variant 13.

    It takes a NumPy uint64 or an array; NumPy may warn of a product that wraps around.
    """
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


# The same for use inside kernels.
mix64 = inlined(mix_words)


def function_seeds(seed: int, count: int) -> npt.NDArray[np.uint64]:
    """Return the first ``count`` seeds of hash functions."""
    numbers = np.arange(1, count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        start = mix_words(np.uint64(seed) ^ GOLDEN)
        return mix_words(start + numbers * GOLDEN)


def hash_bytes(data: bytes) -> int:
    """Hash a byte string as ``kernels.text.tokens.hash_tokens`` hashes a token's."""
    whole = len(data) // 8 * 8
    words = [data[start : start + 8] for start in range(0, whole, 8)]
    rest = data[whole:]
    last = int.from_bytes(rest, "little") ^ len(rest) << 56
    value = GOLDEN
    with np.errstate(over="ignore"):
        for word in (*(int.from_bytes(word, "little") for word in words), last):
            value = mix_words(value ^ np.uint64(word))
    return int(value)


_52, _FRACTION = np.uint64(52), np.uint64(0x000FFFFFFFFFFFFF)
# Upper half of the bits of sqrt(1/2), and its difference from the bits of 1.
_LEAST = np.uint64(0x3FE6A09E00000000)
_TO_ONE = np.uint64(0x3FF0000000000000) - _LEAST

# ln 2 in two parts; the first has 21 zero bits at its end, so that its product with an exponent is
# exact.
_LN2_HIGH = np.float64(float.fromhex("0x1.62e42feep-1"))
_LN2_LOW = np.float64(float.fromhex("0x1.a39ef35793c76p-33"))

# Coefficients of fdlibm for ln((1 + s) / (1 - s)) - 2 s = s * (L1 s^2 + L2 s^4 + ... + L7 s^14).
_L1 = np.float64(float.fromhex("0x1.5555555555593p-1"))
_L2 = np.float64(float.fromhex("0x1.999999997fa04p-2"))
_L3 = np.float64(float.fromhex("0x1.2492494229359p-2"))
_L4 = np.float64(float.fromhex("0x1.c71c51d8e78afp-3"))
_L5 = np.float64(float.fromhex("0x1.7466496cb03dep-3"))
_L6 = np.float64(float.fromhex("0x1.39a09d078c69fp-3"))
_L7 = np.float64(float.fromhex("0x1.2f112df3e5244p-3"))


@inlined
def ln(x: np.float64) -> np.float64:
    """Return the natural logarithm of a positive, finite, normal number.

    x = 2^n * (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), s = f / (2 + f), and then ln(1 + f) = f -
    f^2/2 + s * (f^2/2 + L1 s^2 + L2 s^4 + ...), as in fdlibm. The error is less than one last bit.
    Zero, subnormal numbers, infinity and NaN give some number, never an error.
    """
    bits = np.float64(x).view(np.uint64) + _TO_ONE
    n = np.float64(np.int64(bits >> _52) - np.int64(1023))
    f = np.uint64((bits & _FRACTION) + _LEAST).view(np.float64) - 1.0
    # NumPy's division, because the plain one looks out for zero, and that is a branch.
    s = np.divide(f, 2.0 + f)
    z = s * s
    w = z * z
    odd = z * (_L1 + w * (_L3 + w * (_L5 + w * _L7)))
    even = w * (_L2 + w * (_L4 + w * _L6))
    half = 0.5 * f * f
    low = s * (half + (odd + even)) + n * _LN2_LOW
    return np.float64(n * _LN2_HIGH - ((half - low) - f))


@kernel
def logarithms(values: ConstFloats, results: Floats) -> None:
    """Compute logarithms, minus infinity for zero and negative values."""
    for i in range(values.shape[0]):
        results[i] = ln(values[i]) if values[i] > 0.0 else -np.inf


@kernel
def hash_strings(data: ConstBytes, offsets: ConstInt64s, hashes: Uint64s) -> None:
    """Hash every string, byte for byte, as ``hashing.hash_bytes`` does.

    String i is ``data[offsets[i] : offsets[i + 1]]``; ``hashes`` takes a value for each.
    """
    for i in range(offsets.shape[0] - 1):
        h, word, n_bytes = GOLDEN, np.uint64(0), np.uint64(0)
        for k in range(offsets[i], offsets[i + 1]):
            word |= np.uint64(data[np.uint64(k)]) << (n_bytes << np.uint64(3))
            n_bytes += np.uint64(1)
            if n_bytes == np.uint64(8):
                h, word, n_bytes = mix64(h ^ word), np.uint64(0), np.uint64(0)
        hashes[i] = mix64(h ^ word ^ (n_bytes << np.uint64(56)))


@kernel
def number_digests(
    slots: Int64s,
    known: Uint64Rows,
    n_known: int,
    digests: ConstUint64Rows,
    wanted: ConstBools,
    numbers: Int64s,
) -> int:
    """Look up wanted digests, add new ones, and return ``n_known``.

    ``slots`` is an open hash table of positions in ``known``, -1 where free; its length is a power
    of two and at least twice the number of digests that it will hold. ``known`` has a row free for
    every digest that may be new. ``numbers`` receives each digest's row, -1 where not wanted.
    """
    mask = slots.shape[0] - 1
    for d in range(digests.shape[0]):
        if not wanted[d]:
            numbers[d] = -1
            continue
        low, high = digests[d, 0], digests[d, 1]
        slot = np.int64(low) & mask
        while slots[slot] >= 0 and (known[slots[slot], 0] != low or known[slots[slot], 1] != high):
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = n_known
            known[n_known, 0] = low
            known[n_known, 1] = high
            n_known += 1
        numbers[d] = slots[slot]
    return n_known


@kernel
def rebuild_slots(
    slots: Int64s,
    known: ConstUint64Rows,
    n_known: int,
) -> None:
    """Fill an empty hash table (all -1) with distinct digests."""
    mask = slots.shape[0] - 1
    for number in range(n_known):
        slot = np.int64(known[number, 0]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
