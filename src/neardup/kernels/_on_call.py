"""How every kernel is compiled by Numba: for one signature, when it is first called or asked for.

A kernel that a job does not call is neither compiled nor loaded, whatever its module has besides.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.cpython.unsafe.numbers import leading_zeros, trailing_zeros

from neardup.kernels._cache import KernelCache, cache_folder, kept_kernels
from neardup.kernels.types import Int

F = TypeVar("F", bound=Callable[..., Any])

BEFORE_FIRST: list[Callable[[], None]] = []
"""What is done before the first kernel that is compiled in this process, if it is none kept."""

ZERO_COUNTS: dict[str, Any] | None = {
    "trailing_zeros": trailing_zeros,
    "leading_zeros": leading_zeros,
}
"""Numba's own, which only work compiled."""
if numba.config.DISABLE_JIT:
    ZERO_COUNTS = None


OPTIONS: dict[str, Any] = {"nogil": True}
"""Of all that is compiled."""


class Kernel:
    """A compiled function of one signature, that of its annotations.

    Annotations are those of ``kernels.types``, ``int`` (int64), a NumPy scalar type, or a
    named tuple of these. It runs without the interpreter lock, and other kernels may call it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = (
            f"{function.__module__.removeprefix('neardup.kernels.')}.{function.__qualname__}"
        )
        self.py_func = function
        self._compiled: Any = None
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return (self._compiled or self.compile())(*arguments)

    def compile(self) -> Any:
        """Return the dispatcher; its code is loaded from the cache, or compiled and kept there."""
        # Numba's own lock, which it takes to compile: a second one could be taken the other way
        # round by the thread that asks for a kernel while another kernel is compiled.
        with global_compiler_lock:
            if self._compiled is None:
                dispatcher = numba.njit(**OPTIONS)(self.py_func)
                if cache_folder() is not None:
                    # The only way to choose a folder.
                    dispatcher._cache = KernelCache(self.py_func)  # noqa: SLF001
                while BEFORE_FIRST and self.name not in kept_kernels():
                    BEFORE_FIRST.pop()()
                dispatcher.compile(signature_of(self.py_func))
                dispatcher.disable_compile()
                self._compiled = dispatcher
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks of a value that a kernel names."""
        return numba.types.Dispatcher(self.compile())


KERNELS: list[Kernel] = []
"""All kernels of the modules that were imported."""


def kernel(function: F) -> F:
    """Make a function a ``Kernel``, or leave it as it is where Numba is told not to compile."""
    if numba.config.DISABLE_JIT:
        return function
    made = Kernel(function)
    KERNELS.append(made)
    return cast("F", made)


def helper(function: F) -> F:
    """Make a function usable inside kernels as a function of its own; it is compiled once."""
    return cast("F", _as_declared(numba.njit(**OPTIONS)(function)))


def inlined(function: F) -> F:
    """Make a small function usable inside kernels; it becomes part of each kernel that calls it.

    LLVM puts it there. Numba's own inlining infers the types of each copy anew: kernels took a
    third longer to compile, and ran no faster.
    """
    return cast("F", _as_declared(numba.njit(**OPTIONS, forceinline=True)(function)))


def _as_declared(dispatcher: Any) -> Any:
    """Have a function compiled for the types that it declares, where Numba takes those of calls.

    Numba would compile it anew for a constant, for an array that may be written to and one that may
    not, for an integer of 32 and of 64 bits: every second function more than once.
    """
    if numba.config.DISABLE_JIT:
        return dispatcher
    find_template = dispatcher.get_call_template

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        _, given = dispatcher._compiler.fold_argument_types(arguments, keywords)  # noqa: SLF001
        declared = _annotations(dispatcher.py_func)
        return find_template(tuple(map(_parameter_type, given, declared)), {})

    dispatcher.get_call_template = get_call_template
    return dispatcher


def _parameter_type(given: Any, annotation: Any) -> Any:
    """Return the type for which a function is compiled that is called with a given one."""
    given = numba.types.unliteral(given)
    if annotation is Int and given in numba.types.signed_domain:
        return numba.int64
    if get_origin(annotation) is Annotated and get_args(annotation)[1].readonly:
        return given.copy(readonly=True)
    return given


def signature_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Translate the annotations of a function, or of a named tuple, to Numba's types."""
    return tuple(map(_argument_type, _annotations(function)))


def _annotations(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the annotations of a function's parameters, or of a named tuple's fields."""
    annotations = get_type_hints(function, include_extras=True)
    annotations.pop("return", None)
    return tuple(annotations.values())


def _argument_type(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, tuple):
        return numba.types.BaseTuple.from_types(signature_of(annotation), annotation)
    if get_origin(annotation) is not Annotated:
        return numba.int64 if annotation is int else numba.from_dtype(np.dtype(annotation))
    array, layout = get_args(annotation)
    element = get_args(get_args(array)[1])[0]
    scalar = numba.from_dtype(np.dtype(element))
    return numba.types.Array(scalar, layout.ndim, "C", readonly=layout.readonly)
