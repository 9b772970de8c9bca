"""Compile each kernel with Numba on its first use.

A kernel that a job does not call is neither compiled nor loaded.

Numba's disk cache looks only at the file that holds a function, so it would go on using old machine
code after a helper in another file has changed. All kernels of one neardup version therefore share
a folder in the user's cache directory, with a digest of everything that the machine code depends on
as its name: when anything changes, the folder does.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from functools import cache, update_wrapper
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numba
import numpy as np
from numba.core import typed_passes, untyped_passes
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.cpython.unsafe.numbers import leading_zeros, trailing_zeros

from neardup.kernels.arrays import Int
from neardup.version import __version__

_KERNELS = Path(__file__).parent


@cache
def cache_folder() -> Path | None:
    """Return the writable machine code folder, or None."""
    default = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    root = os.environ.get("NEARDUP_CACHE_DIR") or f"{default}/neardup"
    try:
        folder = Path(root).expanduser() / f"kernels-{_kernel_digest()}"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # the latter where the user has no home folder
        return None


@cache
def _kernel_digest() -> str:
    """Return a digest of sources, versions and processor features."""
    digest = hashlib.sha256()
    codegen = numba.core.registry.cpu_target.target_context.codegen()
    facts = [
        __version__,
        numba.__version__,
        sys.version,
        platform.machine(),
        str(codegen.magic_tuple()),
        str(numba.config.BOUNDSCHECK),
        str(numba.config.OPT),
    ]
    digest.update("\0".join(facts).encode())
    for source in sorted(_KERNELS.rglob("*.py")):
        name = source.relative_to(_KERNELS).as_posix()
        digest.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


F = TypeVar("F", bound=Callable[..., Any])

BEFORE_FIRST: list[Callable[[], None]] = []
"""Functions to call before the first compilation of a kernel if no code is cached."""

ZERO_COUNTS: dict[str, Any] | None = {
    "trailing_zeros": trailing_zeros,
    "leading_zeros": leading_zeros,
}
"""Numba's functions, which only work compiled."""
if numba.config.DISABLE_JIT:
    ZERO_COUNTS = None


class _Passes(CompilerBase):  # type: ignore[misc]
    """Numba's passes that kernels need.

    The other passes are for closures, calls inlined as Python, branches on constants and
    expressions of whole arrays. They took an eighth of the time and changed next to nothing.
    """

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("kernels")
        for each in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            untyped_passes.IRProcessing,
            untyped_passes.RewriteDynamicRaises,
            untyped_passes.ReconstructSSA,
            typed_passes.NopythonTypeInference,
            typed_passes.PreLowerStripPhis,
            typed_passes.IRLegalization,
            typed_passes.AnnotateTypes,
            typed_passes.NativeLowering,
            typed_passes.NoPythonBackend,
        ):
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


OPTIONS: dict[str, Any] = {"nogil": True, "pipeline_class": _Passes}
"""Options of all compiled functions."""


class Kernel:
    """A compiled function with the single signature of its annotations.

    Annotations are types of ``kernels.arrays``, ``int`` (int64), a NumPy scalar type, or a named
    tuple of these. It runs without the interpreter lock, and other kernels may call it.
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
        """Return the dispatcher, loaded from the cache or compiled."""
        # Numba's own lock, which it takes to compile: a second one could be taken the other way
        # round by the thread that asks for a kernel while another kernel is compiled.
        with global_compiler_lock:
            if self._compiled is None:
                folder = cache_folder()
                numba.config.CACHE_DIR = str(folder)
                dispatcher = numba.njit(**OPTIONS, cache=folder is not None)(self.py_func)
                is_filled = folder is not None and any(folder.rglob("*.nbi"))
                if BEFORE_FIRST and not is_filled:
                    BEFORE_FIRST.pop()()
                dispatcher.compile(signature_of(self.py_func))
                dispatcher.disable_compile()
                self._compiled = dispatcher
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        """Type of the kernel as a value in other kernels."""
        return numba.types.Dispatcher(self.compile())


KERNELS: list[Kernel] = []
"""All kernels of the modules that were imported."""


def kernel(function: F) -> F:
    """Make a function a ``Kernel`` unless Numba is disabled."""
    if numba.config.DISABLE_JIT:
        return function
    made = Kernel(function)
    KERNELS.append(made)
    return cast("F", made)


def helper(function: F) -> F:
    """Make a function callable from kernels, compiled once."""
    # Otherwise Numba would inline it everywhere if an inlined function is the first to call it.
    return cast("F", _as_declared(numba.njit(**OPTIONS, forceinline=False)(function)))


def inlined(function: F) -> F:
    """Make a small function that its calling kernels inline.

    LLVM inlines it. Numba's own inlining infers the types of each copy anew: kernels took a third
    longer to compile, and ran no faster.
    """
    return cast("F", _as_declared(numba.njit(**OPTIONS, forceinline=True)(function)))


def _as_declared(dispatcher: Any) -> Any:
    """Compile a function for its declared types only.

    Numba would compile it anew for a constant, for writable and read-only arrays, and for integers
    of 32 and of 64 bits: every second function more than once.
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
    """Return the compiled type of a parameter in a call."""
    given = numba.types.unliteral(given)
    if annotation is Int and given in numba.types.signed_domain:
        return numba.int64
    if get_origin(annotation) is Annotated and get_args(annotation)[1].readonly:
        return given.copy(readonly=True)
    return given


def signature_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Translate annotations of a function or named tuple for Numba."""
    return tuple(map(_argument_type, _annotations(function)))


def _annotations(function: Callable[..., Any]) -> tuple[Any, ...]:
    annotations = get_type_hints(function, include_extras=True)
    annotations.pop("return", None)
    return tuple(annotations.values())


def _argument_type(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, tuple):
        return numba.types.BaseTuple.from_types(signature_of(annotation), annotation)
    if get_origin(annotation) is not Annotated:
        return numba.int64 if annotation is int else numba.from_dtype(np.dtype(annotation))
    array, layout = get_args(annotation)
    # The last argument of NDArray is its element type, before NumPy 2.5 nested in its dtype.
    element = get_args(array)[-1]
    scalar = numba.from_dtype(np.dtype(*(get_args(element) or (element,))))
    return numba.types.Array(scalar, layout.ndim, "C", readonly=layout.readonly)
