"""Arrays in files, and the memory of mapped files."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

AnyArray = npt.NDArray[Any]

_NOT_NEEDED = 4  # MADV_DONTNEED


def stored(array: AnyArray) -> AnyArray:
    """View an array in its stored layout: C order, little-endian."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def let_go(buffer: pa.Buffer) -> None:
    """Release the memory of a mapped file.

    Pages are read again on access. The buffer is a whole mapping. Some systems do not support it.
    """
    advise = _system_call()
    if advise is not None:
        advise(ctypes.c_void_p(buffer.address), ctypes.c_size_t(buffer.size), _NOT_NEEDED)


@cache
def _system_call() -> Callable[..., int] | None:
    """Return the system's ``madvise``, if it has one."""
    with contextlib.suppress(OSError, AttributeError):
        if sys.platform == "linux":
            return cast("Callable[..., int]", ctypes.CDLL(None).madvise)
    return None
