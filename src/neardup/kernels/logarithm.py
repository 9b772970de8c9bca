"""The natural logarithm, with the same bits on every machine.

Sampling by weight takes the floor of an expression with logarithms in it, so a last bit that
differs between two mathematical libraries would, now and then, be another hash. This one is made of
additions, subtractions, multiplications and divisions of 64-bit floating point, each rounded as
IEEE 754 says, in a fixed order; the compiler does not fuse or reorder them, and there are no
branches, so that loops over it become vector code.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import ConstFloats, Floats

_52, _FRACTION = np.uint64(52), np.uint64(0x000FFFFFFFFFFFFF)
# Upper half of the bits of sqrt(1/2), and what takes it to those of 1.
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
    """Natural logarithm of a positive, finite, normal number; off by less than one last bit.

    x = 2^n * (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), s = f / (2 + f), and then
    ln(1 + f) = f - f^2/2 + s * (f^2/2 + L1 s^2 + L2 s^4 + ...), as in fdlibm. Nothing else is
    allowed as x: zero, subnormal numbers, infinity and NaN give some number, never an error.
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
    """Take the logarithm of each value; that of zero and of negative ones is minus infinity."""
    for i in range(values.shape[0]):
        results[i] = ln(values[i]) if values[i] > 0.0 else -np.inf
