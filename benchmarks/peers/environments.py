"""The peers' own virtual environments: ``python -m benchmarks.peers.environments`` makes them.

The peers are never installed beside neardup: their pinned dependencies must not decide ours.
py_stringsimjoin is in one of its own, because its last release needs older packages than the other
peers, and a compiler. Where it cannot be installed, the benchmarks do without.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.measuring.environments import Environment

# xxhash because datasketch's documentation advises a faster hash function than its SHA-1.
REQUIREMENTS = (
    "datasketch>=2,<3",
    "rensa==0.5.*",
    "gaoya",
    "SetSimilaritySearch==1.0.1",
    "rapidfuzz>=3.10",
    "pydivsufsort>=0.0.20",
    "orjson",
    "numpy",
    "xxhash",
)
PEERS = Environment(
    "peers",
    (REQUIREMENTS,),
    (
        "datasketch",
        "rensa",
        "gaoya",
        "SetSimilaritySearch",
        "rapidfuzz",
        "pydivsufsort",
        "orjson",
        "numpy",
        "xxhash",
    ),
)
STRINGSIMJOIN = Environment(
    "stringsimjoin",
    (
        ("setuptools<60", "wheel", "cython<3", "numpy<2", "pandas<2.3", "six", "joblib"),
        # Its build finds these only where it is not isolated.
        ("--no-build-isolation", "py_stringmatching", "py_stringsimjoin==0.3.6"),
    ),
    ("py_stringsimjoin", "py_stringmatching", "pandas", "numpy"),
)


def peer_versions(python: Path) -> dict[str, str]:
    """Return the versions of Python and of every peer in the environment of this Python."""
    packages, version = PEERS.versions(python)
    return {"python": version, **packages}


def prepare_stringsimjoin() -> Path | None:
    """Make the environment of py_stringsimjoin unless it is complete."""
    try:
        return STRINGSIMJOIN.prepare()
    except subprocess.CalledProcessError:
        return None


def main() -> None:
    """Make the environments and print their Pythons, and the peers' versions, as JSON."""
    argparse.ArgumentParser(description=main.__doc__).parse_args()
    python = PEERS.prepare()
    other = prepare_stringsimjoin()
    report = {
        "path": str(python),
        "versions": peer_versions(python),
        "stringsimjoin": None if other is None else str(other),
    }
    sys.stdout.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
