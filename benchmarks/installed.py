"""neardup alone in a virtual environment: what a user's ``pip install`` gives, nothing beside it.

Packages that lie around in a developer's environment change what is measured: some are imported
when they are there, and slow every start.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.packages import cache_folder, environment_versions, make_environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REPOSITORY = Path(__file__).resolve().parents[1]
NAMES = ("neardup", "numpy", "numba", "llvmlite", "pyarrow", "click", "rich", "fsspec")


def prepare() -> Path:
    """Install this repository into an environment of its own, again whenever its code changes.

    Returns
    -------
    The environment's Python.

    Raises
    ------
    subprocess.CalledProcessError
        If pip fails; what it said is on standard error.
    """
    return make_environment("installed", _source_digest(), [str(REPOSITORY)])


def environment() -> Mapping[str, str]:
    """Return variables for measured runs: compiled kernels go to the benchmarks' cache folder."""
    return {"NEARDUP_CACHE_DIR": str(cache_folder() / "compiled")}


def versions(python: Path) -> dict[str, object]:
    """Return the versions of Python and of the packages that neardup needs, as installed."""
    packages, version = environment_versions(python, NAMES)
    return {"python": version, "packages": packages}


def _source_digest() -> str:
    digest = hashlib.sha256()
    for path in _sources():
        name = path.relative_to(REPOSITORY).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    yield REPOSITORY / "pyproject.toml"
    yield from sorted((REPOSITORY / "src").rglob("*.py"))
