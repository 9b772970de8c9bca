"""Compiled kernels are kept on disk, for as long as they are what the sources say."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numba
import pytest

import neardup
from neardup.kernels import _on_call

PACKAGE = Path(neardup.__file__).parent
NATIVE = Path(__file__).parents[3] / "native"

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="nothing is compiled, so nothing is kept"
)

# Says whether its kernels were compiled or loaded, and uses one.
USE_A_KERNEL = """
import numba.core.compiler as compiler
import numpy as np
compiled = []
original = compiler.compile_extra
def compile_extra(*arguments, **options):
    compiled.append(arguments[2].__name__)
    return original(*arguments, **options)
compiler.compile_extra = compile_extra
from neardup.kernels.common import hashing
slots, known = np.full(8, -1, np.int64), np.zeros((4, 2), np.uint64)
digests = np.array([[5, 1], [6, 1], [5, 1]], np.uint64)
numbers = np.empty(3, np.int64)
hashing.number_digests(slots, known, 0, digests, np.ones(3, np.bool_), numbers)
assert numbers.tolist() == [0, 1, 0]
print("compiled" if compiled else "loaded")
"""

ANNOUNCE = """
import logging
logging.basicConfig(format="%(message)s")
from neardup.kernels.common import hashing
from neardup.kernels.join import postings
hashing.rebuild_slots.compile()
postings.rebuild_slots.compile()
"""

FOLDER = "from neardup.kernels._on_call import cache_folder; print(cache_folder())"


def start(code: str, **environment: object) -> subprocess.Popen[str]:
    """Start a fresh interpreter in which kernels are compiled as they are called."""
    variables = {name: str(value) for name, value in {"NEARDUP_JIT": 1, **environment}.items()}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip(), err.strip()


def run(code: str, **environment: object) -> tuple[str, str]:
    return finish(start(code, **environment))


@pytest.fixture
def fresh(monkeypatch) -> Iterator[Callable[[], Path | None]]:
    """Choose the folder anew, under changed circumstances."""

    def choose() -> Path | None:
        _on_call.cache_folder.cache_clear()
        _on_call._kernel_digest.cache_clear()
        return _on_call.cache_folder()

    yield choose
    monkeypatch.undo()
    choose()


def test_cache_folder__named_by_the_user(fresh, monkeypatch, tmp_path):
    monkeypatch.setenv("NEARDUP_CACHE_DIR", str(tmp_path / "a" / "b"))
    folder = fresh()
    assert folder.parent == tmp_path / "a" / "b"
    assert folder.is_dir()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_cache_folder__of_the_desktop(fresh, monkeypatch, tmp_path):
    monkeypatch.delenv("NEARDUP_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert fresh().parent == tmp_path / "xdg" / "neardup"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert fresh().parent == tmp_path / "home" / ".cache" / "neardup"


def test_cache_folder__not_writable(fresh, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NEARDUP_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert fresh() is None


@pytest.mark.parametrize(
    ("what", "target"),
    [
        ("version of neardup", "neardup.kernels._on_call.__version__"),
        ("version of Numba", "numba.__version__"),
        ("version of Python", "sys.version"),
        ("machine", "platform.machine"),
        ("bounds checking", "numba.config.BOUNDSCHECK"),
    ],
)
def test_cache_folder__other_for_another(fresh, monkeypatch, tmp_path, what, target):
    monkeypatch.setenv("NEARDUP_CACHE_DIR", str(tmp_path))
    before = fresh()
    assert fresh() == before
    changed = (lambda: "pdp11") if what == "machine" else "9.9"
    monkeypatch.setattr(target, changed)
    assert fresh() != before


def test_cache_folder__other_for_changed_sources(fresh, monkeypatch, tmp_path):
    monkeypatch.setenv("NEARDUP_CACHE_DIR", str(tmp_path / "cache"))
    before = fresh()
    copy = tmp_path / "kernels"
    shutil.copytree(PACKAGE / "kernels", copy)
    monkeypatch.setattr(_on_call, "_KERNELS", copy)
    assert fresh() == before
    folders = {before}
    for source in sorted(copy.rglob("*.py")):
        source.write_text(source.read_text() + "\n# changed\n")
        folders.add(fresh())
    assert len(folders) == 1 + len(list(copy.rglob("*.py")))


@pytest.mark.slow
def test_compile__helper_in_another_file_has_changed(tmp_path):
    """The case in which Numba's own cache goes on with old machine code."""
    shutil.copytree(PACKAGE, tmp_path / "neardup", ignore=shutil.ignore_patterns("__pycache__"))
    kernels = tmp_path / "neardup" / "kernels"
    (kernels / "helper.py").write_text(
        "from neardup.kernels._compile import inlined\n"
        "@inlined\n"
        "def change(value: int) -> int:\n"
        "    return value + 1\n"
    )
    (kernels / "user.py").write_text(
        "from neardup.kernels._compile import kernel\n"
        "from neardup.kernels.helper import change\n"
        "from neardup.kernels.arrays import Int64s\n"
        "@kernel\n"
        "def use(values: Int64s) -> int:\n"
        "    return change(values[0])\n"
    )
    code = (
        "import numpy as np; from neardup.kernels import user; print(user.use(np.array([5])))\n"
        f"import neardup; assert neardup.__file__.startswith({str(tmp_path)!r})"
    )
    environment = {"NEARDUP_CACHE_DIR": tmp_path / "cache", "PYTHONPATH": tmp_path}
    assert run(code, **environment)[0] == "6"
    assert run(code, **environment)[0] == "6"
    helper = kernels / "helper.py"
    helper.write_text(helper.read_text().replace("+ 1", "+ 20"))
    assert run(code, **environment)[0] == "25"
    assert len(list((tmp_path / "cache").iterdir())) == 2


