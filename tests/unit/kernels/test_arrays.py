from __future__ import annotations

from typing import Annotated, Generic, NamedTuple, TypeVar

import numba
import numpy as np
import numpy.typing as npt
import pytest

from neardup.kernels._on_call import signature_of
from neardup.kernels.arrays import ConstInt64s, Int64s, Layout, sealed
from tests.kernels.own_kernels import own_kernel

ElementT = TypeVar("ElementT")


class Elements(Generic[ElementT]):
    """As ``NDArray`` is from NumPy 2.5 on: its one argument is the type of its elements."""


def of_any_numpy(
    new: Annotated[Elements[np.uint16], Layout(2)],
    own: Annotated[npt.NDArray[np.uint16], Layout(2)],
) -> None:
    """Take two arrays of one type."""


class Pack(NamedTuple):
    given: ConstInt64s
    taken: Int64s
    factor: int


@own_kernel
def multiply(pack: Pack) -> None:
    for i in range(pack.given.shape[0]):
        pack.taken[i] = pack.given[i] * pack.factor


def make_pack():
    return Pack(np.arange(4, dtype=np.int64), np.zeros(4, np.int64), 3)


def test_signature__of_arrays():
    expected = numba.types.Array(numba.uint16, 2, "C")
    assert signature_of(of_any_numpy) == (expected, expected)


def test_sealed__read_only_where_declared():
    """Views, so that nothing is copied; what a kernel fills stays as it is."""
    pack = make_pack()
    found = sealed(pack)
    assert type(found) is Pack
    assert np.shares_memory(found.given, pack.given)
    assert not found.given.flags.writeable
    assert pack.given.flags.writeable
    assert found.taken is pack.taken
    assert found.factor == 3
    with pytest.raises(ValueError, match="read-only"):
        found.given[0] = 1


def test_kernel__takes_a_sealed_tuple():
    pack = sealed(make_pack())
    multiply(pack)
    assert pack.taken.tolist() == [0, 3, 6, 9]
    multiply(sealed(pack))
