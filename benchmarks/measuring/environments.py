"""Cache folder, and virtual environments in it for neardup alone and for peers.

neardup is measured as a user's ``pip install`` gives it, with nothing beside it: packages that lie
around in a developer's environment change what is measured. Some are imported when they are there,
and slow every start.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
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
    """
    named = os.environ.get(CACHE_VARIABLE)
    folder = Path(named) if named else REPOSITORY / "benchmarks" / ".data"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclass(frozen=True)
class Environment:
    """A virtual environment in the cache folder.

    ``steps`` are what pip installs, one call after another; ``reported`` the packages whose
    versions go into the results.
    """

    name: str
    steps: tuple[tuple[str, ...], ...]
    reported: tuple[str, ...]

    def prepare(self, stamp: str | None = None) -> Path:
        """Make the environment unless it is complete, and again whenever its stamp changes."""
        if stamp is None:
            stamp = "\n".join(name for step in self.steps for name in step)
        folder = cache_folder() / self.name
        python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        complete = folder / "complete"
        if not complete.exists() or complete.read_text() != stamp:
            venv.create(folder, with_pip=True, clear=True)
            for requirements in self.steps:
                command = [str(python), "-m", "pip", "install", "--quiet", *requirements]
                subprocess.run(command, check=True)
            complete.write_text(stamp)
        return python

    def versions(self, python: Path) -> tuple[dict[str, str], str]:
        """Return the versions of the reported packages, and that of Python, as installed."""
        command = [str(python), "-c", PRINT_VERSIONS, *self.reported]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        packages, version = json.loads(done.stdout)
        return packages, version


NEARDUP = Environment(
    "installed",
    # Those of other algorithms have kernels of their own, which are compiled as they are called.
    ((f"{REPOSITORY}[jit]",),),
    ("neardup", "numpy", "numba", "llvmlite", "pyarrow", "click", "rich", "fsspec"),
)


def prepare_neardup() -> Path:
    """Install this repository into an environment of its own, again whenever its code changes."""
    digest = hashlib.sha256()
    for path in _sources():
        name = path.relative_to(REPOSITORY).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return NEARDUP.prepare(digest.hexdigest())


def _sources() -> Iterator[Path]:
    yield REPOSITORY / "pyproject.toml"
    yield from sorted((REPOSITORY / "src").rglob("*.py"))
    yield from sorted((REPOSITORY / "native").glob("*.*"))
