"""Load kernels compiled ahead, or compile them on call.

An installed neardup has a module ``_native`` with all kernels, built from these sources by the
repository's folder ``native``; Numba is not needed then. Numba compiles kernels on their first call
if the module is missing, if the sources around it have changed since, or with ``NEARDUP_JIT=1``,
``NUMBA_DISABLE_JIT`` or ``NUMBA_BOUNDSCHECK``.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from neardup.version import pip_install

F = TypeVar("F", bound=Callable[..., Any])

_FOLDER = Path(__file__).parent
_ASKED_FOR = ("NEARDUP_JIT", "NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")
# Level of processor instructions, such as "x86-64"; by default the best available.
_LEVEL = "NEARDUP_LEVEL"

_log = logging.getLogger("neardup.kernels")
_log.addHandler(logging.NullHandler())
announce: Callable[[str], None] = _log.warning
"""Receives a one-line message before Numba compiles kernels; commands show the log."""


def source_digest(folder: Path) -> str:
    """Return a digest of all sources of kernels."""
    digest = hashlib.sha256()
    for source in sorted(folder.rglob("[!_]*.py")):
        name = source.relative_to(folder).as_posix()
        digest.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def _load() -> tuple[dict[str, Callable[..., Any]] | None, str, str | None]:
    """Return the kernels compiled ahead and their level.

    The last result is the reason if there are none, None if compilation was requested.
    """
    if any(os.environ.get(name, "0") not in ("", "0") for name in _ASKED_FOR):
        return None, "on call", None
    if not any(_FOLDER.glob("_native.*so")):
        return None, "on call", "this installation has none that are compiled ahead"
    try:
        from neardup.kernels import _native
    except ImportError as error:
        return None, "on call", f"those compiled ahead cannot be loaded ({error})"
    # Files can only change in a source tree.
    is_source_tree = (_FOLDER.parents[2] / "pyproject.toml").exists()
    if is_source_tree and source_digest(_FOLDER) != _native.DIGEST:
        return None, "on call", "their sources have changed since they were compiled"
    if not _native.LEVELS:
        return None, "on call", "those compiled ahead are for a newer processor"
    level = os.environ.get(_LEVEL) or _native.LEVELS[0]
    try:
        return _native.kernels(level), level, None
    except ValueError as error:
        raise ImportError(f"{_LEVEL}: {error}", name="neardup.kernels") from None


COMPILED_AHEAD, LEVEL, _REASON = _load()
_UNCOMPILED: dict[Callable[..., Any], Callable[..., Any]] = {}


def kernel(function: F) -> F:
    """Compile a function for its annotated types.

    Annotations are types of ``kernels.arrays``, ``int`` (int64), a NumPy scalar type, or a named
    tuple of these. The function runs without the interpreter lock, and other kernels may call it.
    """
    if COMPILED_AHEAD is None:
        return cast("F", _on_call().kernel(function))
    name = f"{function.__module__.removeprefix('neardup.kernels.')}.{function.__qualname__}"
    if name not in COMPILED_AHEAD:
        message = f"kernel {name} is not among those compiled ahead; set NEARDUP_JIT=1"
        raise ImportError(message, name="neardup.kernels")
    made = COMPILED_AHEAD[name]
    _UNCOMPILED[made] = function
    return cast("F", made)


def uncompiled(made: F) -> F:
    """Return the Python function behind a kernel or helper."""
    return cast("F", getattr(made, "py_func", _UNCOMPILED.get(made, made)))


def helper(function: F) -> F:
    """Make a function callable from kernels, compiled once."""
    return function if COMPILED_AHEAD is not None else _on_call().helper(function)


def inlined(function: F) -> F:
    """Make a small function that its calling kernels inline.

    LLVM inlines it. Numba's own inlining infers the types of each copy anew: kernels took a third
    longer to compile, and ran no faster.
    """
    return function if COMPILED_AHEAD is not None else _on_call().inlined(function)


def _on_call() -> Any:
    try:
        from neardup.kernels import _on_call
    except ImportError as error:
        if error.name != "numba":
            raise
        why = f": {_REASON}" if _REASON else ""
        message = (
            f"kernels have to be compiled as they are called{why}; Numba does that, and is not "
            f"installed: {pip_install('jit')}"
        )
        raise ImportError(message, name="neardup.kernels") from None
    if _REASON is not None:
        message = f"kernels are compiled as they are called: {_REASON}"
        _on_call.BEFORE_FIRST[:] = [lambda: announce(message)]
    return _on_call


def _count_trailing_zeros(value: Any) -> int:
    number = int(value) | 1 << 64
    return (number & -number).bit_length() - 1


def _count_leading_zeros(value: Any) -> int:
    return 64 - int(value).bit_length()


def __getattr__(name: str) -> Callable[[Any], int]:
    """Return the function that counts trailing or leading zero bits.

    It returns 64 if no bit is set. Kernels use Numba's own functions.
    """
    if name not in _ZEROS:
        raise AttributeError(name)
    compiled = _on_call().ZERO_COUNTS if COMPILED_AHEAD is None else None
    return _ZEROS[name] if compiled is None else cast("Callable[[Any], int]", compiled[name])


_ZEROS = {"trailing_zeros": _count_trailing_zeros, "leading_zeros": _count_leading_zeros}
