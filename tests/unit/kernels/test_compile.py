from __future__ import annotations

import numba
import numpy as np
import pytest

from neardup.kernels._compile import COMPILED_AHEAD, helper, inlined, kernel
from neardup.kernels.arrays import ConstInt64s, Int, Int32s, Int64s

pytestmark = pytest.mark.skipif(
    COMPILED_AHEAD is not None or numba.config.DISABLE_JIT, reason="nothing is compiled on call"
)


@pytest.mark.parametrize("decorate", [helper, inlined])
def test_helper__compiled_once_for_many_types(decorate):
    @decorate
    def element(values: ConstInt64s, place: Int) -> Int:
        return values[place]

    @kernel
    def total(values: ConstInt64s, writable: Int64s, places: Int32s) -> Int:
        n_values: Int = 0
        for place in places:
            n_values += element(values, 1) + element(writable, n_values) + element(values, place)
        return n_values

    three, place = np.array([10, 20, 30]), np.array([2], np.int32)
    assert total(three, three, place) == 20 + 10 + 30
    constant = numba.types.Array(numba.int64, 1, "C", readonly=True)
    assert element.signatures == [(constant, numba.int64)]


def test_helper__unsigned_stays_unsigned():
    @helper
    def half(value: Int) -> Int:
        return value >> np.uint64(1)

    @kernel
    def halves(value: np.uint64) -> np.uint64:
        return half(value)

    assert halves(np.uint64(2**64 - 2)) == 2**63 - 1
    assert half.signatures == [(numba.uint64,)]
