"""Types of kernel arguments for readers, checkers and compilers.

``Uint64s`` is a one-dimensional C-contiguous array, ``Uint64Rows`` a two-dimensional one; kernels
only read the ``Const`` forms, which may lie in Arrow's read-only memory. Whole numbers are ``int``
(int64 when compiled); ``Int`` is for helpers inside kernels. Arguments that belong together are
named tuples of these, passed through ``sealed``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Layout:
    """Compiler's knowledge of an array beyond its element type."""

    ndim: int = 1
    readonly: bool = False


T = TypeVar("T", bound=tuple[Any, ...])

Int = int | np.int64

_ROWS, _CONST, _CONST_ROWS = Layout(2), Layout(readonly=True), Layout(2, readonly=True)

Bools = Annotated[npt.NDArray[np.bool_], Layout()]
Bytes = Annotated[npt.NDArray[np.uint8], Layout()]
Int32s = Annotated[npt.NDArray[np.int32], Layout()]
Int64s = Annotated[npt.NDArray[np.int64], Layout()]
Uint32s = Annotated[npt.NDArray[np.uint32], Layout()]
Uint16s = Annotated[npt.NDArray[np.uint16], Layout()]
Uint16Rows = Annotated[npt.NDArray[np.uint16], _ROWS]
Uint64s = Annotated[npt.NDArray[np.uint64], Layout()]
Floats = Annotated[npt.NDArray[np.float64], Layout()]
FloatRows = Annotated[npt.NDArray[np.float64], _ROWS]
Int32Rows = Annotated[npt.NDArray[np.int32], _ROWS]
Int64Rows = Annotated[npt.NDArray[np.int64], _ROWS]
Uint32Rows = Annotated[npt.NDArray[np.uint32], _ROWS]
Uint64Rows = Annotated[npt.NDArray[np.uint64], _ROWS]
ConstBools = Annotated[npt.NDArray[np.bool_], _CONST]
ConstBytes = Annotated[npt.NDArray[np.uint8], _CONST]
ConstInt32s = Annotated[npt.NDArray[np.int32], _CONST]
ConstInt64s = Annotated[npt.NDArray[np.int64], _CONST]
ConstNumbers = Annotated[npt.NDArray[Any], _CONST]
ConstUint32s = Annotated[npt.NDArray[np.uint32], _CONST]
ConstUint64s = Annotated[npt.NDArray[np.uint64], _CONST]
ConstFloats = Annotated[npt.NDArray[np.float64], _CONST]
ConstInt32Rows = Annotated[npt.NDArray[np.int32], _CONST_ROWS]
ConstInt64Rows = Annotated[npt.NDArray[np.int64], _CONST_ROWS]
ConstUint16Rows = Annotated[npt.NDArray[np.uint16], _CONST_ROWS]
ConstUint32Rows = Annotated[npt.NDArray[np.uint32], _CONST_ROWS]
ConstUint64Rows = Annotated[npt.NDArray[np.uint64], _CONST_ROWS]


def sealed(arguments: T) -> T:
    """Return kernel arguments with read-only ``Const`` arrays.

    The arrays are views of the given arrays. Numba treats an array parameter as read-only if so
    declared, but in a field of a named tuple it needs the exact type.
    """
    values = zip(arguments, _hints_of(type(arguments)), strict=True)
    return type(arguments)(*(_as_declared(value, hint) for value, hint in values))


@cache
def _hints_of(kind: type) -> tuple[Any, ...]:
    return tuple(get_type_hints(kind, include_extras=True).values())


def _as_declared(value: Any, hint: Any) -> Any:
    if get_origin(hint) is not Annotated or not get_args(hint)[1].readonly:
        return value
    view = value.view()
    view.flags.writeable = False
    return view
