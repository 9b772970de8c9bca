"""Compile each kernel with Numba on its first use.

A kernel that a job does not call is neither compiled nor loaded.

Numba's own disk cache looks only at the file that holds a function, so it goes on using old machine
code after a helper in another file has changed, and by default it writes beside the source. Here
all kernels of one neardup version share a folder in the user's cache directory whose name is a
digest of everything that the machine code depends on: when anything changes, the folder does. Two
processes that race to fill it write the same bytes.
"""

from __future__ import annotations

import contextlib
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
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.cpython.unsafe.numbers import leading_zeros, trailing_zeros

from neardup.kernels.types import Int
from neardup.version import __version__

_KERNELS = Path(__file__).parent


@cache
def cache_folder() -> Path | None:
    """Return the machine code folder of this version, or None.

    A folder that is not writable is used if it was filled before, as in a container image: kernels
    in it are loaded, and the rest is compiled each time.
    """
    try:
        folder = _cache_root() / f"kernels-{_kernel_digest()}"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except RuntimeError:  # where the user has no home folder
        return None
    except OSError:
        return folder if _holds_code(folder) else None
    return folder


def _holds_code(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".nbi") for entry in entries)
    except OSError:
        return False


def kept_kernels() -> set[str]:
    """Return the names, ``room.module.function``, of the cached kernels."""
    folder = cache_folder()
    # Numba's names: module.function-room.module.py311.nbi
    files = () if folder is None else folder.glob("*-*.py*.nbi")
    names = (file.name.partition("-") for file in files)
    return {
        f"{rest[: rest.rindex('.py')]}.{function.partition('.')[2]}" for function, _, rest in names
    }


def _cache_root() -> Path:
    if explicit := os.environ.get("NEARDUP_CACHE_DIR"):
        return Path(explicit)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "neardup"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/neardup"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neardup"


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


class _KernelLocator(_CacheLocator):  # type: ignore[misc]
    """Locator of cached code, with a digest as version stamp."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_func = py_func
        self._py_file = py_file

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return _kernel_digest()

    def get_disambiguator(self) -> str:
        file = Path(self._py_file)
        known = file.relative_to(_KERNELS) if file.is_relative_to(_KERNELS) else Path(file.name)
        return ".".join(known.with_suffix("").parts)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _KernelLocator:
        return cls(py_func, py_file)


class _KernelCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_KernelLocator,)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """A cache whose failures cost a compilation, never the run."""

    _impl_class = _KernelCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever a damaged pickle raises
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


F = TypeVar("F", bound=Callable[..., Any])

BEFORE_FIRST: list[Callable[[], None]] = []
"""Functions to call before the first compilation of a kernel without cached code."""

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

    Annotations are types of ``kernels.types``, ``int`` (int64), a NumPy scalar type, or a named
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
