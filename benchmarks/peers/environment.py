"""The peers' own virtual environment: ``python benchmarks/peers/environment.py`` makes it.

The peers are never installed beside neardup: their pinned dependencies must not decide ours.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.packages import environment_versions, make_environment

# xxhash because datasketch's documentation advises a faster hash function than its SHA-1.
REQUIREMENTS = (
    "datasketch>=2,<3",
    "rensa==0.5.*",
    "gaoya",
    "SetSimilaritySearch==1.0.1",
    "rapidfuzz>=3.10",
    "orjson",
    "numpy",
    "xxhash",
)
NAMES = (
    "datasketch",
    "rensa",
    "gaoya",
    "SetSimilaritySearch",
    "rapidfuzz",
    "orjson",
    "numpy",
    "xxhash",
)


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
    return make_environment("peers", "\n".join(REQUIREMENTS), REQUIREMENTS)


def versions(python: Path) -> dict[str, str]:
    """Return the versions of Python and of every peer in the environment of this Python."""
    packages, version = environment_versions(python, NAMES)
    return {"python": version, **packages}


def main() -> None:
    """Make the environment and print its Python and versions as JSON."""
    python = prepare()
    report = {"path": str(python), "versions": versions(python)}
    sys.stdout.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
