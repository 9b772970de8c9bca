"""The built wheel holds the package and nothing else, works alone, and has types for its users."""

from __future__ import annotations

import json
import sys
import zipfile

import pytest

import neardup
from tests.wheel.conftest import ROOT, run_checked

PROGRAM = ROOT / "tests/wheel/user_program.py"

pytestmark = pytest.mark.wheel


def test_wheel__holds_the_package_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    expected = {
        str(path.relative_to(source).as_posix())
        for path in (source / "neardup").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    beside = {name for name in names if ".dist-info/" in name or ".data/" in name}
    assert names - beside == expected
    manual = {path.name for path in (ROOT / "docs/man").iterdir()}
    shared = {name for name in beside if ".data/" in name}
    assert {name.partition("/data/share/man/man1/")[2] for name in shared} == manual
    assert "neardup/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_wheel__and_source_archive_pass_the_checks_of_the_index(wheel):
    archives = sorted(wheel.parent.iterdir())
    assert [path.name.endswith((".whl", ".tar.gz")) for path in archives] == [True, True]
    run_checked(sys.executable, "-m", "twine", "check", "--strict", *archives)
    run_checked(sys.executable, "-m", "check_wheel_contents", wheel)


def test_wheel__works_alone(python, tmp_path):
    """Of the sources nothing is in reach: the program is run elsewhere, from a copy."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.read_text())
    run_checked(python, program, cwd=tmp_path)
    version = run_checked(python, "-m", "neardup", "--version", cwd=tmp_path)
    assert version == f"neardup, version {neardup.__version__}\n"


def test_types__mypy(python, tmp_path):
    options = ["--strict", "--python-executable", python, "--cache-dir", tmp_path / "cache"]
    run_checked(sys.executable, "-m", "mypy", *options, PROGRAM, cwd=tmp_path)


def test_types__pyright(python, tmp_path):
    """In its standard mode: the strict one minds that Arrow's own tables have no types."""
    settings = {"include": [str(PROGRAM)], "typeCheckingMode": "standard"}
    project = tmp_path / "pyrightconfig.json"
    project.write_text(json.dumps(settings))
    run_checked(
        sys.executable, "-m", "pyright", "--project", project, "--pythonpath", python, cwd=tmp_path
    )
