"""The built wheel, and an environment that holds nothing but it and what it depends on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_checked(*command: object, cwd: Path | None = None) -> str:
    """Run a program that has to succeed, without a way back to the sources; return its output."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    arguments = [str(part) for part in command]
    result = subprocess.run(arguments, cwd=cwd, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source archive, and the wheel from that alone."""
    folder = tmp_path_factory.mktemp("dist")
    run_checked(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def python(wheel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of a new environment with the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    run_checked(sys.executable, "-m", "venv", folder)
    interpreter = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run_checked(interpreter, "-m", "pip", "install", "--quiet", wheel)
    return interpreter