@pytest.mark.slow
def test_compile__two_processes_at_once(tmp_path):
    processes = [start(USE_A_KERNEL, NEARDUP_CACHE_DIR=tmp_path) for _ in range(2)]
    assert {err for _, err in map(finish, processes)} == {""}
    assert run(USE_A_KERNEL, NEARDUP_CACHE_DIR=tmp_path) == ("loaded", "")


@pytest.mark.slow
def test_compile__without_a_cache(tmp_path):
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "cache"
    assert run(USE_A_KERNEL, NEARDUP_CACHE_DIR=folder) == ("compiled", "")
    assert run(FOLDER, NEARDUP_CACHE_DIR=folder) == ("None", "")


@pytest.mark.slow
def test_announcement__where_kernels_are_compiled(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "neardup", ignore=shutil.ignore_patterns("_native.*[!i]"))
    asked_by_nobody = {"NEARDUP_JIT": 0, "NUMBA_BOUNDSCHECK": 0}
    environment = {"NEARDUP_CACHE_DIR": tmp_path, "PYTHONPATH": tmp_path, **asked_by_nobody}
    _, err = run(ANNOUNCE, **environment)
    assert re.fullmatch("kernels .*has none .*", err)
    assert run(ANNOUNCE, **environment) == ("", "")


def test_module__is_kept_for_its_sources(tmp_path, monkeypatch):
    """The build hook compiles anew for other sources, in whichever folder, and other levels."""
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = dict  # any base that takes parameters
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    monkeypatch.syspath_prepend(NATIVE)
    hook = importlib.import_module("hook")
    before = hook.kept_module()
    copy = tmp_path / "kernels"
    shutil.copytree(hook.ahead.KERNELS, copy, ignore=shutil.ignore_patterns("_native*", "__py*"))
    monkeypatch.setattr(hook.ahead, "KERNELS", copy)
    kept = {before}
    sources = list(copy.rglob("*.py"))
    for source in sources:
        source.write_text(source.read_text() + "\n# changed\n")
        kept.add(hook.kept_module())
    monkeypatch.setattr(hook.ahead, "levels", lambda: ("another",))
    kept.add(hook.kept_module())
    assert len(kept) == 2 + len(sources)
