"""How every kernel is compiled, and where its machine code is kept between runs.

Numba's own disk cache looks only at the file that holds a function, so it goes on using old
machine code after a helper in another file has changed, and by default it writes beside the
source. Here all kernels of one neardup version share a folder in the user's cache directory whose
name is a digest of everything that the machine code depends on: when anything changes, the folder
does. Every kernel has one explicit signature, so it is compiled (or loaded) when its module is
imported, and two processes that race to fill the cache write the same bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.cpython.unsafe.numbers import leading_zeros as compiled_leading_zeros
from numba.cpython.unsafe.numbers import trailing_zeros as compiled_trailing_zeros

from neardup.version import __version__


def _count_trailing_zeros(value: Any) -> int:
    number = int(value) | 1 << 64
    return (number & -number).bit_length() - 1


def _count_leading_zeros(value: Any) -> int:
    return 64 - int(value).bit_length()


# Count the zero bits below the lowest set bit, or above the highest; 64 if there is none. Numba's
# work only compiled.
trailing_zeros: Callable[[Any], int] = (
    _count_trailing_zeros if numba.config.DISABLE_JIT else compiled_trailing_zeros
)
leading_zeros: Callable[[Any], int] = (
    _count_leading_zeros if numba.config.DISABLE_JIT else compiled_leading_zeros
)

F = TypeVar("F", bound=Callable[..., Any])

_KERNELS = Path(__file__).parent


def kernel(function: F) -> F:
    """Compile a function for the types of its annotations, to run without the interpreter lock.

    Annotations are those of ``kernels.types``, ``int`` (int64), a NumPy scalar type, or a named
    tuple of these.
    """
    if numba.config.DISABLE_JIT:
        return function
    dispatcher = numba.njit(nogil=True)(function)
    if cache_folder() is not None:
        dispatcher._cache = _KernelCache(function)  # noqa: SLF001 - the only way to choose a folder
    dispatcher.compile(_signature(function))
    dispatcher.disable_compile()
    return cast("F", dispatcher)


def helper(function: F) -> F:
    """Make a function usable inside kernels as a function of its own, compiled once for each."""
    return cast("F", numba.njit(nogil=True)(function))


def inlined(function: F) -> F:
    """Make a small function usable inside kernels; it becomes part of each kernel that calls it."""
    return cast("F", numba.njit(inline="always")(function))


def _signature(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Translate the annotations of a function, or of a named tuple, to Numba's types."""
    annotations = get_type_hints(function, include_extras=True)
    annotations.pop("return", None)
    return tuple(_argument_type(annotation) for annotation in annotations.values())


def _argument_type(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, tuple):
        return numba.types.BaseTuple.from_types(_signature(annotation), annotation)
    if get_origin(annotation) is not Annotated:
        return numba.int64 if annotation is int else numba.from_dtype(np.dtype(annotation))
    array, layout = get_args(annotation)
    element = get_args(get_args(array)[1])[0]
    scalar = numba.from_dtype(np.dtype(element))
    return numba.types.Array(scalar, layout.ndim, "C", readonly=layout.readonly)


@cache
def cache_folder() -> Path | None:
    """Folder for the machine code of this version of the kernels; None where none is writable."""
    try:
        folder = _cache_root() / f"kernels-{_kernel_digest()}"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):  # the latter where the user has no home folder
        return None
    return folder


def is_compiled() -> bool:
    """Whether machine code of this version is on disk, so that kernels load at once."""
    folder = cache_folder()
    return bool(numba.config.DISABLE_JIT) or (folder is not None and any(folder.glob("*.nbi")))


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
    """Digest of all that the machine code depends on: sources, versions, processor features."""
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
    for source in sorted(_KERNELS.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


class _KernelLocator(_CacheLocator):  # type: ignore[misc]
    """Tells Numba to keep a kernel's code in our folder; the folder's name is the version stamp."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_func = py_func
        self._py_file = py_file

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return _kernel_digest()

    def get_disambiguator(self) -> str:
        return Path(self._py_file).stem

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _KernelLocator:
        return cls(py_func, py_file)


class _KernelCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_KernelLocator,)


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """A cache that may fail: a full disk or a damaged file costs a compilation, never the run."""

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
