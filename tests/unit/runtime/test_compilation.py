"""Kernels compiled ahead: which, in which processes, and what is reported of it."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys

import numba
import pytest

import neardup
import neardup.kernels
from neardup.cli import run
from neardup.kernels._clock import CLOCK, CompileClock
from neardup.runtime.compilation import kernel_names, missing_kernels
from neardup.runtime.job_kernels import KERNELS_OF
from neardup.runtime.runner import Runner

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

SENTENCE = "the quick brown fox jumps over the lazy dog and then runs far away from an old wolf "
DOCUMENTS = [{"id": str(i), "text": SENTENCE * 3 + f"{i} and {i // 2}"} for i in range(8)]
DOCUMENTS += [{"id": "other", "text": "something else entirely is written down in this one here"}]
OTHERS = [{"id": f"b{row['id']}", "text": row["text"]} for row in DOCUMENTS]


def index_of(folder):
    return neardup.PassageIndex.create(folder / "index", min_tokens=5)


JOBS = {
    "dedup": lambda _: neardup.deduplicate(DOCUMENTS),
    "pairs": lambda _: neardup.find_pairs(DOCUMENTS),
    "choose": lambda folder: neardup.choose(folder / "pairs.parquet", DOCUMENTS),
    "explain": lambda folder: run(["explain", str(folder / "out"), "1", "--quiet"]),
    "index": lambda folder: index_of(folder).add(DOCUMENTS),
    "document index": lambda folder: neardup.DocumentIndex.create(folder / "d").add(DOCUMENTS),
    "document search": lambda folder: neardup.DocumentIndex(folder / "kept").search(DOCUMENTS),
    "search": lambda folder: neardup.PassageIndex(folder / "made").search(DOCUMENTS),
    "align": lambda _: neardup.align(DOCUMENTS, OTHERS, min_tokens=5),
    "cut": lambda _: neardup.cut(DOCUMENTS, exact=True, min_tokens=5),
    "compare": lambda _: neardup.compare(DOCUMENTS[0]["text"], DOCUMENTS[1]["text"]),
    "sketch": lambda _: neardup.sketch(DOCUMENTS),
}

# Four that compile soon, in a cache of their own, by the processes that an argument asks for.
COMPILE = """
import sys
from neardup.runtime.compilation import missing_kernels
from neardup.runtime.runner import Runner
names = ["copies.rebuild_slots", "postings.rebuild_slots", "shingles.copy_sets",
         "weights.fill_weights"]
if sys.argv[2] == "broken":
    sys.executable = sys.argv[3]
seen = []
runner = Runner(int(sys.argv[1]), lambda stage, done, total: seen.append((stage, done, total)))
print(runner.prepare(names), missing_kernels(names), runner.prepare(names))
from neardup.kernels._clock import CLOCK
print(seen == [("compile", done, 4) for done in range(5)], CLOCK.seconds > 0)
print(list(runner.seconds), runner.seconds["compile"] > 0)
"""


def compile_four(cache, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, *map(str, arguments)],
        env={**os.environ, "NEARDUP_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2, 5])
def test_prepare__compiles_what_is_missing(tmp_path, processes):
    """One process compiles by itself; several leave the code for it in the cache."""
    in_process = processes == 1
    assert compile_four(tmp_path, processes, "whole") == [
        "4 [] 0",
        f"True {in_process}",
        "['compile'] True",
    ]


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("executable", ["", "missing", sys.executable + "-no", "/bin/false"])
def test_prepare__where_no_process_can_be_started(tmp_path, executable):
    found = compile_four(tmp_path, 2, "broken", executable)
    assert found == ["4 [] 0", "True True", "['compile'] True"]


@compiled
@pytest.mark.parametrize("job", JOBS)
def test_kernels_of__are_what_the_job_calls(job, tmp_path, monkeypatch):
    """At its defaults, on texts that have near-copies."""
    from neardup.kernels._compile import Kernel

    if job == "search":
        neardup.PassageIndex.create(tmp_path / "made", min_tokens=5).add(DOCUMENTS)
    if job == "document search":
        neardup.DocumentIndex.create(tmp_path / "kept").add(DOCUMENTS)
    if job == "explain":
        neardup.deduplicate(DOCUMENTS).write(tmp_path / "out")
    if job == "choose":
        neardup.find_pairs(DOCUMENTS).write(tmp_path / "pairs.parquet")
    call, called = Kernel.__call__, set()

    def note(kernel, *arguments):
        called.add(kernel.name)
        return call(kernel, *arguments)

    monkeypatch.setattr(Kernel, "__call__", note)
    JOBS[job](tmp_path)
    assert called == set(KERNELS_OF[job])


def test_kernels_of__has_every_job():
    assert set(JOBS) == set(KERNELS_OF)


@compiled
def test_kernel_names__are_all_there_are():
    from neardup.kernels._compile import KERNELS, kernel

    @kernel
    def of_another_module(number: int) -> int:
        return number

    names = kernel_names()
    assert len(set(names)) == len(names)
    modules = [module.name for module in pkgutil.iter_modules(neardup.kernels.__path__)]
    from neardup.kernels._compile import Kernel

    found = {
        f"{module}.{name}"
        for module in modules
        for name, value in vars(importlib.import_module(f"neardup.kernels.{module}")).items()
        if isinstance(value, Kernel) and value.__module__ == f"neardup.kernels.{module}"
    }
    assert set(names) == found
    KERNELS.remove(of_another_module)


def test_missing_kernels__none_without_a_cache(monkeypatch):
    """No other process could leave anything there."""
    monkeypatch.setattr("neardup.kernels._cache.cache_folder", lambda: None)
    assert missing_kernels(["copies.rebuild_slots"]) == []


def test_stage__without_the_seconds_of_compiling(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    runner = Runner(1)
    with runner.stage("read"):
        now[0] += 2.0
        with CLOCK.compiling():
            now[0] += 5.0
            with CLOCK.compiling():
                now[0] += 1.0
    assert runner.seconds == {"compile": 6.0, "read": 2.0}
    assert Runner(1).seconds == {}


def test_clock__announces_each_beginning_once():
    clock, announced = CompileClock(), []
    clock.announce = lambda: announced.append(clock.seconds)
    for _ in range(2):
        with clock.compiling(), clock.compiling():
            pass
    assert len(announced) == 2
