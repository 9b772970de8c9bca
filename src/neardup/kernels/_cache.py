"""Where the machine code of kernels is kept between runs, and until when.

Numba's own disk cache looks only at the file that holds a function, so it goes on using old
machine code after a helper in another file has changed, and by default it writes beside the
source. Here all kernels of one neardup version share a folder in the user's cache directory whose
name is a digest of everything that the machine code depends on: when anything changes, the folder
does. Two processes that race to fill it write the same bytes.
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
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from neardup.version import __version__

_KERNELS = Path(__file__).parent


@cache
def cache_folder() -> Path | None:
    """Folder for the machine code of this version of the kernels.

    None where none is writable, unless somebody has filled it before, as in the image of a
    container: then what is in it is loaded, and the rest compiled each time.
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
    """Return the names of the kernels, as ``room.module.function``, whose code the folder has."""
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
    for source in sorted(_KERNELS.rglob("*.py")):
        name = source.relative_to(_KERNELS).as_posix()
        digest.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
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
        file = Path(self._py_file)
        known = file.relative_to(_KERNELS) if file.is_relative_to(_KERNELS) else Path(file.name)
        return ".".join(known.with_suffix("").parts)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _KernelLocator:
        return cls(py_func, py_file)


class _KernelCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_KernelLocator,)


class KernelCache(FunctionCache):  # type: ignore[misc]
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
