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
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from neardup import __version__

if numba.config.DISABLE_JIT:

    def trailing_zeros(value: Any) -> int:
        """Count the zero bits below the lowest set bit, 64 if none; Numba's own is compiled only."""
        number = int(value) | 1 << 64
        return (number & -number).bit_length() - 1
else:
    from numba.cpython.unsafe.numbers import trailing_zeros

F = TypeVar("F", bound=Callable[..., Any])

_KERNELS = Path(__file__).parent


def kernel(signature: str) -> Callable[[F], F]:
    """Compile a function over arrays for one signature, without the interpreter lock.

    Array arguments are written ``u1[]`` (one dimension), ``u8[,]`` (two), with a leading ``const``
    where the kernel only reads them; Arrow buffers are read-only and are accepted only there.
    """

    def decorate(function: F) -> F:
        if numba.config.DISABLE_JIT:
            return function
        dispatcher = numba.njit(nogil=True)(function)
        folder = cache_folder()
        if folder is not None:
            dispatcher._cache = _KernelCache(function)  # noqa: SLF001 - the only way to choose a folder
        dispatcher.compile(tuple(_argument_type(word) for word in signature.split()))
        dispatcher.disable_compile()
        return cast("F", dispatcher)

    return decorate


def inlined(function: F) -> F:
    """Make a small function usable inside kernels; it becomes part of each kernel that calls it."""
    return cast("F", numba.njit(inline="always")(function))


def _argument_type(word: str) -> Any:
    """Translate one word of a signature, such as ``u8``, ``u1[]`` or ``const-u4[,]``."""
    readonly = word.startswith("const-")
    scalar_name, _, dimensions = word.removeprefix("const-").partition("[")
    scalar = getattr(numba, scalar_name)
    if not dimensions:
        return scalar
    return numba.types.Array(scalar, 1 + dimensions.count(","), "C", readonly=readonly)


@cache
def cache_folder() -> Path | None:
    """Folder for the machine code of this version of the kernels; None where none is writable."""
    folder = _cache_root() / f"kernels-{_kernel_digest()}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return None
    return folder


def is_compiled() -> bool:
    """Whether machine code of this version is on disk, so that kernels load at once."""
    folder = cache_folder()
    return bool(numba.config.DISABLE_JIT) or (
        folder is not None and any(folder.glob("*.nbi"))
    )


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
        except Exception:  # noqa: BLE001 - whatever a damaged pickle raises
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
