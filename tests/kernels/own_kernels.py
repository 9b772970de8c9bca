"""Kernels that tests have of their own, to call helpers of neardup's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from neardup.kernels._compile import COMPILED_AHEAD, kernel

F = TypeVar("F", bound=Callable[..., Any])


def own_kernel(function: F) -> F:
    """Make a function a kernel; it stays as it is where neardup's own were compiled ahead.

    Helpers are plain Python there. The gate has these tests run compiled as well.
    """
    return kernel(function) if COMPILED_AHEAD is None else function
