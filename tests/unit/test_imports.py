"""Importing neardup is cheap, and its public names are there."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import neardup
import neardup.cli

# What neardup requires or works with; a job loads those of them that it uses.
LIBRARIES = {
    *("click", "filelock", "fsspec", "jinja2", "msgspec", "numpy", "pandas", "polars", "pyarrow"),
    *(
        "pypdfium2",
        "pyspark",
        "rapidfuzz",
        "rich",
        "resiliparse",
        "fastwarc",
        "duckdb",
        "starlette",
    ),
    *("tokenizers", "trafilatura", "xlsxwriter"),
}
HEAVY = ("numba", "llvmlite", "pyarrow", "numpy", "click", "rich", "fsspec", "pandas", "polars")


def modules_after(code: str) -> set[str]:
    """Give what a fresh interpreter has loaded after running some code."""
    code += "\nimport sys; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.splitlines()[-1].split())


def test_import__loads_nothing_heavy():
    loaded = modules_after("import neardup; dir(neardup); neardup.__version__; neardup.ReadError")
    assert "neardup" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_import__of_the_command_line(arguments):
    """What a user waits for must not load the kernels either."""
    loaded = modules_after(f"from neardup.cli import run; run({arguments})")
    assert loaded.isdisjoint(set(HEAVY) - {"click"})
    assert "neardup.options" not in loaded


def test_import__of_each_command():
    """Help, completion and wrong options need no job: commands import theirs when they run."""
    names = [found.name for found in pkgutil.iter_modules(neardup.cli.__path__, "neardup.cli.")]
    loaded = modules_after(f"import {', '.join(names)}")
    assert "neardup.cli.dedup_command" in loaded
    assert loaded.isdisjoint({"neardup.jobs", *HEAVY} - {"click"})


@pytest.mark.slow
def test_import__of_a_small_job(tmp_path):
    """Ten lines wait for what is loaded longer than for the work."""
    (tmp_path / "ten.jsonl").write_text('{"text": "one and two and three"}\n' * 10)
    arguments = ["dedup", str(tmp_path / "ten.jsonl"), "-o", str(tmp_path / "out"), "--quiet"]
    loaded = modules_after(
        f"from neardup.cli import main\ntry: main({arguments})\n"
        "except SystemExit as end: assert not end.code"
    )
    assert loaded & LIBRARIES == {"click", "filelock", "numpy", "pyarrow"}
    assert loaded.isdisjoint({"pyarrow.csv", "pyarrow.dataset"})
    assert loaded.isdisjoint({"neardup.reports", "neardup.service"})


@pytest.mark.slow
def test_import__loads_what_is_used():
    assert {"numpy", "pyarrow"} <= modules_after("import neardup; neardup.deduplicate")


def test_folders__are_packages():
    folders = {path.parent for path in Path(neardup.__file__).parent.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def test_public_names__are_there():
    for name in neardup.__all__:
        assert getattr(neardup, name).__doc__
    names = [name for name in neardup.__all__ if name != "__version__"]
    assert len(names) == len(set(names)) <= 40
    assert set(neardup.__all__) <= set(dir(neardup))
    assert neardup.__all__ == sorted(neardup.__all__)


def test_public_names__import_by_star():
    names: dict[str, object] = {}
    exec("from neardup import *", names)
    assert names.keys() - {"__builtins__"} == set(neardup.__all__)


def test_public_names__live_where_they_say():
    for name, home in neardup._HOMES.items():
        assert getattr(importlib.import_module(home), name) is getattr(neardup, name)


def test_public_names__errors_are_what_callers_expect():
    builtin = {
        "DeniedError": ValueError,
        "EngineError": RuntimeError,
        "IndexFormatError": ValueError,
        "IndexLockedError": RuntimeError,
        "InvalidInputError": ValueError,
        "InvalidParameterError": ValueError,
        "MissingExtraError": ImportError,
        "OutputExistsError": FileExistsError,
        "ReadError": OSError,
        "ResultLimitError": RuntimeError,
        "ServiceError": RuntimeError,
        "SketchFormatError": ValueError,
        "SketchMismatchError": ValueError,
        "WriteError": OSError,
    }
    assert issubclass(neardup.errors.NeardupHint, UserWarning)
    for name, base in builtin.items():
        assert issubclass(getattr(neardup.errors, name), neardup.NeardupError)
        assert issubclass(getattr(neardup.errors, name), base)


def test_public_names__unknown():
    with pytest.raises(AttributeError, match=r"'neardup' .*'dedup'"):
        neardup.dedup  # noqa: B018


def test_main__as_a_module():
    result = subprocess.run(
        [sys.executable, "-m", "neardup", "--version"], capture_output=True, text=True
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"neardup, version {neardup.__version__}\n"
