"""The peers' own virtual environment: ``python benchmarks/peers/environment.py`` makes it.

The peers are never installed beside neardup: their pinned dependencies must not decide ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from packages import cache_folder

# xxhash because datasketch's documentation advises a faster hash function than its SHA-1.
REQUIREMENTS = ("datasketch>=2,<3", "rensa==0.5.*", "gaoya", "orjson", "numpy", "xxhash")
NAMES = ("datasketch", "rensa", "gaoya", "orjson", "numpy", "xxhash")

PRINT_VERSIONS = """
import importlib.metadata, json, platform, sys
found = {name: importlib.metadata.version(name) for name in sys.argv[1:]}
print(json.dumps({"python": platform.python_version(), **found}))
"""


def prepare() -> Path:
    """Make the environment unless it is complete.

    Returns
    -------
    The environment's Python.

    Raises
    ------
    subprocess.CalledProcessError
        If pip fails; what it said is on standard error.
    """
    folder = cache_folder() / "peers"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    complete = folder / "complete"
    if not complete.exists() or complete.read_text() != "\n".join(REQUIREMENTS):
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS]
        subprocess.run(command, check=True)
        complete.write_text("\n".join(REQUIREMENTS))
    return python


def versions(python: Path) -> dict[str, str]:
    """Return the versions of Python and of every peer in the environment of this Python."""
    command = [str(python), "-c", PRINT_VERSIONS, *NAMES]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def main() -> None:
    """Make the environment and print its Python and versions as JSON."""
    python = prepare()
    report = {"path": str(python), "versions": versions(python)}
    sys.stdout.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
