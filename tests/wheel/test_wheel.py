"""The built wheel holds the package and nothing else, works alone, and has types for its users."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile

import pytest

import neardup
from tests.wheel.conftest import ROOT, run_checked

MACHINE_CODE = f"neardup/kernels/_native.{'pyd' if os.name == 'nt' else 'abi3.so'}"
PROGRAM = ROOT / "tests/wheel/user_program.py"

pytestmark = pytest.mark.wheel


def test_wheel__holds_the_package_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    expected = {
        str(path.relative_to(source).as_posix())
        for path in (source / "neardup").rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd")
    }
    # Made by the build, and beside the sources only of an editable installation.
    expected.add(MACHINE_CODE)
    beside = {name for name in names if ".dist-info/" in name}
    assert names - beside == expected
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


def test_wheel__is_for_every_python_and_needs_no_numba(wheel, python):
    assert re.fullmatch(r"neardup-[^-]+-cp311-abi3-\w+\.whl", wheel.name)
    run_checked(python, "-m", "pip", "check")
    installed = json.loads(run_checked(python, "-m", "pip", "list", "--format", "json"))
    assert not {each["name"] for each in installed} & {"numba", "llvmlite"}


def test_wheel__holds_no_path_of_the_machine_that_built_it(wheel):
    code = zipfile.ZipFile(wheel).read(MACHINE_CODE)
    for place in (ROOT, sys.prefix, sys.base_prefix, "/tmp/", "site-packages"):
        assert str(place).encode() not in code


def test_machine_code__is_the_same_each_time(tmp_path):
    """Whatever the order of Python's sets is, and in whatever order a process compiles files."""
    made = []
    files = ["common.ordering", "common.hashing", "common.bits", "passage.chains"]
    for seed, named in (("1", files), ("2", files[::-1])):
        folder = tmp_path / seed
        folder.mkdir()
        command = [sys.executable, ROOT / "native/ahead.py", "--worker", folder, "x86-64-v3"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(
            command,
            input="\n".join(named),
            text=True,
            env=environment,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        made.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert len(made[0]) > 5
    assert made[0] == made[1]


def test_wheel__writes_nothing_but_its_output(python, tmp_path):
    """Of a home that cannot be written, without a cache: all that compiles would fail."""
    texts, home = tmp_path / "texts.jsonl", tmp_path / "home"
    text = "the cat sat on the mat today and then it went away again"
    texts.write_text("".join(json.dumps({"text": f"{text} {i // 2}"}) + "\n" for i in range(40)))
    home.mkdir(mode=0o555)
    variables = ("NEARDUP_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH", "NEARDUP_JIT")
    environment = {name: value for name, value in os.environ.items() if name not in variables}
    environment |= {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    installed = sorted((python.parents[1] / "lib").rglob("*"))
    for arguments in (
        ["dedup", texts, "-o", "clean"],
        ["pairs", texts, "-o", "pairs.jsonl"],
        ["index", "build", "index", texts, "--min-tokens", "5"],
        ["search", "index", texts, "-o", "found.jsonl"],
        ["align", texts, texts, "-o", "shared.jsonl", "--min-tokens", "5"],
        ["cut", texts, "-o", "cut", "--min-tokens", "5"],
    ):
        command = [python, "-m", "neardup", *arguments]
        outcome = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert outcome.returncode == 0, outcome.stderr
        assert "compiled" not in outcome.stderr
    assert sorted((python.parents[1] / "lib").rglob("*")) == installed
    assert not list(home.iterdir())


def test_program__uses_every_public_name():
    text = PROGRAM.read_text()
    assert not [name for name in neardup.__all__ if f"neardup.{name}" not in text]


def test_types__mypy(python, tmp_path):
    options = ["--strict", "--python-executable", python, "--cache-dir", tmp_path / "cache"]
    run_checked(sys.executable, "-m", "mypy", *options, PROGRAM, cwd=tmp_path)


def test_types__pyright(python, tmp_path):
    """In its strict mode, which minds only that Arrow's own tables have no types."""
    (tmp_path / PROGRAM.name).write_text(PROGRAM.read_text())
    settings = {"include": [PROGRAM.name], "typeCheckingMode": "strict"}
    project = tmp_path / "pyrightconfig.json"
    project.write_text(json.dumps(settings))
    run_checked(
        sys.executable, "-m", "pyright", "--project", project, "--pythonpath", python, cwd=tmp_path
    )
