"""The door to kernels compiled ahead: what it takes and refuses, and where there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import neardup
from neardup.kernels import _compile
from neardup.kernels.bucket import components
from neardup.kernels.common import hashing
from neardup.version import pip_install
from tests.each import each_of

PACKAGE = Path(neardup.__file__).parent

pytestmark = pytest.mark.skipif(
    _compile.COMPILED_AHEAD is None, reason="kernels are compiled as they are called here"
)

SAY = (
    "from neardup.kernels.sketch.minhash_kernels import kernel; print(kernel.__globals__['LEVEL'])"
)


def run(code: str, **environment: object) -> subprocess.CompletedProcess[str]:
    variables = {name: str(value) for name, value in environment.items()}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "NEARDUP_JIT": "0", **variables},
    )


def test_kernel__counts_its_arguments():
    with pytest.raises(TypeError, match=r"bucket\.components\.find_roots: 0 arguments"):
        components.find_roots()


@each_of(
    "parents",
    [
        np.arange(4, dtype=np.int32),
        np.arange(4, dtype=np.uint64),
        np.arange(4, dtype=np.float64),
        np.arange(4, dtype=">i8"),
        np.arange(8, dtype=np.int64)[::2],
        np.arange(4, dtype=np.int64).reshape(2, 2),
        [0, 1, 2, 3],
        None,
    ],
)
def test_kernel__refuses_other_arrays(parents):
    with pytest.raises(TypeError, match=r"find_roots: argument 0 .*contiguous"):
        components.find_roots(parents)


def test_kernel__refuses_to_write_to_what_is_read_only():
    parents = np.arange(4, dtype=np.int64)
    parents.flags.writeable = False
    with pytest.raises(TypeError, match="writable"):
        components.find_roots(parents)


def number(places):
    """Number two digests, the first from ``places`` on."""
    slots, known = np.full(8, -1, np.int64), np.zeros((4, 2), np.uint64)
    digests, numbers = np.array([[5, 1], [6, 1]], np.uint64), np.empty(2, np.int64)
    hashing.number_digests(slots, known, places, digests, np.ones(2, np.bool_), numbers)
    return numbers.tolist()


@each_of("kind", [int, np.int64, np.uint64, np.int8])
def test_kernel__takes_any_whole_number(kind):
    assert number(kind(1)) == [1, 2]


@each_of("value", [1.0, "1", None, np.float32(2)])
def test_kernel__takes_nothing_else_for_a_whole_number(value):
    with pytest.raises(TypeError, match=r"number_digests: argument 2 .*whole number"):
        number(value)


def test_kernel__lets_go_of_the_lock():
    """While it runs this thread does; the interpreter itself never makes one give way here."""
    before = sys.getswitchinterval()
    counts, is_done = [0], threading.Event()

    def work():
        parents = np.zeros(1 << 24, np.int64)
        counts.append(counts[0])
        components.find_roots(parents)
        counts.append(counts[0])
        is_done.set()

    sys.setswitchinterval(100)
    try:
        worker = threading.Thread(target=work)
        worker.start()
        while not is_done.is_set():
            counts[0] += 1
            time.sleep(0)
        worker.join()
    finally:
        sys.setswitchinterval(before)
    assert counts[2] > counts[1]


def test_level__the_best_first():
    from neardup.kernels import _native

    assert _compile.LEVEL in _native.LEVELS
    assert _native.kernels(_native.LEVELS[-1]).keys() == _compile.COMPILED_AHEAD.keys()
    with pytest.raises(ValueError, match=r"processor .*x86-64-v9"):
        _native.kernels("x86-64-v9")


def copy_of_the_package(folder: Path) -> Path:
    shutil.copytree(PACKAGE, folder / "neardup", ignore=shutil.ignore_patterns("__pycache__"))
    [module] = (folder / "neardup/kernels").glob("_native.*[!i]")
    return module


WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None; "


def test_module__is_missing_and_numba_too(tmp_path):
    copy_of_the_package(tmp_path).unlink()
    outcome = run(WITHOUT_NUMBA + SAY, PYTHONPATH=tmp_path)
    assert outcome.returncode == 1
    facts = f"ImportError: kernels .*has none .*: {re.escape(pip_install('jit'))}"
    assert re.fullmatch(facts, outcome.stderr.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "facts"),
    [
        ({"NEARDUP_JIT": 1}, "error: kernels .*Numba"),
        ({"NEARDUP_LEVEL": "x"}, "error: NEARDUP_LEVEL: .*processor"),
    ],
)
def test_command__says_in_a_line_that_there_are_no_kernels(tmp_path, environment, facts):
    (tmp_path / "in.jsonl").write_text('{"text": "a b c"}\n')
    code = (
        f"from neardup.cli import main; main(['dedup', {str(tmp_path / 'in.jsonl')!r}, '-o', 'o'])"
    )
    outcome = run(WITHOUT_NUMBA + code, **environment)
    assert (outcome.returncode, outcome.stdout) == (1, "")
    assert re.match(facts, outcome.stderr)
    assert outcome.stderr.count("\n") == 1


@pytest.mark.slow
def test_module__is_damaged(tmp_path):
    copy_of_the_package(tmp_path).write_bytes(b"")
    outcome = run(WITHOUT_NUMBA + SAY, PYTHONPATH=tmp_path)
    assert outcome.returncode == 1
    assert "cannot be loaded (" in outcome.stderr.splitlines()[-1]
    outcome = run(SAY, PYTHONPATH=tmp_path)
    assert (outcome.returncode, outcome.stdout) == (0, "on call\n")


def test_module__for_a_newer_processor():
    fake = "import types; sys.modules['neardup.kernels._native'] = types.SimpleNamespace(LEVELS=[]"
    fake += f", DIGEST={_compile.source_digest(PACKAGE / 'kernels')!r}); "
    outcome = run(WITHOUT_NUMBA + fake + SAY)
    assert outcome.returncode == 1
    assert "newer processor;" in outcome.stderr


@pytest.mark.slow
def test_module__of_other_sources(tmp_path):
    copy_of_the_package(tmp_path / "src")
    (tmp_path / "pyproject.toml").touch()
    assert run(SAY, PYTHONPATH=tmp_path / "src").stdout == f"{_compile.LEVEL}\n"
    changed = tmp_path / "src/neardup/kernels/sketch/minhash_kernels.py"
    changed.write_text(changed.read_text() + "\n# changed\n")
    assert run(SAY, PYTHONPATH=tmp_path / "src").stdout == "on call\n"
