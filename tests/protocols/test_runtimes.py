"""Every job of the table in every runtime: in memory, in files, stopped and run again.

``tests/spark/test_runtimes.py`` has those on Spark.
"""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

import neardup.cli
from neardup.runs.work import WorkFolder
from tests.runtimes import JOBS, Job, answer_in, write_collections
from tests.spilling import spilling, stopped_after
from tests.started import end, start

# With so little, each job writes files, and takes turns, passes or blocks.
_MEMORY = 5_000

# 100 of each of the jobs take a quarter of an hour of two cores.
_N_KILLS = int(os.environ.get("NEARDUP_TEST_KILLS", "1"))
# Beyond so many calls that concern files many of these runs have ended.
_CALLS = 120
_QUICK = {"dedup", "pairs, two", "cut, lines"}
_NEEDS_SIGNALS = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")


@pytest.fixture(scope="module")
def collections(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collections")
    write_collections(folder)
    return folder


@pytest.fixture
def run(collections, monkeypatch, capsys):
    monkeypatch.chdir(collections)

    def run_job(job: Job, output: Path, *more: str) -> int:
        output.mkdir(exist_ok=True)
        return neardup.cli.run([*job.arguments(output), *more])

    return run_job


def left_over(*folders):
    return [path for folder in folders for path in folder.rglob("*neardup*")]


@pytest.mark.parametrize(
    "name",
    [name if name in _QUICK else pytest.param(name, marks=pytest.mark.slow) for name in JOBS],
)
def test_same_bytes(run, collections, tmp_path, monkeypatch, capsys, name):
    job = JOBS[name]
    assert run(job, tmp_path / "memory", "--workers", "1") == 0
    expected = answer_in(tmp_path / "memory")
    assert sum(map(len, expected.values())) > 200

    tasks: list[str] = []
    finish = WorkFolder._finish
    with monkeypatch.context() as patch, spilling(_MEMORY):
        patch.setattr(WorkFolder, "_finish", lambda *each: tasks.append(each[1]) or finish(*each))
        assert run(job, tmp_path / "files", "--workers", "2") == 0
    assert answer_in(tmp_path / "files") == expected
    # It was not all in memory, then.
    assert bool(tasks) == job.writes_files

    for number, n_done in enumerate({1, (len(tasks) + 1) // 2} if tasks else ()):
        output = tmp_path / f"stopped-{number}"
        with spilling(_MEMORY), stopped_after(n_done):
            assert run(job, output, "--workers", "1") == 130
        assert answer_in_place(output, job) == []
        capsys.readouterr()
        with spilling(2 * _MEMORY):
            assert run(job, output, "--workers", "2") == 0
        goes_on = "continuing" in capsys.readouterr().err
        assert goes_on == job.keeps_tasks
        assert answer_in(output) == expected
    assert left_over(tmp_path, collections) == []


def answer_in_place(output: Path, job: Job) -> list[str]:
    """Return what stands where the answer will be."""
    return [path.name for path in output.iterdir() if path.name == job.output]


@pytest.mark.kills
@_NEEDS_SIGNALS
@pytest.mark.parametrize(
    "name",
    [*("dedup", "dedup, components", "dedup, against"), *("pairs, two", "pairs, columns")],
)
def test_killed(run, collections, tmp_path, capsys, name):
    """The same command gives the same bytes afterwards, and nothing is left over."""
    job, draw = JOBS[name], random.Random(f"{name} {_N_KILLS}")
    assert run(job, tmp_path / "expected") == 0
    expected = answer_in(tmp_path / "expected")
    for number in range(_N_KILLS):
        temporary = tmp_path / f"tmp-{number}"
        temporary.mkdir()
        for attempt in range(9):
            output = tmp_path / f"{number}-{attempt}"
            output.mkdir()
            most = max(2, _CALLS >> attempt)
            at = {"kill_at": draw.randrange(1, most), "kill_in": draw.choice(["neardup", "out"])}
            killed = start(
                {"memory": _MEMORY} | at,
                *job.arguments(output),
                folder=collections,
                TMPDIR=str(temporary),
            )
            code, _, said = end(killed)
            assert code in {0, -signal.SIGKILL}, said
            if code:
                break
        assert code == -signal.SIGKILL
        with spilling(_MEMORY):
            assert run(job, output, "--overwrite") == 0
        assert answer_in(output) == expected, at
        assert left_over(output, collections) == [], at
    capsys.readouterr()


@pytest.mark.kills
@_NEEDS_SIGNALS
@pytest.mark.parametrize("largest", [300, 1000, 3000])
@pytest.mark.parametrize("name", ["dedup, components", "pairs, edits", "pairs, top"])
def test_disk_full__one_line_and_goes_on(run, collections, tmp_path, name, largest):
    """Files may not grow beyond a size: what fits there is done, and then comes the error."""
    job, output = JOBS[name], tmp_path / "full"
    assert run(job, tmp_path / "expected") == 0
    output.mkdir()
    settings = {"memory": _MEMORY, "largest_file": largest}
    code, out, said = end(start(settings, *job.arguments(output), folder=collections))
    assert (code, out) == (1, "")
    (line,) = said.splitlines()
    assert line.startswith(f"error: cannot write {output}")
    assert "File too large" in line
    kept = left_over(output)
    assert bool(kept) == ("finished work" in line)
    assert not [path for path in output.rglob("*") if path.name.endswith(".part")]
    assert answer_in_place(output, job) == []
    with spilling(2 * _MEMORY):
        assert run(job, output) == 0
    assert answer_in(output) == answer_in(tmp_path / "expected")
    assert left_over(output, collections) == []
