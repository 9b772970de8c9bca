"""The environment of py_stringsimjoin: ``python benchmarks/peers/stringsimjoin_environment.py``.

Its last release needs older packages than the other peers, and a compiler. Where it cannot be
installed, the benchmarks do without.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.packages import environment_versions, make_environment

BUILD = ("setuptools<60", "wheel", "cython<3", "numpy<2", "pandas<2.3", "six", "joblib")
# Its build finds these only where it is not isolated.
REQUIREMENTS = ("--no-build-isolation", "py_stringmatching", "py_stringsimjoin==0.3.6")
NAMES = ("py_stringsimjoin", "py_stringmatching", "pandas", "numpy")


def prepare() -> Path | None:
    """Make the environment unless it is complete.

    Returns
    -------
    The environment's Python; None if pip fails, which says why on standard error.
    """
    stamp = "\n".join(BUILD + REQUIREMENTS)
    try:
        return make_environment("stringsimjoin", stamp, BUILD, REQUIREMENTS)
    except subprocess.CalledProcessError:
        return None


def versions(python: Path) -> dict[str, str]:
    """Return the versions of the packages in the environment of this Python."""
    return environment_versions(python, NAMES)[0]


if __name__ == "__main__":
    sys.stdout.write(f"{prepare()}\n")
