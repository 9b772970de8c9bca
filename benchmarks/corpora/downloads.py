"""Packages of the package index that hold text, downloaded into the cache folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measuring.environments import cache_folder


def download(name: str, version: str, *, from_source: bool = False) -> Path:
    """Fetch one release of a package from the package index."""
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


def _archives(folder: Path, name: str, version: str) -> list[Path]:
    """List the archives of one release; names on disk may have underscores for dashes."""
    spelled = name.replace("-", "?")
    return [
        path
        for pattern in (f"{spelled}-{version}.tar.gz", f"{spelled}-{version}-*.whl")
        for path in sorted(folder.glob(pattern))
    ]
