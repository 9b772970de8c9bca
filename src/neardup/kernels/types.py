"""Types of kernel arguments, for the reader, the type checker and the compiler alike.

``Uint64s`` is a one-dimensional C-contiguous array, ``Uint64Rows`` a two-dimensional one; the
``Const`` forms are those that a kernel only reads, and which may lie in Arrow's read-only memory.
Whole numbers are ``int`` (int64 when compiled); ``Int`` is what helpers inside kernels take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Layout:
    """What the compiler needs to know of an array beyond its element type."""

    ndim: int = 1
    readonly: bool = False


Int = int | np.int64

_ROWS, _CONST, _CONST_ROWS = Layout(2), Layout(readonly=True), Layout(2, readonly=True)

Bytes = Annotated[npt.NDArray[np.uint8], Layout()]
Int32s = Annotated[npt.NDArray[np.int32], Layout()]
Int64s = Annotated[npt.NDArray[np.int64], Layout()]
Uint32s = Annotated[npt.NDArray[np.uint32], Layout()]
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
ConstUint32s = Annotated[npt.NDArray[np.uint32], _CONST]
ConstUint64s = Annotated[npt.NDArray[np.uint64], _CONST]
ConstFloats = Annotated[npt.NDArray[np.float64], _CONST]
ConstInt32Rows = Annotated[npt.NDArray[np.int32], _CONST_ROWS]
ConstInt64Rows = Annotated[npt.NDArray[np.int64], _CONST_ROWS]
ConstUint16Rows = Annotated[npt.NDArray[np.uint16], _CONST_ROWS]
ConstUint32Rows = Annotated[npt.NDArray[np.uint32], _CONST_ROWS]
ConstUint64Rows = Annotated[npt.NDArray[np.uint64], _CONST_ROWS]
